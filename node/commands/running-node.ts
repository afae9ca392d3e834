import { type ControlClient, ControlError, reachControl } from '../../common/control/index.js'

/** Time limit for an answer of a node on this machine: a change of limits may restart its engine. */
const TIMEOUT_MS = 240_000

/** Connects to the node that runs on a data folder; null: no node is running. @throws ControlError */
export const findNode = (dataDir: string): Promise<ControlClient | null> =>
  reachControl(dataDir, AbortSignal.timeout(TIMEOUT_MS))

/** Connects to the node that runs on a data folder. @throws ControlError `unreachable` without one */
export async function reachNode(dataDir: string): Promise<ControlClient> {
  const node = await findNode(dataDir)
  if (node === null)
    throw new ControlError('unreachable', `no node is running on ${dataDir}: give the --data-dir of the node`)
  return node
}
