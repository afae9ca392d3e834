import { expandMask, type RecordedRollout } from '../../proto/index.js'
import type { SampledTurn, TokenSource } from '../engine/types.js'
import {
  type EpisodeLimits,
  type EpisodeRuntime,
  type Rollout,
  runEpisode,
  type Task,
  toolsetOf,
} from '../episode/index.js'
import { turnsOf } from './sampled-turns.js'

/** Replays that are compared. A world that disagrees with itself rarely may still agree twice. */
const REPLAYS = 3

/**
 * The worlds that answer the same calls differently in fresh sessions. A group that fails its replay in such a world says
 * nothing about its node.
 * @returns  names of servers, none when the world is sound
 */
export async function nondeterministicEnvironments(
  recorded: RecordedRollout,
  task: Task,
  limits: EpisodeLimits,
  replayContext: EpisodeRuntime,
  signal: AbortSignal,
): Promise<string[]> {
  const replays: Rollout[] = []
  for (let i = 0; i < REPLAYS; i++) {
    const replay = await runEpisode(task, recordedTurns(recorded, replayContext), replayContext, limits, signal).catch(
      (error) => {
        signal.throwIfAborted()
        // The recording does not fit the episode: that is what the judge refuses it for.
        if (error instanceof RangeError) return null
        throw error
      },
    )
    if (replay) replays.push(replay)
  }
  const [first, ...others] = replays
  if (!first) return []
  const environments = new Map(
    toolsetOf(task, replayContext.catalogue).map(({ name, environment }) => [name, environment]),
  )
  const unstable = new Set<string>()
  for (const other of others) {
    const call = first.calls.find((_, k) => first.responses[k] !== other.responses[k])
    if (call) {
      const environment = call.malformed ? undefined : environments.get(call.name)
      if (environment !== undefined) unstable.add(environment)
    } else if (first.stateHash !== other.stateHash) {
      for (const { environment } of task.environments) unstable.add(environment)
    }
  }
  return [...unstable]
}

/** Says a recording's turns one after the other, whatever the world answers in between. */
function recordedTurns({ tokens, maskRuns, logprobs }: RecordedRollout, { tokenizer }: EpisodeRuntime): TokenSource {
  const turns = turnsOf(Uint8Array.from(expandMask(maskRuns)))
  let next = 0
  let sampledBefore = 0
  return {
    async next(): Promise<SampledTurn> {
      const span = turns[next++]
      if (!span) throw new RangeError('the recording is over')
      const turn = tokens.slice(...span)
      sampledBefore += turn.length
      const stop = tokenizer.isEndOfGeneration(turn.at(-1)!) ? 'end' : 'length'
      return { tokens: turn, logprobs: logprobs.slice(sampledBefore - turn.length, sampledBefore), stop }
    },
    async close() {},
  }
}
