import { createHash } from 'node:crypto'
import { responseText, type SeedStateCache, type Session } from '../../servers/kernel/index.js'
import type { StateDigests } from '../reward/index.js'
import { EpisodeError } from './errors.js'
import type { Task } from './task.js'
import type { Catalogue } from './toolset.js'

/** State hashes of a task's environments by name, at the start and after the ground truth, and what its calls return. */
export interface EnvironmentStates {
  readonly initial: ReadonlyMap<string, string>
  readonly expected: ReadonlyMap<string, string>
  /** Results of the ground truth's calls: JSON. */
  readonly results: readonly string[]
}

/** Opens a fresh session of every environment of a task. @throws EpisodeError `bad_task` for an unknown or repeated environment */
export function openSessions(task: Task, catalogue: Catalogue, seedStates: SeedStateCache): Map<string, Session> {
  const sessions = new Map<string, Session>()
  for (const { environment, seed } of task.environments) {
    const definition = catalogue.get(environment)
    if (!definition || sessions.has(environment))
      throw new EpisodeError('bad_task', `unknown or repeated environment ${environment}`)
    sessions.set(environment, seedStates.open(definition, seed))
  }
  return sessions
}

/** Returns the state hashes of sessions by environment. */
export const hashesOf = (sessions: ReadonlyMap<string, Session>): Map<string, string> =>
  new Map([...sessions].map(([environment, session]) => [environment, session.stateHash()]))

/** Returns the SHA-256 (hex) over the state hashes of a rollout's environments, in the order of its task. Recorded rollouts contain it. */
export const statesHash = (states: ReadonlyMap<string, string>): string =>
  createHash('sha256')
    .update(JSON.stringify([...states]))
    .digest('hex')

/**
 * Makes the ground truth's calls in fresh sessions, and returns the states before and after.
 * @throws EpisodeError `bad_task` if one of them fails: the expected state would be unreachable
 */
export function statesAtEnd(task: Task, catalogue: Catalogue, seedStates: SeedStateCache): EnvironmentStates {
  const sessions = openSessions(task, catalogue, seedStates)
  const initial = hashesOf(sessions)
  const results: string[] = []
  for (const [i, { name, arguments: args }] of task.groundTruth.entries()) {
    const environment = task.toolset.find(({ tool }) => tool === name)?.environment
    const result = environment === undefined ? undefined : sessions.get(environment)?.call(name, args)
    if (result === undefined) throw new EpisodeError('bad_task', `ground-truth call ${i}: ${name} is not offered`)
    if (!result.ok)
      throw new EpisodeError('bad_task', `ground-truth call ${i}: ${name}: ${result.message}`.slice(0, 400))
    results.push(responseText(result))
  }
  return { initial, expected: hashesOf(sessions), results }
}

/** Returns the digests for the reward. @param actual  the hashes of the task's environments at the end of the rollout */
export function digestsOf(
  { initial, expected }: Pick<EnvironmentStates, 'initial' | 'expected'>,
  actual: ReadonlyMap<string, string>,
): StateDigests[] {
  return [...actual].map(([environment, hash]) => ({
    initial: initial.get(environment)!,
    expected: expected.get(environment)!,
    actual: hash,
  }))
}
