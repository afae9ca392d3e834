import { z } from 'zod'
import { CodedError } from '../../common/errors/index.js'
import { poissonUpper, quantile } from './chances.js'
import { logitErrorTailSchema } from './logit-error-tail.js'
import type { GroupStatistics, TokenStatistics } from './sampled-token.js'

/** A group with little evidence is judged as if it had brought so much that is as it should be. */
export const PRIOR = 5
/**
 * A group's mean repair may exceed the worst honest one of the calibration by this factor. Generous: a group of another policy is
 * a hundred times off, and a margin costs less than an honest group that happens to be worse than all before.
 */
const LOGIT_ERROR_MARGIN = 3
/**
 * Policies that come, and machines other than the one that calibrated, may be so many times as far off on average. Another policy is
 * at least thirty times (docs/attackers.md).
 */
export const DRIFT = 2
/** A single disturbance counts as far beyond this many times the worst honest one, and as gross beyond that many. */
export const FAR = 2
const GROSS = 10
/** Honest misses from which on the largest repair is taken at its word. */
const ENOUGH_MISSES = 30
/** Of the rates that are measured, the upper bound of this confidence is used. */
const RATE_CONFIDENCE = 0.95
/** The tests that may refuse a group share the false refusals that are allowed for. */
const TESTS = 9
const QUANTILES = [0.5, 0.9, 0.99, 0.995, 1]

const positive = z.number().positive()
const count = z.int().min(0)
const share = z.number().min(0).max(1)

const spread = z.strictObject({
  /** Nats per unit of room. */
  usual: z.number().min(0),
  /** Nats² per unit of room, of the tokens of a group; nats² per square unit, of what its tokens have in common. */
  within: z.number().min(0),
  between: z.number().min(0),
})
/** How a sum over the tokens of an honest group is distributed: what it is on average, and the parts of its variance. */
export type Spread = z.output<typeof spread>

const tokenLimits = z.strictObject({
  /** Of what claims are off, and of what they are off in the node's favour. */
  deviation: spread,
  bias: spread,
  /** Nats: a claim beyond it is far, respectively gross; and far claims per unit of room. */
  farClaim: positive,
  grossClaim: positive,
  farClaimRate: positive,
  /** Nats: sum of the repairs per unit of evidence. */
  logitError: positive,
  /** Misses per unit of evidence; nats for far and gross repairs; far repairs per unit of evidence. */
  missRate: positive,
  farLogitError: positive,
  grossLogitError: positive,
  farLogitErrorRate: positive,
})
export type TokenLimits = z.output<typeof tokenLimits>

const thresholds = z.strictObject({
  /** Chance with which an honest group may fail one test that is a chance. */
  level: share,
  all: tokenLimits,
  arguments: tokenLimits,
})
export type Thresholds = z.output<typeof thresholds>

const quantiles = z.record(z.string(), z.number())

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)

/** What thresholds are valid for: other weights, roundings and kernels disturb the logits differently. */
const subject = z.strictObject({
  baseSha256: sha256,
  /** SHA-256 of the adapters that were calibrated besides the bare base. */
  adapters: z.array(sha256).max(64),
  quantisation: z.string().min(1).max(32),
  backend: z.string().min(1).max(32),
  /** Name of the rule that tokens are drawn by. */
  draw: z.string().min(1).max(64),
  nodeLlamaCpp: z.string().min(1).max(32),
})
export type CalibrationSubject = z.output<typeof subject>

const shareSchema = z.strictObject({ count, of: count, share, low: share, high: share })

export const calibrationSchema = z.strictObject({
  schema: z.literal(4),
  subject,
  groups: count,
  sampledTokens: count,
  thresholds,
  logitErrorTail: logitErrorTailSchema,
  /** Of the honest groups' statistics, for readers; `max` is the worst. */
  honest: z.record(z.string(), quantiles),
  falseRefusals: z.strictObject({
    /** Allowed share, and the confidence of the interval. */
    goal: share,
    confidence: share,
    /** Honest groups refused by thresholds that were fitted to others. */
    measured: shareSchema,
    byCode: z.record(z.string(), count),
  }),
})
export type Calibration = z.output<typeof calibrationSchema>

export class CalibrationError extends CodedError<'bad_calibration' | 'too_few_groups'> {}

/** @throws CalibrationError `bad_calibration` naming the fields */
export function parseCalibration(text: string): Calibration {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new CalibrationError('bad_calibration', (cause as Error).message, { cause })
  }
  const parsed = calibrationSchema.safeParse(value)
  if (!parsed.success) throw new CalibrationError('bad_calibration', z.prettifyError(parsed.error))
  return parsed.data
}

/**
 * Thresholds from honest groups. Sums of claims get what makes a bound for any number of tokens, see `sumLimit`; the mean repair a
 * margin over the worst honest group; single misses and far disturbances a rate, for a bound on how many an honest group may have.
 * @param goal  share of honest groups that may be refused
 * @throws CalibrationError `too_few_groups`
 */
export function fitThresholds(groups: readonly GroupStatistics[], goal: number): Thresholds {
  if (groups.length < 2) throw new CalibrationError('too_few_groups', `${groups.length} groups show no spread`)
  const level = goal / TESTS
  return {
    level,
    all: fitLimits(groups.map(({ all }) => all)),
    arguments: fitLimits(groups.map((group) => group.arguments)),
  }
}

function fitLimits(groups: readonly TokenStatistics[]): TokenLimits {
  const sum = (pick: (statistics: TokenStatistics) => number): number =>
    groups.reduce((total, statistics) => total + pick(statistics), 0)
  const worst = (pick: (statistics: TokenStatistics) => number): number => Math.max(...groups.map(pick))
  const sensitivity = sum(({ sensitivity }) => sensitivity)
  const expectedMismatch = sum(({ expectedMismatch }) => expectedMismatch)
  if (sensitivity === 0 || expectedMismatch === 0)
    throw new CalibrationError('too_few_groups', 'no tokens that could show anything')
  const worstClaim = worst(({ claims }) => claims[0] ?? 0)
  const misses = sum(({ misses }) => misses)
  const measuredLogitError = worst(({ logitErrors }) => logitErrors[0] ?? 0)
  // Few honest misses say little about how large a repair can be. It is half of the difference of two logits' errors, and such
  // a difference is what a claim's disturbance shows.
  const worstLogitError = misses < ENOUGH_MISSES ? Math.max(measuredLogitError, worstClaim / 2) : measuredLogitError
  const farLogitError = FAR * worstLogitError
  // Should misses of a group come in clusters, a rate over all groups would not allow for it.
  const worstMissRate = worst(({ misses, expectedMismatch }) => misses / (expectedMismatch + PRIOR))
  const farRate = poissonUpper(0, RATE_CONFIDENCE)
  return {
    deviation: fitSpread(groups, ({ deviation }) => deviation, sum(({ deviation }) => deviation) / sensitivity),
    // Which way claims are off differs from policy to policy, so their bias is spread about nothing.
    bias: fitSpread(groups, ({ bias }) => bias, 0),
    farClaim: FAR * worstClaim,
    grossClaim: GROSS * worstClaim,
    farClaimRate: farRate / sensitivity,
    logitError: Math.max(
      LOGIT_ERROR_MARGIN * worst(meanLogitError),
      farLogitError / (expectedMismatch / groups.length + PRIOR),
    ),
    missRate: Math.max(worstMissRate, poissonUpper(misses, RATE_CONFIDENCE) / expectedMismatch),
    farLogitError,
    grossLogitError: GROSS * worstLogitError,
    farLogitErrorRate: farRate / expectedMismatch,
  }
}

/**
 * Splits the variance of a sum by the moments of its means: least squares of the groups' squared distances from `usual`, over the
 * inverse of their room, without a part below 0.
 */
function fitSpread(
  groups: readonly TokenStatistics[],
  pick: (statistics: TokenStatistics) => number,
  usual: number,
): Spread {
  const points = groups
    .filter(({ sensitivity }) => sensitivity > 0)
    .map((group) => ({ x: 1 / group.sensitivity, y: (pick(group) / group.sensitivity - usual) ** 2 }))
  // A group of little room says little of what its tokens have in common, and its squares are the largest.
  const weight = ({ x }: { readonly x: number }): number => 1 / x ** 2
  const mean = (of: (point: { readonly x: number; readonly y: number }) => number): number =>
    points.reduce((sum, point) => sum + weight(point) * of(point), 0) /
    points.reduce((sum, point) => sum + weight(point), 0)
  const [x, y] = [mean((point) => point.x), mean((point) => point.y)]
  const slope = mean((point) => (point.x - x) * (point.y - y)) / mean((point) => (point.x - x) ** 2)
  const isZeroVariance = !(slope > 0)
  if (isZeroVariance) return { usual, within: 0, between: y }
  if (slope * x > y) return { usual, within: y / x, between: 0 }
  return { usual, within: slope, between: y - slope * x }
}

/**
 * The largest that a sum over the tokens of an honest group is but for a chance of `level` (Bernstein's inequality, for any number of
 * tokens): its mean, more the longer the group is; its spread, of which the part of single tokens averages out in a long group; and
 * some single tokens which are far off, which weigh on a short group alone. Tokens that are farther off than `largest` are tested one by one.
 * @param sensitivity  of the group
 * @param largest  nats: what one token may add
 * @returns nats
 */
export function sumLimit(
  { usual, within, between }: Spread,
  sensitivity: number,
  largest: number,
  level: number,
): number {
  const chance = -Math.log(level)
  const variance = within * sensitivity + between * sensitivity ** 2
  return DRIFT * (usual * sensitivity + Math.sqrt(2 * chance * variance)) + (largest * chance) / 3
}

/** Nats per unit of evidence: by how much the logits would have to be off on average for the draws to select the tokens. */
export function meanLogitError({ logitError, expectedMismatch }: TokenStatistics): number {
  return logitError / (expectedMismatch + PRIOR)
}

/** Quantiles of the honest groups' statistics, under the names of the file. */
export function describeHonest(groups: readonly GroupStatistics[]): Calibration['honest'] {
  const rows: Record<string, (group: GroupStatistics) => number> = {
    'sampled tokens': ({ all }) => all.tokens,
    'argument tokens': (group) => group.arguments.tokens,
    sensitivity: ({ all }) => all.sensitivity,
    audit: ({ all }) => all.expectedMismatch,
    'mean deviation, nats': ({ all }) => all.deviation / all.sensitivity,
    'mean bias, nats': ({ all }) => all.bias / all.sensitivity,
    'largest claim disturbance, nats': ({ all }) => all.claims[0] ?? 0,
    misses: ({ all }) => all.misses,
    'mean logit error, nats': ({ all }) => meanLogitError(all),
    'largest logit error, nats': ({ all }) => all.logitErrors[0] ?? 0,
    'least probable end, 1 - p': ({ leastEnd }) => 1 - leastEnd,
  }
  return Object.fromEntries(
    Object.entries(rows).map(([name, pick]) => {
      const values = groups.map(pick)
      return [name, Object.fromEntries(QUANTILES.map((q) => [q === 1 ? 'max' : String(q), quantile(values, q)]))]
    }),
  )
}
