import type { Draw, Token, Tokenizer } from '../engine/types.js'
import type { EpisodeLimits } from '../episode/limits.js'
import type { Rollout } from '../episode/rollout.js'
import { turnSeeds } from '../episode/run-group.js'
import type { ToolCallFormat } from '../episode/tool-call-format.js'

/** The part of a replayed rollout that an audit needs. */
export type AuditedRollout = Pick<Rollout, 'tokens' | 'mask' | 'logprobs'>

/** A group to audit: its rollouts in the lease's order, and the lease's seed, which determines every draw. */
export interface AuditedGroup {
  readonly leaseId: string
  readonly leaseSeed: Uint8Array
  readonly rollouts: readonly AuditedRollout[]
}

/** Returns the assistant turns of a rollout as [start, end) of its tokens. Environment tokens separate them. */
export function turnsOf(mask: Uint8Array): (readonly [start: number, end: number])[] {
  const turns: (readonly [number, number])[] = []
  for (let start = mask.indexOf(1); start >= 0; start = mask.indexOf(1, start)) {
    const stop = mask.indexOf(0, start)
    const end = stop < 0 ? mask.length : stop
    turns.push([start, end])
    start = end
  }
  return turns
}

/**
 * Returns the draws of a rollout's sampled tokens, in order. Every turn has its own seed.
 * @param index  of the rollout in its group
 * @throws RangeError for more turns than the limits allow: earlier checks refuse such a rollout
 */
export function drawsOf({ mask }: AuditedRollout, leaseSeed: Uint8Array, index: number, limits: EpisodeLimits): Draw[] {
  const seeds = turnSeeds(leaseSeed, index, limits)
  return turnsOf(mask).flatMap(([start, end], turn) => {
    const seed = seeds[turn]
    if (seed === undefined) throw new RangeError(`rollout ${index} has more than ${seeds.length} assistant turns`)
    return Array.from({ length: end - start }, (_, position) => ({ seed, position }))
  })
}

/** The role of a sampled token. */
export interface TokenRole {
  /** Whether the token's text overlaps the arguments of a tool call. */
  readonly argument: boolean
  readonly end: boolean
}

/** The tokenizer and the tool-call format that read a policy's tokens. */
export interface TokenReader {
  readonly tokenizer: Pick<Tokenizer, 'detokenize' | 'isEndOfGeneration'>
  readonly toolCallFormat: Pick<ToolCallFormat, 'argumentSpans'>
}

/** Returns the roles of a rollout's sampled tokens, in order. */
export function rolesOf({ tokens, mask }: AuditedRollout, reader: TokenReader): TokenRole[] {
  return turnsOf(mask).flatMap(([start, end]) => turnRoles(tokens.slice(start, end), reader))
}

function turnRoles(turn: readonly Token[], { tokenizer, toolCallFormat }: TokenReader): TokenRole[] {
  const spans = toolCallFormat.argumentSpans(tokenizer.detokenize(turn))
  let from = 0
  return turn.map((token, i) => {
    // The whole text up to here is decoded: a character may consist of several tokens.
    const to = spans.length === 0 ? 0 : tokenizer.detokenize(turn.slice(0, i + 1)).length
    const argument = spans.some(([low, high]) => from < high && to > low)
    from = to
    return { argument, end: tokenizer.isEndOfGeneration(token) }
  })
}
