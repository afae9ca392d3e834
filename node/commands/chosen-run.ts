import { UsageError } from '../../common/errors/index.js'
import { parseJoinAddress } from '../../swarm/index.js'
import { STATUS } from '../session/routes.js'
import { nodeView } from '../session/view.js'
import { type KnownRun, readKnownRuns, rememberRun } from '../store/known-runs.js'
import { type NamedRun, runArgument } from './arguments.js'
import { findNode } from './running-node.js'

/** The argument of commands for a run that may be known: name and description. */
export const KNOWN_RUN_ARGUMENT = [
  '[run]',
  'an invitation, an address, or the end of the key of a known run; default: the joined run, or the only known one',
] as const

/** Characters of a key that are shown. All keys begin alike. */
const SHOWN_END = 8

/** Parses the argument for a run that may be known. @throws InvalidArgumentError */
export function knownRunArgument(text: string): (dataDir: string) => Promise<NamedRun> {
  const isEndOfKey = /^[1-9A-HJ-NP-Za-km-z]{4,64}$/.test(text)
  if (!isEndOfKey) return runArgument(text)
  return async (dataDir) => namedBy(theOnly(await readKnownRuns(dataDir), dataDir, text))
}

export type ChosenRun = ReturnType<typeof knownRunArgument> | undefined

/** Returns the run that the command line names, or else the joined run, or else the only known one. @throws UsageError */
export async function runOf(chosen: ChosenRun, dataDir: string): Promise<NamedRun> {
  if (chosen !== undefined) return chosen(dataDir)
  const known = await readKnownRuns(dataDir)
  const node = await findNode(dataDir)
  if (node === null) return namedBy(theOnly(known, dataDir))
  const { coordinator: address } = nodeView.parse(await node.get(STATUS))
  const coordinator = parseJoinAddress(address)
  const joined = known.find(({ run }) => run === coordinator.peerId)
  return joined ? namedBy(joined) : { coordinator, invitation: null, text: address }
}

/** Records a run that a command has reached, so that later commands need not name it. */
export async function remember(dataDir: string, { coordinator, invitation, text }: NamedRun): Promise<void> {
  const about = [invitation?.operator ?? '', invitation?.purpose ?? ''].filter((words) => words !== '').join('; ')
  await rememberRun(dataDir, { run: coordinator.peerId, named: text, about, usedAtMs: Date.now() })
}

const namedBy = ({ named }: KnownRun): Promise<NamedRun> => runArgument(named)()

/** @param end  end of the key; empty: any key */
function theOnly(known: readonly KnownRun[], dataDir: string, end = ''): KnownRun {
  const found = known.filter(({ run }) => run.endsWith(end))
  const [only] = found
  if (only && found.length === 1) return only
  const choices = (found.length === 0 ? known : found).map(
    ({ run, about }) => `\n  …${run.slice(-SHOWN_END)}${about === '' ? '' : `  ${about}`}`,
  )
  const advice = choices.length === 0 ? 'name it by its invitation' : `choose by the end of the key:${choices.join('')}`
  if (found.length > 1) throw new UsageError('several_runs', `${dataDir} knows ${found.length} runs: ${advice}`)
  const what = end === '' ? 'no run' : `no run whose key ends with ${end}`
  throw new UsageError('no_run', `${dataDir} knows ${what}: ${advice}`)
}
