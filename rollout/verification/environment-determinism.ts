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

/** Number of replays that are compared. A rarely nondeterministic environment may give equal results twice. */
const REPLAYS = 3

/**
 * Finds the environments that answer the same calls differently in fresh sessions. A failed replay in such an environment is not
 * the node's fault.
 * @returns  names of environments; none if all are deterministic
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
        // The recording does not fit the episode, which is the reason for the group's refusal.
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

/** Returns a recording's turns one after the other, whatever the environment answers. */
function recordedTurns({ tokens, maskRuns, logprobs }: RecordedRollout, { tokenizer }: EpisodeRuntime): TokenSource {
  const turns = turnsOf(Uint8Array.from(expandMask(maskRuns)))
  let next = 0
  let sampledBefore = 0
  return {
    async next(): Promise<SampledTurn> {
      const span = turns[next++]
      if (!span) throw new RangeError('the recording has no more turns')
      const turn = tokens.slice(...span)
      sampledBefore += turn.length
      const stop = tokenizer.isEndOfGeneration(turn.at(-1)!) ? 'end' : 'length'
      return { tokens: turn, logprobs: logprobs.slice(sampledBefore - turn.length, sampledBefore), stop }
    },
    async close() {},
  }
}
