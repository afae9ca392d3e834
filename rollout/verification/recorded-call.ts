import { LIMITS, type RecordedCall, sha256 } from '../../proto/index.js'
import type { EpisodeLimits } from '../episode/index.js'
import type { LoggedCall } from '../reward/index.js'

/**
 * A call in the form in which it travels. Its texts are for people: what counts follows from the tokens, and the judge
 * makes them anew. So a world may answer, and a policy write, at any length.
 * @param response  what the environment answered
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

/** Half surrogate pairs replaced, which UTF-8 cannot carry; too long a text cut, and followed by the hash of it all. */
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
/** A sampled turn and what the environment writes after it, as lengths of at most `LIMITS.rolloutTokens`. */
const TURN_BYTES = 2 * 3

/** Bytes that no body of an honest group exceeds, however the policy and its worlds behave. */
export function largestBody(groupSize: number, limits: EpisodeLimits): number {
  const { maxRolloutTokens, maxAssistantTurns, maxCalls } = limits
  const call = LIMITS.nameBytes.value + 2 * LIMITS.callTextBytes.value + CALL_BYTES
  const rollout = ROLLOUT_BYTES + maxRolloutTokens * TOKEN_BYTES + maxAssistantTurns * TURN_BYTES + maxCalls * call
  return HEAD_BYTES + groupSize * rollout
}
