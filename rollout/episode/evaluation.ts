import { createHash } from 'node:crypto'
import type { AdapterFile, Engine } from '../engine/types.js'
import { type FailureClass, failureOf, type LoggedCall, REWARD_PRESETS, type RewardPreset } from '../reward/index.js'
import type { EpisodeRuntime } from './episode-runtime.js'
import type { EpisodeLimits } from './limits.js'
import { playEpisode, promptOf } from './run-episode.js'
import { runAll, turnSeeds } from './run-group.js'
import type { Task } from './task.js'
import type { MessageInterpreter, UnderstoodMessage } from './understood-message.js'

/** One rollout to play. */
export interface Attempt {
  readonly task: Task
  /** Sampler seed of each assistant turn. */
  readonly seeds: readonly number[]
  /** Sampling temperature; 0: always the likeliest token. */
  readonly temperature: number
}

/** The recorded result of a rollout. */
export interface Played {
  /** Reward by every preset, whichever the policy was trained with. */
  readonly rewards: Readonly<Record<string, number>>
  /** Class of the failure; null: the task was solved exactly. */
  readonly failure: FailureClass | null
  readonly calls: number
  /** The user simulator's interpretations of messages that had to ask for something. Absent if only the rules apply. */
  readonly understood?: readonly UnderstoodMessage[]
}

/** Returns the result of a rollout. @param score  scores the rollout by a preset */
export const playedOf = (
  { groundTruth }: Task,
  calls: readonly LoggedCall[],
  score: (preset: RewardPreset) => { readonly total: number },
): Played => ({
  rewards: Object.fromEntries([...REWARD_PRESETS].map(([name, preset]) => [name, score(preset).total])),
  failure: failureOf(groundTruth, calls),
  calls: calls.length,
})

/** Several rollouts per task at one temperature. */
export interface Sampling {
  readonly temperature: number
  readonly samples: number
}

/**
 * Returns the rollouts of an evaluation: by sampling, then by task, then by sample. Sampler seeds depend only on the seed, the task and the
 * sample, so that all policies get the same draws.
 */
export const attemptsOf = (
  tasks: readonly Task[],
  samplings: readonly Sampling[],
  seed: number,
  limits: EpisodeLimits,
): Attempt[] =>
  samplings.flatMap(({ temperature, samples }) =>
    tasks.flatMap((task) =>
      Array.from({ length: samples }, (_, sample): Attempt => {
        return { task, seeds: turnSeeds(attemptSeed(seed, task, sample), sample, limits), temperature }
      }),
    ),
  )

function attemptSeed(seed: number, task: Task, sample: number): Uint8Array {
  return createHash('sha256')
    .update(JSON.stringify(['prove/evaluation/1', seed, task.id, sample]))
    .digest()
}

/** Plays rollouts of several policies: an engine, or a connection to a server. */
export interface Player {
  /** Plays rollouts of the policy with this index at the same time. @returns  their results, in order */
  play(policy: number, attempts: readonly Attempt[], signal: AbortSignal): Promise<readonly Played[]>
}

/** Rollouts of one policy that were played together. `policy` is the policy's index, `from` the index of the first rollout. */
export interface PlayedTogether {
  readonly policy: number
  readonly from: number
  readonly played: readonly Played[]
}

/** Store of an evaluation's results, for resuming. */
export interface EvaluationRecord {
  readonly earlier: readonly PlayedTogether[]
  add(results: PlayedTogether): Promise<void>
}

/** The policies that the same players play. */
export interface PlayedPolicies {
  /** Indices of the policies. */
  readonly policies: readonly number[]
  /** Number of rollouts that are played together. Results do not depend on the assignment to players, because the parts are fixed. */
  readonly together: number
}

/**
 * Plays all rollouts under each policy. The players share the work.
 * @param record  results of an interrupted evaluation; default: none
 * @returns  for each policy the results, in the order of the rollouts
 */
export async function playAll(
  attempts: readonly Attempt[],
  { policies, together }: PlayedPolicies,
  players: readonly Player[],
  signal: AbortSignal,
  record: EvaluationRecord = { earlier: [], add: async () => undefined },
): Promise<Played[][]> {
  const played = new Map(policies.map((policy) => [policy, new Array<Played>(attempts.length)]))
  const keep = ({ policy, from, played: found }: PlayedTogether): void => {
    for (const [i, one] of found.entries()) played.get(policy)![from + i] = one
  }
  for (const earlier of record.earlier) if (played.has(earlier.policy)) keep(earlier)
  const starts = Array.from({ length: Math.ceil(attempts.length / together) }, (_, i) => i * together)
  const open = policies.map((policy) => starts.filter((from) => played.get(policy)![from] === undefined))
  const work = async (player: Player, own: number, inner: AbortSignal): Promise<void> => {
    // Each player begins with another policy: a change costs a swap.
    for (let k = 0; k < policies.length; k++) {
      const at = (own + k) % policies.length
      const policy = policies[at]!
      for (let from = open[at]!.shift(); from !== undefined; from = open[at]!.shift()) {
        const found = await player.play(policy, attempts.slice(from, from + together), inner)
        await record.add({ policy, from, played: found })
        keep({ policy, from, played: found })
      }
    }
  }
  await runAll(
    players.map((player, i) => (inner) => work(player, i % policies.length, inner)),
    signal,
  )
  return policies.map((policy) => played.get(policy)!)
}

/** The part of an engine that plays tasks. */
export type PlayingEngine = Pick<Engine, 'usePolicy' | 'openSlots'>

export interface EpisodeSettings {
  readonly limits: EpisodeLimits
  /** Decides instead of the rules whether messages ask for something. */
  readonly userSimulator?: MessageInterpreter
}

/** Creates a player from an engine. @param adapterOf  returns the adapter of a policy; null: the bare base */
export function enginePlayer(
  engine: PlayingEngine,
  adapterOf: (policy: number) => AdapterFile | null,
  runtime: EpisodeRuntime,
  { limits, userSimulator }: EpisodeSettings,
): Player {
  let current: number | undefined
  return {
    async play(policy, attempts, signal) {
      if (current !== policy) await engine.usePolicy(adapterOf(policy), signal)
      current = policy
      const requests = attempts.map(({ task, ...sampling }) => ({
        prompt: promptOf(task, runtime, limits),
        ...sampling,
      }))
      const sources = await engine.openSlots(requests, signal)
      return runAll(
        attempts.map(({ task }, i) => async (inner) => {
          const { rollout, understood, score } = await playEpisode(
            task,
            sources[i]!,
            runtime,
            limits,
            inner,
            userSimulator,
          )
          return { ...playedOf(task, rollout.calls, score), ...(userSimulator ? { understood } : {}) }
        }),
        signal,
      )
    },
  }
}

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
}

export interface EvaluationSettings {
  readonly samplesPerTask: number
  readonly slots: number
  readonly seed: number
  readonly temperature: number
  readonly limits: EpisodeLimits
}

/**
 * Plays every task `samplesPerTask` times under one policy.
 * @param adapter  null: the bare base
 * @param engines  one or more, each with `slots` slots
 * @returns  the tasks' results, in the order of the tasks
 */
export async function evaluatePolicy(
  tasks: readonly Task[],
  adapter: AdapterFile | null,
  engines: readonly PlayingEngine[],
  runtime: EpisodeRuntime,
  { samplesPerTask, slots, seed, temperature, limits }: EvaluationSettings,
  signal: AbortSignal,
): Promise<TaskResult[]> {
  const attempts = attemptsOf(tasks, [{ temperature, samples: samplesPerTask }], seed, limits)
  const players = engines.map((engine) => enginePlayer(engine, () => adapter, runtime, { limits }))
  const [played] = await playAll(attempts, { policies: [0], together: slots }, players, signal)
  return tasks.map(({ id }, i) =>
    meanOf(id, played!.slice(i * samplesPerTask, (i + 1) * samplesPerTask), runtime.reward.name),
  )
}

function meanOf(taskId: string, samples: readonly Played[], preset: string): TaskResult {
  const mean = (value: (one: Played) => number): number =>
    samples.reduce((sum, one) => sum + value(one) / samples.length, 0)
  const rewards = Object.fromEntries(
    [...REWARD_PRESETS.keys()].map((name) => [name, mean((one) => one.rewards[name]!)]),
  )
  return {
    taskId,
    reward: rewards[preset]!,
    rewards,
    solved: mean(({ failure }) => Number(failure === null)),
    calls: mean(({ calls }) => calls),
  }
}
