import type { EventOf, RunEvent } from '../ledger/events.js'
import type { RunState } from '../ledger/run-state.js'

/** Leases and groups of a task. */
export interface TaskCoverage {
  readonly taskIndex: number
  readonly leases: number
  readonly accepted: number
  /** Zero-variance groups among the accepted ones. */
  readonly zeroVariance: number
  readonly refused: number
  /** Mean over the rollouts of accepted groups; null: none yet. */
  readonly reward: number | null
  /** Share of the replayed rollouts; null: none yet. */
  readonly solved: number | null
}

/** Leases and groups of an environment: sums over its tasks. A task counts for each of its environments. */
export interface EnvironmentCoverage extends Omit<TaskCoverage, 'taskIndex'> {
  readonly environment: string
  readonly tasks: number
  /** Number of its tasks with an accepted group. */
  readonly tasksCovered: number
}

interface Counts {
  leases: number
  accepted: number
  zeroVariance: number
  refused: number
  rollouts: number
  reward: number
  replayed: number
  solved: number
}

const none = (): Counts => ({
  ...{ leases: 0, accepted: 0, zeroVariance: 0, refused: 0 },
  ...{ rollouts: 0, reward: 0, replayed: 0, solved: 0 },
})

/** Counts leases and groups by task from the events of a run, oldest first. Its size depends on the data set alone. */
export class CoverageTally {
  readonly #state: Pick<RunState, 'leases'>
  readonly #tasks = new Map<number, Counts>()

  /** @param state  state to which the caller has applied each event before `add` */
  constructor(state: Pick<RunState, 'leases'>) {
    this.#state = state
  }

  add(event: RunEvent): void {
    if (event.type === 'leased') this.#of(event.taskIndex).leases += 1
    if (event.type === 'judged') this.#judge(event)
  }

  /** Returns the tasks that were leased at least once, in their order. */
  tasks(): TaskCoverage[] {
    return [...this.#tasks].sort(([a], [b]) => a - b).map(([taskIndex, counts]) => ({ taskIndex, ...reportOf(counts) }))
  }

  /** @param environmentsOf  environments of every task of the run, in the order of tasks */
  environments(environmentsOf: readonly (readonly string[])[]): EnvironmentCoverage[] {
    const sums = new Map<string, { counts: Counts; tasks: number; tasksCovered: number }>()
    for (const [taskIndex, environments] of environmentsOf.entries()) {
      const counts = this.#tasks.get(taskIndex)
      for (const environment of new Set(environments)) {
        const sum = sums.get(environment) ?? { counts: none(), tasks: 0, tasksCovered: 0 }
        sum.tasks += 1
        sum.tasksCovered += Number((counts?.accepted ?? 0) > 0)
        if (counts) for (const name of Object.keys(counts) as (keyof Counts)[]) sum.counts[name] += counts[name]
        sums.set(environment, sum)
      }
    }
    return [...sums]
      .map(([environment, { counts, ...tasks }]) => ({ environment, ...tasks, ...reportOf(counts) }))
      .sort((a, b) => a.environment.localeCompare(b.environment))
  }

  #judge({ leaseId, accepted, zeroVariance, rewards, completions, solved }: EventOf<'judged'>): void {
    const lease = this.#state.leases.get(leaseId)
    // A forgotten lease can only get a refusal, for being late.
    if (!lease) return
    const counts = this.#of(lease.taskIndex)
    if (!accepted) {
      counts.refused += 1
      return
    }
    counts.accepted += 1
    counts.zeroVariance += Number(zeroVariance)
    counts.rollouts += rewards.length
    counts.reward += rewards.reduce((sum, reward) => sum + reward, 0)
    counts.replayed += completions.length
    counts.solved += solved
  }

  #of(taskIndex: number): Counts {
    let counts = this.#tasks.get(taskIndex)
    if (!counts) {
      counts = none()
      this.#tasks.set(taskIndex, counts)
    }
    return counts
  }
}

function reportOf({ leases, accepted, zeroVariance, refused, rollouts, reward, replayed, solved }: Counts) {
  return {
    ...{ leases, accepted, zeroVariance, refused },
    reward: rollouts === 0 ? null : reward / rollouts,
    solved: replayed === 0 ? null : solved / replayed,
  }
}
