import { constants, getPriority, setPriority } from 'node:os'
import { DEFAULTS, type LimitSettings } from './settings.js'

const { PRIORITY_NORMAL, PRIORITY_BELOW_NORMAL, PRIORITY_LOW } = constants.priority
const PRIORITIES = { normal: PRIORITY_NORMAL, low: PRIORITY_BELOW_NORMAL, lowest: PRIORITY_LOW }

const priorityOf = ({ priority = DEFAULTS.priority }: LimitSettings): number => PRIORITIES[priority]

/** Lowers the priority of this process. The engine's process and threads, started later, inherit it. */
export function lowerPriority(limits: LimitSettings): void {
  if (getPriority() < priorityOf(limits)) setPriority(priorityOf(limits))
}

/** Sets the priority of this process. @returns a notice if the system refuses that until the next start */
export function changePriority(limits: LimitSettings): string | null {
  try {
    setPriority(priorityOf(limits))
    return null
  } catch {
    return 'priority: the system does not let a running program raise its priority; the change takes effect at the next start'
  }
}
