/** How fast a key has delivered lately: sums in which each further group takes a part of what the earlier ones left. */
export interface DeliveryRate {
  /** From the grant of a lease to the arrival of its group. */
  readonly ms: number
  /** Sampled meanwhile. */
  readonly tokens: number
  /** How many groups there were in all. */
  readonly groups: number
  /** When the last of these groups was judged. */
  readonly atMs: number
}

/** A group as its verdict tells of it. */
export interface TimedGroup {
  readonly tookMs?: number | undefined
  readonly sampledTokens: number
  readonly atMs: number
}

/** So many groups of a key are remembered, more or less: a machine may be given another limit, or another GPU. */
const RATE_MEMORY = 4
/** So many groups of a run are remembered in what a usual one samples: a policy changes over some versions. */
const USUAL_MEMORY = 64

/** @returns  the pace after one more accepted group; as before where nobody has seen how many tokens it sampled, or when it came */
export function rateAfter(
  before: DeliveryRate | null,
  { tookMs, sampledTokens, atMs }: TimedGroup,
): DeliveryRate | null {
  if (tookMs === undefined || sampledTokens === 0) return before
  if (before === null) return { ms: tookMs, tokens: sampledTokens, groups: 1, atMs }
  const kept = 1 - 1 / RATE_MEMORY
  const [ms, tokens] = [kept * before.ms + tookMs, kept * before.tokens + sampledTokens]
  return { ms, tokens, groups: before.groups + 1, atMs }
}

/** @returns  tokens that a usual group of the run samples, after one more that was seen; null: no group was */
export function usualAfter(before: number | null, { sampledTokens }: Pick<TimedGroup, 'sampledTokens'>): number | null {
  if (sampledTokens === 0) return before
  return before === null ? sampledTokens : before + (sampledTokens - before) / USUAL_MEMORY
}
