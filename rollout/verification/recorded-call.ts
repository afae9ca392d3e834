import { LIMITS, type RecordedCall, sha256 } from '../../proto/index.js'
import type { EpisodeLimits } from '../episode/index.js'
import type { LoggedCall } from '../reward/index.js'

/**
 * Converts a call to its wire form. Its texts are for people: verification recomputes them from the tokens. So environments and policies
 * may write texts of any length.
 * @param response  the environment's answer
 */
export function recordCall(call: LoggedCall, response: string): RecordedCall {
  const resultJson = recordable(response)
  if (call.malformed)
    return { name: '', argumentsJson: '', ok: false, malformed: true, raw: recordable(call.raw), resultJson }
  const { name, ok } = call
  const argumentsJson = recordable(JSON.stringify(call.arguments))
  return { name, argumentsJson, ok, malformed: false, raw: '', resultJson }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Replaces lone surrogates, which UTF-8 cannot encode, and cuts a long text, with the hash of the whole text at the end. */
function recordable(text: string): string {
  const most = LIMITS.callTextBytes.value
  const bytes = encoder.encode(text)
  if (bytes.length <= most) return text.toWellFormed()
  const end = `... sha256:${sha256(bytes)}`
  const head = new Uint8Array(most - end.length)
  return decoder.decode(head.subarray(0, encoder.encodeInto(text, head).written)) + end
}

/** Ids, engine and duration of a group. */
const HEAD_BYTES = 1024
/** Reward, state hash, end reason and framing of a rollout. */
const ROLLOUT_BYTES = 1024
/** Flags and framing of a call. */
const CALL_BYTES = 32
/** An id below `LIMITS.tokenId`, and the log-probability of a sampled token. */
const TOKEN_BYTES = 3 + 4
/** A sampled turn and the environment's tokens after it, as lengths of at most `LIMITS.rolloutTokens`. */
const TURN_BYTES = 2 * 3

/** Returns the maximal bytes of an honest group's body, for any behaviour of the policy and its environments. */
export function largestBody(groupSize: number, limits: EpisodeLimits): number {
  const { maxRolloutTokens, maxAssistantTurns, maxCalls } = limits
  const call = LIMITS.nameBytes.value + 2 * LIMITS.callTextBytes.value + CALL_BYTES
  const rollout = ROLLOUT_BYTES + maxRolloutTokens * TOKEN_BYTES + maxAssistantTurns * TURN_BYTES + maxCalls * call
  return HEAD_BYTES + groupSize * rollout
}
