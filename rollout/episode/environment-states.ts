import { createHash } from 'node:crypto'
import type { SeedStateCache, Session } from '../../servers/kernel/index.js'
import type { StateDigests } from '../reward/index.js'
import { EpisodeError } from './errors.js'
import type { Task } from './task.js'
import type { Catalogue } from './toolset.js'

/** State hashes of a task's worlds, by name: before anything happens, and when the ground truth was carried out. */
export interface EnvironmentStates {
  readonly initial: ReadonlyMap<string, string>
  readonly expected: ReadonlyMap<string, string>
}

/** Opens a fresh session of every world of a task. @throws EpisodeError `bad_task` for an unknown or repeated world */
export function openSessions(task: Task, catalogue: Catalogue, seedStates: SeedStateCache): Map<string, Session> {
  const sessions = new Map<string, Session>()
  for (const { environment, seed } of task.environments) {
    const definition = catalogue.get(environment)
    if (!definition || sessions.has(environment))
      throw new EpisodeError('bad_task', `unknown or repeated server ${environment}`)
    sessions.set(environment, seedStates.open(definition, seed))
  }
  return sessions
}

export const hashesOf = (sessions: ReadonlyMap<string, Session>): Map<string, string> =>
  new Map([...sessions].map(([environment, session]) => [environment, session.stateHash()]))

/** SHA-256 (hex) over the states of all worlds of a rollout, in the order of its task: what a rollout is recorded with. */
export const statesHash = (states: ReadonlyMap<string, string>): string =>
  createHash('sha256')
    .update(JSON.stringify([...states]))
    .digest('hex')

/**
 * Makes the ground truth's calls in fresh sessions.
 * @throws EpisodeError `bad_task` when one of them fails: nobody could then reach what the task expects
 */
export function statesAtEnd(task: Task, catalogue: Catalogue, seedStates: SeedStateCache): EnvironmentStates {
  const sessions = openSessions(task, catalogue, seedStates)
  const initial = hashesOf(sessions)
  for (const [i, { name, arguments: args }] of task.groundTruth.entries()) {
    const environment = task.toolset.find(({ tool }) => tool === name)?.environment
    const result = environment === undefined ? undefined : sessions.get(environment)?.call(name, args)
    if (result === undefined) throw new EpisodeError('bad_task', `ground-truth call ${i}: ${name} is not offered`)
    if (!result.ok)
      throw new EpisodeError('bad_task', `ground-truth call ${i}: ${name}: ${result.message}`.slice(0, 400))
  }
  return { initial, expected: hashesOf(sessions) }
}

/** Digests for the reward. @param actual  the hashes of the task's worlds when the rollout is over */
export function digestsOf(
  { initial, expected }: EnvironmentStates,
  actual: ReadonlyMap<string, string>,
): StateDigests[] {
  return [...actual].map(([environment, hash]) => ({
    initial: initial.get(environment)!,
    expected: expected.get(environment)!,
    actual: hash,
  }))
}
