import { type ControlClient, ControlError, reachControl } from '../../common/control/index.js'

/** For an answer of a node on this machine; a change of limits starts its engine anew. */
const TIMEOUT_MS = 240_000

/** The node that runs on a data folder; null: none does. @throws ControlError */
export const findNode = (dataDir: string): Promise<ControlClient | null> =>
  reachControl(dataDir, AbortSignal.timeout(TIMEOUT_MS))

/** @throws ControlError `unreachable` when none runs there */
export async function reachNode(dataDir: string): Promise<ControlClient> {
  const node = await findNode(dataDir)
  if (node === null) throw new ControlError('unreachable', `no node is running on ${dataDir}: is this its --data-dir?`)
  return node
}
