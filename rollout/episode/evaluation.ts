import { createHash } from 'node:crypto'
import type { AdapterFile, Engine } from '../engine/types.js'
import { REWARD_PRESETS } from '../reward/index.js'
import type { EpisodeRuntime } from './episode-runtime.js'
import type { EpisodeLimits } from './limits.js'
import { playEpisode, promptOf } from './run-episode.js'
import { runAll, turnSeeds } from './run-group.js'
import type { Task } from './task.js'
import type { MessageInterpreter, UnderstoodMessage } from './understood-message.js'

/** The result of one policy on one task, averaged over its samples. */
export interface TaskResult {
  readonly taskId: string
  /** Reward by the runtime's preset. */
  readonly reward: number
  /** Reward by every preset, whichever the policy was trained with. */
  readonly rewards: Readonly<Record<string, number>>
  /** Share of the samples that solved the task exactly. */
  readonly solved: number
  readonly calls: number
  /** The user simulator's interpretations of messages that had to ask for something, in all samples. Absent if only the rules apply. */
  readonly understood?: readonly UnderstoodMessage[]
}

export interface EvaluationSettings {
  readonly samplesPerTask: number
  readonly slots: number
  /** Sampler seeds depend only on this, the task and the sample, so that two policies get the same draws. */
  readonly seed: number
  /** Sampling temperature; 0: always the likeliest token, so that all samples of a task are equal. */
  readonly temperature: number
  readonly limits: EpisodeLimits
  /** Decides instead of the rules whether messages ask for something. */
  readonly userSimulator?: MessageInterpreter
}

/** Rollouts of one policy that were sampled together. `policy` is the policy's index, `from` the index of the first rollout. */
export interface PlayedTogether {
  readonly policy: number
  readonly from: number
  readonly played: readonly Played[]
}

/** Store of an evaluation's results, for resuming. */
export interface EvaluationRecord {
  readonly earlier: readonly PlayedTogether[]
  add(results: readonly PlayedTogether[]): Promise<void>
  onProgress(done: number, wanted: number): void
}

/** One rollout to play. */
interface Attempt {
  readonly task: Task
  readonly seeds: readonly number[]
}

/** The part of an engine that plays tasks. */
export type PlayingEngine = Pick<Engine, 'usePolicy' | 'openSlots'>

/** The recorded result of a rollout. */
export type Played = Pick<TaskResult, 'reward' | 'rewards' | 'solved' | 'calls' | 'understood'>

/**
 * Plays every task `samplesPerTask` times under each policy. The engines share the work, `slots` rollouts at a time. The results do
 * not depend on the assignment to engines, because the same rollouts are always sampled together.
 * @param policies  adapters; null: the bare base
 * @param engines   one or more, each with `slots` slots
 * @param record    results of an interrupted evaluation; default: none
 * @returns  for each policy the tasks' results, in the order of the tasks
 */
export async function evaluatePolicies(
  tasks: readonly Task[],
  policies: readonly (AdapterFile | null)[],
  engines: readonly PlayingEngine[],
  runtime: EpisodeRuntime,
  settings: EvaluationSettings,
  signal: AbortSignal,
  record?: EvaluationRecord,
): Promise<TaskResult[][]> {
  const { samplesPerTask, slots, limits, seed } = settings
  const attempts = tasks.flatMap((task) =>
    Array.from({ length: samplesPerTask }, (_, sample): Attempt => {
      return { task, seeds: turnSeeds(attemptSeed(seed, task, sample), sample, limits) }
    }),
  )
  const played = policies.map(() => new Array<Played>(attempts.length))
  const open = policies.map(() => Array.from({ length: Math.ceil(attempts.length / slots) }, (_, i) => i * slots))
  let done = 0
  const keep = ({ policy, from, played: found }: PlayedTogether): void => {
    for (const [i, one] of found.entries()) played[policy]![from + i] = one
    done += found.length
    record?.onProgress(done, policies.length * attempts.length)
  }
  for (const earlier of record?.earlier ?? []) {
    keep(earlier)
    open[earlier.policy] = open[earlier.policy]!.filter((from) => from !== earlier.from)
  }
  const work = async (engine: PlayingEngine, own: number, inner: AbortSignal): Promise<void> => {
    // Each engine begins with another policy: a change costs a swap.
    for (let k = 0; k < policies.length; k++) {
      const policy = (own + k) % policies.length
      if (open[policy]!.length > 0) await engine.usePolicy(policies[policy]!, inner)
      for (let from = open[policy]!.shift(); from !== undefined; from = open[policy]!.shift()) {
        const found = await playTogether(attempts.slice(from, from + slots), engine, runtime, settings, inner)
        const together = { policy, from, played: found }
        await record?.add([together])
        keep(together)
      }
    }
  }
  await runAll(
    engines.map((engine, i) => (inner) => work(engine, i % policies.length, inner)),
    signal,
  )
  return played.map((rollouts) =>
    tasks.map(({ id }, i) => meanOf(id, rollouts.slice(i * samplesPerTask, (i + 1) * samplesPerTask))),
  )
}

async function playTogether(
  attempts: readonly Attempt[],
  engine: PlayingEngine,
  runtime: EpisodeRuntime,
  { limits, temperature, userSimulator }: EvaluationSettings,
  signal: AbortSignal,
): Promise<Played[]> {
  const requests = attempts.map(({ task, seeds }) => ({ prompt: promptOf(task, runtime, limits), seeds, temperature }))
  const sources = await engine.openSlots(requests, signal)
  const rollouts = await runAll(
    attempts.map(
      ({ task }, i) =>
        (inner) =>
          playEpisode(task, sources[i]!, runtime, limits, inner, userSimulator),
    ),
    signal,
  )
  return rollouts.map(({ rollout: { solved, calls }, understood, score }) => {
    const rewards = Object.fromEntries([...REWARD_PRESETS].map(([name, preset]) => [name, score(preset).total]))
    const played = { reward: rewards[runtime.reward.name]!, rewards, solved: Number(solved), calls: calls.length }
    return userSimulator ? { ...played, understood } : played
  })
}

function meanOf(taskId: string, samples: readonly Played[]): TaskResult {
  const mean = (value: (one: Played) => number): number =>
    samples.reduce((sum, one) => sum + value(one) / samples.length, 0)
  return {
    taskId,
    reward: mean((one) => one.reward),
    rewards: Object.fromEntries([...REWARD_PRESETS.keys()].map((name) => [name, mean((one) => one.rewards[name]!)])),
    solved: mean((one) => one.solved),
    calls: mean((one) => one.calls),
    ...(samples.some(({ understood }) => understood)
      ? { understood: samples.flatMap(({ understood = [] }) => understood) }
      : {}),
  }
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

/** Returns mean and standard error. @throws RangeError for fewer than two values */
export function estimate(values: readonly number[]): Estimate {
  if (values.length < 2) throw new RangeError(`a standard error needs at least two values, not ${values.length}`)
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1)
  return { mean, stderr: Math.sqrt(variance / values.length) }
}
