import type { Task } from '../../rollout/episode/index.js'
import { seededRandom } from '../../servers/kernel/index.js'
import { ConfigError } from '../settings/config.js'

/** An environment whose tasks are demonstrated. */
export interface DemonstratedEnvironment {
  readonly name: string
  /** Largest number of its tasks. */
  readonly most: number
}

/**
 * Chooses the tasks to demonstrate, in an order that `seed` determines. A task counts for each of its environments, and is chosen
 * only if all of them are named.
 * @param environments  undefined: all environments, without a limit for each
 * @param count  largest number of tasks in all
 * @throws ConfigError for an environment without tasks in the data set
 */
export function chooseTasks(
  tasks: readonly Task[],
  environments: readonly DemonstratedEnvironment[] | undefined,
  count: number,
  seed: number,
): Task[] {
  const shuffled = seededRandom(seed).shuffle(tasks)
  if (environments === undefined) return shuffled.slice(0, count)
  const left = new Map(environments.map(({ name, most }) => [name, most]))
  const present = new Set(tasks.flatMap((task) => namesOf(task)))
  const missing = environments.filter(({ name }) => !present.has(name))
  if (missing.length > 0)
    throw new ConfigError(
      `--environments: the data set has no task of ${missing.map(({ name }) => name).join(', ')}: choose from ${[...present].sort().join(', ')}, or name another data set with --dataset`,
    )
  const chosen: Task[] = []
  for (const task of shuffled) {
    if (chosen.length === count) break
    const names = namesOf(task)
    if (!names.every((name) => (left.get(name) ?? 0) > 0)) continue
    for (const name of names) left.set(name, left.get(name)! - 1)
    chosen.push(task)
  }
  return chosen
}

const namesOf = ({ environments }: Task): string[] => environments.map(({ environment }) => environment)
