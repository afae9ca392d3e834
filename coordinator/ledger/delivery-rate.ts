/** Recent speed of a key: exponentially decaying sums over its groups. */
export interface DeliveryRate {
  /** Time from the grant of a lease to the arrival of its group. */
  readonly ms: number
  /** Tokens sampled in that time. */
  readonly tokens: number
  /** Number of groups in all. */
  readonly groups: number
  /** Time of the verdict on the last of these groups. */
  readonly atMs: number
}

/** Time and tokens of a group, from its verdict. */
export interface TimedGroup {
  readonly tookMs?: number | undefined
  readonly sampledTokens: number
  readonly atMs: number
}

/** Approximate number of groups of a key that count: the machine may get another limit, or another GPU. */
const RATE_MEMORY = 4
/** Approximate number of groups of a run that count for the usual length: the policy changes over versions. */
const USUAL_MEMORY = 64

/** Updates the rate with an accepted group. Without its tokens or its time, the rate is unchanged. */
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

/** Updates the tokens of a usual group of the run with a verified group. @returns  null before the first one */
export function usualAfter(before: number | null, { sampledTokens }: Pick<TimedGroup, 'sampledTokens'>): number | null {
  if (sampledTokens === 0) return before
  return before === null ? sampledTokens : before + (sampledTokens - before) / USUAL_MEMORY
}
