import type { EventOf, RunEvent } from '../ledger/events.js'
import type { RunState } from '../ledger/run-state.js'

/** What the run has tried of a task. */
export interface TaskCoverage {
  readonly taskIndex: number
  readonly leases: number
  readonly accepted: number
  /** Of the accepted groups: those without reward variance. */
  readonly flat: number
  readonly refused: number
  /** Mean over the rollouts of accepted groups; null before the first. */
  readonly reward: number | null
  /** Share of the replayed rollouts; null before the first. */
  readonly solved: number | null
}

/** What the run has tried of a world: the sums over its tasks, each of which counts for all of its worlds. */
export interface WorldCoverage extends Omit<TaskCoverage, 'taskIndex'> {
  readonly world: string
  readonly tasks: number
  /** Of these, those that an accepted group came of. */
  readonly tasksCovered: number
}

interface Counts {
  leases: number
  accepted: number
  flat: number
  refused: number
  rollouts: number
  reward: number
  replayed: number
  solved: number
}

const none = (): Counts => ({
  ...{ leases: 0, accepted: 0, flat: 0, refused: 0 },
  ...{ rollouts: 0, reward: 0, replayed: 0, solved: 0 },
})

/** How often each task was given and what came back, as the events of a run come, oldest first. It grows with the data set alone. */
export class CoverageTally {
  readonly #fold: Pick<RunState, 'leases'>
  readonly #tasks = new Map<number, Counts>()

  /** @param fold  that somebody else keeps, and has applied each event to before it comes here */
  constructor(fold: Pick<RunState, 'leases'>) {
    this.#fold = fold
  }

  add(event: RunEvent): void {
    if (event.type === 'leased') this.#of(event.taskIndex).leases += 1
    if (event.type === 'judged') this.#judge(event)
  }

  /** Tasks that were given at least once, in their order. */
  tasks(): TaskCoverage[] {
    return [...this.#tasks].sort(([a], [b]) => a - b).map(([taskIndex, counts]) => ({ taskIndex, ...reportOf(counts) }))
  }

  /** @param worldsOf  the worlds of every task of the run, in their order */
  worlds(worldsOf: readonly (readonly string[])[]): WorldCoverage[] {
    const sums = new Map<string, { counts: Counts; tasks: number; tasksCovered: number }>()
    for (const [taskIndex, worlds] of worldsOf.entries()) {
      const counts = this.#tasks.get(taskIndex)
      for (const world of new Set(worlds)) {
        const sum = sums.get(world) ?? { counts: none(), tasks: 0, tasksCovered: 0 }
        sum.tasks += 1
        sum.tasksCovered += Number((counts?.accepted ?? 0) > 0)
        if (counts) for (const name of Object.keys(counts) as (keyof Counts)[]) sum.counts[name] += counts[name]
        sums.set(world, sum)
      }
    }
    return [...sums]
      .map(([world, { counts, ...tasks }]) => ({ world, ...tasks, ...reportOf(counts) }))
      .sort((a, b) => a.world.localeCompare(b.world))
  }

  #judge({ leaseId, accepted, flat, rewards, completions, solved }: EventOf<'judged'>): void {
    const lease = this.#fold.leases.get(leaseId)
    // A lease that is forgotten brings nothing but a refusal, for being late.
    if (!lease) return
    const counts = this.#of(lease.taskIndex)
    if (!accepted) {
      counts.refused += 1
      return
    }
    counts.accepted += 1
    counts.flat += Number(flat)
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

function reportOf({ leases, accepted, flat, refused, rollouts, reward, replayed, solved }: Counts) {
  return {
    ...{ leases, accepted, flat, refused },
    reward: rollouts === 0 ? null : reward / rollouts,
    solved: replayed === 0 ? null : solved / replayed,
  }
}
