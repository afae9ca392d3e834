import { createHash } from 'node:crypto'
import type { AdapterFile, Engine } from '../engine/types.js'
import { type EpisodeLimits, promptOf, runAll, runEpisode, type Stage, type Task, turnSeeds } from '../episode/index.js'

/** What one policy made of one task, averaged over its samples. */
export interface TaskResult {
  readonly taskId: string
  readonly reward: number
  /** Share of the samples that solved the task exactly. */
  readonly solved: number
  readonly calls: number
}

export interface EvaluationSettings {
  readonly samplesPerTask: number
  readonly lanes: number
  /** Sampler seeds depend on this, the task and the sample alone: two policies meet the same draws. */
  readonly seed: number
  readonly limits: EpisodeLimits
}

/**
 * Plays every task `samplesPerTask` times at temperature 1 under one policy.
 */
export async function evaluatePolicy(
  tasks: readonly Task[],
  adapter: AdapterFile | null,
  engine: Engine,
  stage: Stage,
  settings: EvaluationSettings,
  signal: AbortSignal,
): Promise<TaskResult[]> {
  await engine.usePolicy(adapter, signal)
  const { samplesPerTask, lanes, limits, seed } = settings
  const attempts = tasks.flatMap((task) =>
    Array.from({ length: samplesPerTask }, (_, sample) => ({
      task,
      seeds: turnSeeds(attemptSeed(seed, task, sample), sample, limits),
    })),
  )
  const results = new Map(tasks.map((task) => [task.id, { reward: 0, solved: 0, calls: 0 }]))
  for (let from = 0; from < attempts.length; from += lanes) {
    const group = attempts.slice(from, from + lanes)
    const requests = group.map(({ task, seeds }) => ({ prompt: promptOf(task, stage, limits), seeds }))
    const sources = await engine.openLanes(requests, signal)
    const rollouts = await runAll(
      group.map(
        ({ task }, i) =>
          (inner) =>
            runEpisode(task, sources[i]!, stage, limits, inner),
      ),
      signal,
    )
    for (const [i, rollout] of rollouts.entries()) {
      const result = results.get(group[i]!.task.id)!
      result.reward += rollout.reward.total / samplesPerTask
      result.solved += Number(rollout.solved) / samplesPerTask
      result.calls += rollout.calls.length / samplesPerTask
    }
  }
  return tasks.map(({ id }) => ({ taskId: id, ...results.get(id)! }))
}

function attemptSeed(seed: number, task: Task, sample: number): Uint8Array {
  return createHash('sha256')
    .update(JSON.stringify(['prove/evaluation/1', seed, task.id, sample]))
    .digest()
}

export interface Estimate {
  readonly mean: number
  /** Standard error of the mean over tasks. */
  readonly stderr: number
}

export function estimate(values: readonly number[]): Estimate {
  if (values.length < 2) throw new RangeError(`a standard error needs two values, not ${values.length}`)
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1)
  return { mean, stderr: Math.sqrt(variance / values.length) }
}

/** Two policies on the same tasks. Differences are paired by task. */
export interface Comparison {
  readonly n: number
  readonly before: Estimate
  readonly after: Estimate
  readonly diff: Estimate
  readonly solvedBefore: Estimate
  readonly solvedAfter: Estimate
  readonly solvedDiff: Estimate
  readonly callsBefore: number
  readonly callsAfter: number
}

export function comparePolicies(before: readonly TaskResult[], after: readonly TaskResult[]): Comparison {
  if (before.length !== after.length) throw new RangeError('the two evaluations are not of the same tasks')
  const pairs = before.map((result, i) => {
    const other = after[i]
    if (other?.taskId !== result.taskId) throw new RangeError('the two evaluations are not of the same tasks')
    return [result, other] as const
  })
  return {
    n: pairs.length,
    before: estimate(before.map(({ reward }) => reward)),
    after: estimate(after.map(({ reward }) => reward)),
    diff: estimate(pairs.map(([a, b]) => b.reward - a.reward)),
    solvedBefore: estimate(before.map(({ solved }) => solved)),
    solvedAfter: estimate(after.map(({ solved }) => solved)),
    solvedDiff: estimate(pairs.map(([a, b]) => b.solved - a.solved)),
    callsBefore: estimate(before.map(({ calls }) => calls)).mean,
    callsAfter: estimate(after.map(({ calls }) => calls)).mean,
  }
}
