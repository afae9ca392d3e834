import { join } from 'node:path'
import { stopSignal } from '../../common/cli/index.js'
import type { JoinAddress } from '../../swarm/index.js'
import { type AdapterLibrary, openAdapterLibrary } from '../adapters/library.js'
import { NodeError } from '../report/errors.js'
import { type ChosenRun, remember, runOf } from './chosen-run.js'

/** Options of the commands that ask for published versions. */
export interface AskOptions {
  readonly dataDir: string
  readonly from: readonly (JoinAddress | string)[]
  readonly json?: boolean
  readonly policyVersion?: number
}

/** Opens the published versions of a run for the duration of `use`. @throws UsageError; NodeError `bad_source`; TransportError */
export const withLibrary = async (
  chosen: ChosenRun,
  { dataDir, from }: AskOptions,
  use: (library: AdapterLibrary, signal: AbortSignal, run: string) => Promise<void>,
): Promise<void> => {
  const others = from.filter((source) => typeof source !== 'string')
  const [web = null, ...further] = from.filter((source) => typeof source === 'string')
  if (web !== null && others.length + further.length > 0)
    throw new NodeError('bad_source', 'a URL is the only source: give one --from')
  const run = await runOf(chosen, dataDir)
  const { coordinator } = run
  const { signal } = stopSignal()
  const library = await openAdapterLibrary({ coordinator, others, web }, join(dataDir, 'adapters'), signal)
  try {
    await use(library, signal, coordinator.peerId)
    await remember(dataDir, run)
  } finally {
    await library.close()
  }
}
