import type { Played } from '../../rollout/episode/index.js'
import { FAILURE_CLASSES, REWARD_PRESETS } from '../../rollout/reward/index.js'

/**
 * Returns the unbiased estimate of the probability that at least one of `k` rollouts solves a task (Chen et al. 2021, arXiv 2107.03374).
 * @param n  number of rollouts, at least `k`
 * @param solved  number of them that solved the task
 */
export function passAtK(n: number, solved: number, k: number): number {
  if (n - solved < k) return 1
  let allFail = 1
  for (let i = n - solved + 1; i <= n; i++) allFail *= 1 - k / i
  return 1 - allFail
}

/** Returns the unbiased estimate of the probability that all of `k` rollouts solve a task (tau-bench, arXiv 2406.12045). */
export function passHatK(n: number, solved: number, k: number): number {
  if (solved < k) return 0
  let allSolve = 1
  for (let i = 0; i < k; i++) allSolve *= (solved - i) / (n - i)
  return allSolve
}

/** Returns the values of k above 1 that are reported for `n` rollouts per task: powers of two, and `n`. */
export function reportedKs(n: number): number[] {
  const powers = []
  for (let k = 2; k < n; k *= 2) powers.push(k)
  return n > 1 ? [...powers, n] : powers
}

/** Rewards of a group that differ by less are equal: sums of equal numbers differ in their last bits. */
const SAME_REWARD = 1e-9

/** Values of a measure, by task. */
export type ByTask = Readonly<Record<string, readonly number[]>>

/**
 * Returns the measures of each task, by name. docs/use-a-model/evaluate.md defines them.
 * @param tasks  rollouts by task, equally many for each
 */
export function measuresOf(tasks: readonly (readonly Played[])[]): ByTask {
  const n = tasks[0]?.length ?? 0
  const mean = (value: (one: Played) => number): number[] =>
    tasks.map((rollouts) => rollouts.reduce((sum, one) => sum + value(one), 0) / n)
  const ofPresets = (name: string, values: (preset: string) => number[]): ByTask =>
    Object.fromEntries([...REWARD_PRESETS.keys()].map((preset) => [`${name}.${preset}`, values(preset)]))
  const solved = tasks.map((rollouts) => rollouts.filter(({ failure }) => failure === null).length)
  return {
    solved: mean(({ failure }) => Number(failure === null)),
    ...Object.fromEntries(
      reportedKs(n).flatMap((k) => [
        [`pass@${k}`, solved.map((count) => passAtK(n, count, k))],
        [`pass^${k}`, solved.map((count) => passHatK(n, count, k))],
      ]),
    ),
    calls: mean(({ calls }) => calls),
    ...ofPresets('reward', (preset) => mean(({ rewards }) => rewards[preset]!)),
    ...(n > 1 ? ofPresets('zero_variance', (preset) => tasks.map((rollouts) => Number(isFlat(rollouts, preset)))) : {}),
    ...Object.fromEntries(
      FAILURE_CLASSES.map((name) => [`failure.${name}`, mean(({ failure }) => Number(failure === name))]),
    ),
  }
}

function isFlat(rollouts: readonly Played[], preset: string): boolean {
  const rewards = rollouts.map((one) => one.rewards[preset]!)
  return Math.max(...rewards) - Math.min(...rewards) < SAME_REWARD
}
