import type { Task } from '../../episode/index.js'
import { decodeTaskSet, encodeTaskSet } from '../ledger/curriculum.js'
import type { RunState } from '../ledger/run-state.js'

/** With more of the tasks at rest than this, the curriculum is set aside: a run must not run out of tasks. */
const MOST_AT_REST = 7 / 8

const isOut = ({ worlds }: Task, { quarantinedWorlds }: RunState): boolean =>
  worlds.some(({ server }) => quarantinedWorlds.has(server))

/** The tasks that a round of `version` gives no leases for, as its manifest states them. */
export function restingTasks(state: RunState, tasks: readonly Task[], version: number): string {
  const atRest = tasks.filter((_, i) => state.curriculum.rests(i, version)).length
  const restful = atRest <= MOST_AT_REST * tasks.length
  return encodeTaskSet(tasks.length, (i) => isOut(tasks[i]!, state) || (restful && state.curriculum.rests(i, version)))
}

/** Whether the round in force still gives leases for tasks of a world that was quarantined since. */
export function givesQuarantined(state: RunState, tasks: readonly Task[]): boolean {
  if (state.quarantinedWorlds.size === 0 || !state.round) return false
  const rests = decodeTaskSet(state.round.resting)
  return tasks.some((task, i) => isOut(task, state) && !rests(i))
}
