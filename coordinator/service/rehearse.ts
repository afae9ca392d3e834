import { createHash } from 'node:crypto'
import type { Engine } from '../../rollout/engine/index.js'
import {
  type EpisodeLimits,
  type EpisodeRuntime,
  type Rollout,
  runGroup,
  type Task,
} from '../../rollout/episode/index.js'
import type { EventOf } from '../ledger/events.js'

/** Result of a dry run. */
export type Rehearsal = Omit<EventOf<'rehearsed'>, 'type' | 'atMs'>

/** Size of a dry run: enough to see that nothing is solved, and short enough to wait for. */
export const REHEARSAL = {
  /** If none of eight groups of eight is solved, fewer than one rollout in 20 solves its task, in 29 of 30 cases. */
  groups: 8,
  /** Rollouts per group, unless the run's groups are smaller. */
  groupSize: 8,
  /** Sampled tokens after which no further group begins: 64 rollouts of 800 tokens. */
  sampledTokens: 50_000,
  /** Time after which the current group is given up. A model that does not finish one group in it is too slow. */
  milliseconds: 120_000,
} as const

export interface RehearsalParts {
  readonly tasks: readonly Task[]
  /** Engine with one slot per rollout of a group, and without an adapter. */
  readonly engine: Pick<Engine, 'openSlots'>
  readonly runtime: EpisodeRuntime
  readonly limits: EpisodeLimits
  /** Group size of the run. */
  readonly groupSize: number
}

/**
 * Plays tasks from all parts of the data set, as volunteers will. The tasks and seeds are always the same.
 * @param timeUp  aborts when the time for the dry run is over
 * @throws EngineError, EpisodeError, the signal's reason
 */
export async function rehearse(parts: RehearsalParts, timeUp: AbortSignal, signal: AbortSignal): Promise<Rehearsal> {
  const { tasks, engine, runtime, limits } = parts
  const chosen = Math.min(REHEARSAL.groups, tasks.length)
  const groupSize = Math.min(REHEARSAL.groupSize, parts.groupSize)
  const played: { readonly task: Task; readonly rollouts: readonly Rollout[] }[] = []
  let tokens = 0
  for (let i = 0; i < chosen && tokens < REHEARSAL.sampledTokens && !timeUp.aborted; i++) {
    const task = tasks[Math.floor((i * tasks.length) / chosen)]!
    const seed = createHash('sha256')
      .update(JSON.stringify(['prove/rehearsal/1', i]))
      .digest()
    const group = runGroup(task, groupSize, seed, engine, runtime, limits, AbortSignal.any([timeUp, signal]))
    const rollouts = await group.catch((error: unknown) => {
      if (timeUp.aborted && !signal.aborted) return null
      throw error
    })
    if (rollouts === null) break
    played.push({ task, rollouts })
    tokens += count(rollouts, ({ logprobs }) => logprobs.length)
  }
  return { ...measured(played), sampledTokens: tokens, isWhole: played.length === chosen }
}

function measured(
  played: readonly { readonly task: Task; readonly rollouts: readonly Rollout[] }[],
): Omit<Rehearsal, 'sampledTokens' | 'isWhole'> {
  const rollouts = played.flatMap((group) => group.rollouts)
  const asked = played.filter(({ task }) => task.groundTruth.length > 0).flatMap((group) => group.rollouts)
  const isZeroVariance = (group: readonly Rollout[]): boolean =>
    group.every(({ reward }) => reward.total === group[0]!.reward.total)
  return {
    groups: played.length,
    zeroVariance: played.filter((group) => isZeroVariance(group.rollouts)).length,
    rollouts: rollouts.length,
    solved: rollouts.filter(({ solved }) => solved).length,
    reward: rollouts.length === 0 ? 0 : count(rollouts, ({ reward }) => reward.total) / rollouts.length,
    calls: count(rollouts, ({ calls }) => calls.length),
    callsDue: played.reduce((sum, { task, rollouts: own }) => sum + task.groundTruth.length * own.length, 0),
    asked: asked.length,
    silent: asked.filter(({ calls }) => calls.length === 0).length,
    cut: rollouts.filter(({ end }) => end === 'rollout_length' || end === 'turn_length').length,
  }
}

const count = (rollouts: readonly Rollout[], of: (rollout: Rollout) => number): number =>
  rollouts.reduce((sum, rollout) => sum + of(rollout), 0)
