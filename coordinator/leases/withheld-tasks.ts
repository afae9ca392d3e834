import type { Task } from '../../rollout/episode/index.js'
import { decodeTaskSet, encodeTaskSet } from '../ledger/curriculum.js'
import type { RunState } from '../ledger/run-state.js'

/** With more than this of the tasks that are given at rest, the curriculum is set aside: a run must not run out of tasks. */
const MOST_AT_REST = 7 / 8

type Withholding = Pick<RunState, 'quarantinedEnvironments' | 'orders'>

/** Whether nobody shall work on a task: its world is out of order or at rest, or the operator has dropped it. */
export const isWithheld = (
  { environments }: Pick<Task, 'environments'>,
  index: number,
  { quarantinedEnvironments, orders }: Withholding,
): boolean =>
  orders.droppedTasks.has(index) ||
  environments.some(
    ({ environment }) => quarantinedEnvironments.has(environment) || orders.disabledEnvironments.has(environment),
  )

/** The tasks that a round of `version` gives no leases for, as its manifest states them. */
export function restingTasks(state: RunState, tasks: readonly Task[], version: number): string {
  const given = tasks.map((task, i) => !isWithheld(task, i, state))
  const atRest = tasks.filter((_, i) => given[i] && state.curriculum.rests(i, version)).length
  const restful = atRest <= MOST_AT_REST * given.filter(Boolean).length
  return encodeTaskSet(tasks.length, (i) => !given[i] || (restful && state.curriculum.rests(i, version)))
}

/** Whether the round in force names other tasks than it should: some that are withheld since, or not those of a world that was woken. */
export function namesOthers(state: RunState, tasks: readonly Task[]): boolean {
  const { quarantinedEnvironments, orders, round, wokenSinceRound } = state
  if (!round) return false
  if (wokenSinceRound) return true
  if (quarantinedEnvironments.size + orders.droppedTasks.size + orders.disabledEnvironments.size === 0) return false
  const rests = decodeTaskSet(round.resting)
  return tasks.some((task, i) => isWithheld(task, i, state) && !rests(i))
}
