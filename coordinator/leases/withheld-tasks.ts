import { decodeTaskSet, encodeTaskSet } from '../../proto/index.js'
import type { Task } from '../../rollout/episode/index.js'
import type { RunState } from '../ledger/run-state.js'

/** With more than this share of the available tasks inactive, the curriculum is ignored: a run must not run out of tasks. */
const MOST_INACTIVE = 7 / 8

type Withholding = Pick<RunState, 'quarantinedEnvironments' | 'orders'>

/** Whether a task is withheld: its environment is quarantined or disabled, or the operator has dropped the task. */
export const isWithheld = (
  { environments }: Pick<Task, 'environments'>,
  index: number,
  { quarantinedEnvironments, orders }: Withholding,
): boolean =>
  orders.droppedTasks.has(index) ||
  environments.some(
    ({ environment }) => quarantinedEnvironments.has(environment) || orders.disabledEnvironments.has(environment),
  )

/** Returns the encoded set of tasks that a round of `version` skips, as the manifest of the round states it. */
export function tasksToSkip(state: RunState, tasks: readonly Task[], version: number): string {
  const isAvailable = tasks.map((task, i) => !isWithheld(task, i, state))
  const inactive = tasks.filter((_, i) => isAvailable[i] && state.curriculum.skips(i, version)).length
  const usesCurriculum = inactive <= MOST_INACTIVE * isAvailable.filter(Boolean).length
  return encodeTaskSet(tasks.length, (i) => !isAvailable[i] || (usesCurriculum && state.curriculum.skips(i, version)))
}

/** Whether the round in force skips the wrong tasks: one was withheld since, or an environment was enabled again. */
export function hasOutdatedTasks(state: RunState, tasks: readonly Task[]): boolean {
  const { quarantinedEnvironments, orders, round, enabledSinceRound } = state
  if (!round) return false
  if (enabledSinceRound) return true
  if (quarantinedEnvironments.size + orders.droppedTasks.size + orders.disabledEnvironments.size === 0) return false
  const isSkipped = decodeTaskSet(round.skippedTasks)
  return tasks.some((task, i) => isWithheld(task, i, state) && !isSkipped(i))
}
