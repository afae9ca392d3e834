import { z } from 'zod'
import { CodedError } from '../../common/errors/index.js'
import { poissonUpper, quantile } from './chances.js'
import { logitErrorTailSchema } from './logit-error-tail.js'
import type { GroupStatistics, TokenStatistics } from './sampled-token.js'

/** Prior in units of expected mismatch without logit error, which is added to each group so that small groups do not stand out. */
export const PRIOR = 5
/**
 * Factor by which a group's mean logit error may exceed the worst honest one of the calibration. It is generous: another policy exceeds
 * it a hundredfold, and a margin costs less than the refusal of an honest group that is worse than all before.
 */
const LOGIT_ERROR_MARGIN = 3
/**
 * Factor by which later policies, and other machines than the calibrating one, may be further off on average. Wrong policies are at
 * least thirty times further off (docs/explain/attackers.md).
 */
export const DRIFT = 2
/** A single disturbance is far beyond `FAR` times the worst honest one, and gross beyond `GROSS` times. */
export const FAR = 2
const GROSS = 10
/** Number of honest misses from which the largest logit error is representative. */
const ENOUGH_MISSES = 30
/** Confidence of the upper bounds of measured rates. */
const RATE_CONFIDENCE = 0.95
/** Number of tests that may refuse a group. They share the allowed rate of false refusals. */
const TESTS = 9
const QUANTILES = [0.5, 0.9, 0.99, 0.995, 1]

const positive = z.number().positive()
const count = z.int().min(0)
const share = z.number().min(0).max(1)

const spread = z.strictObject({
  /** Mean, in nats per unit of sensitivity. */
  usual: z.number().min(0),
  /** Variance of independent tokens, in nats² per unit of sensitivity, and of their common part, in nats² per square unit. */
  within: z.number().min(0),
  between: z.number().min(0),
})
/** Distribution of a sum over the tokens of an honest group: its mean and the parts of its variance. */
export type Spread = z.output<typeof spread>

const tokenLimits = z.strictObject({
  /** Of the absolute and of the signed difference between claims and recomputed log-probabilities. */
  deviation: spread,
  bias: spread,
  /** Limits of far and gross claims in nats, and far claims per unit of sensitivity. */
  farClaim: positive,
  grossClaim: positive,
  farClaimRate: positive,
  /** Sum of the logit errors, in nats per unit of expected mismatch. */
  logitError: positive,
  /** Misses per unit of expected mismatch; limits of far and gross logit errors in nats; far ones per unit of expected mismatch. */
  missRate: positive,
  farLogitError: positive,
  grossLogitError: positive,
  farLogitErrorRate: positive,
})
export type TokenLimits = z.output<typeof tokenLimits>

const thresholds = z.strictObject({
  /** Probability with which an honest group may fail one statistical test. */
  level: share,
  all: tokenLimits,
  arguments: tokenLimits,
})
export type Thresholds = z.output<typeof thresholds>

const quantiles = z.record(z.string(), z.number())

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)

/** The scope of thresholds: other weights, roundings and kernels disturb the logits differently. */
const subject = z.strictObject({
  baseSha256: sha256,
  /** SHA-256 of the calibrated adapters, besides the bare base. */
  adapters: z.array(sha256).max(64),
  quantisation: z.string().min(1).max(32),
  backend: z.string().min(1).max(32),
  /** Name of the sampling rule, see `DRAW`. */
  draw: z.string().min(1).max(64),
  nodeLlamaCpp: z.string().min(1).max(32),
})
export type CalibrationSubject = z.output<typeof subject>

const shareSchema = z.strictObject({ count, of: count, share, low: share, high: share })

export const calibrationSchema = z.strictObject({
  schema: z.literal(5),
  subject,
  groups: count,
  sampledTokens: count,
  thresholds,
  logitErrorTail: logitErrorTailSchema,
  /** How far the engine was from the reference scores of canaries; null: not measured, so a wide tolerance applies. */
  canary: z
    .strictObject({
      /** Number of canaries, and of the policies under which each was scored: the base, and adapters of the subject. */
      canaries: z.int().min(1),
      policies: z.int().min(1),
      /** Number of scored tokens. */
      tokens: count,
      /** Largest mean of a canary, and largest difference of a token, in nats. */
      worstMean: z.number().min(0),
      worstToken: z.number().min(0),
    })
    .nullable(),
  /** Quantiles of the honest groups' statistics, for readers; `max` is the worst. */
  honest: z.record(z.string(), quantiles),
  falseRefusals: z.strictObject({
    /** Allowed share, and the confidence of the interval. */
    goal: share,
    confidence: share,
    /** Honest groups that thresholds from other groups refuse. */
    measured: shareSchema,
    byCode: z.record(z.string(), count),
  }),
})
export type Calibration = z.output<typeof calibrationSchema>

export class CalibrationError extends CodedError<'bad_calibration' | 'too_few_groups'> {}

/** Parses a calibration. @throws CalibrationError `bad_calibration`, which names the fields */
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
 * Fits thresholds to honest groups. Sums of claims get a distribution, see `sumLimit`. The mean logit error gets a margin over the worst
 * honest group. Single misses and far disturbances get a rate, which bounds their number in an honest group.
 * @param goal  share of honest groups that may be refused
 * @throws CalibrationError `too_few_groups`
 */
export function fitThresholds(groups: readonly GroupStatistics[], goal: number): Thresholds {
  if (groups.length < 2)
    throw new CalibrationError(
      'too_few_groups',
      `${groups.length} groups are too few to measure a spread: calibrate with at least 2`,
    )
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
    throw new CalibrationError('too_few_groups', 'the groups have no sensitive tokens: calibrate with more groups')
  const worstClaim = worst(({ claims }) => claims[0] ?? 0)
  const misses = sum(({ misses }) => misses)
  const measuredLogitError = worst(({ logitErrors }) => logitErrors[0] ?? 0)
  // Few honest misses do not show the largest logit error. It is half of the difference between two logits' errors, and the
  // disturbance of a claim shows such a difference.
  const worstLogitError = misses < ENOUGH_MISSES ? Math.max(measuredLogitError, worstClaim / 2) : measuredLogitError
  const farLogitError = FAR * worstLogitError
  // A rate over all groups would not allow for misses that cluster in one group.
  const worstMissRate = worst(({ misses, expectedMismatch }) => misses / (expectedMismatch + PRIOR))
  const farRate = poissonUpper(0, RATE_CONFIDENCE)
  return {
    deviation: fitSpread(groups, ({ deviation }) => deviation, sum(({ deviation }) => deviation) / sensitivity),
    // The sign of the bias differs between policies, so its mean is 0.
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
 * Splits the variance of a sum by the method of moments: least squares of the groups' squared distances from `usual`, over the
 * inverse of their sensitivity, with non-negative parts.
 */
function fitSpread(
  groups: readonly TokenStatistics[],
  pick: (statistics: TokenStatistics) => number,
  usual: number,
): Spread {
  const points = groups
    .filter(({ sensitivity }) => sensitivity > 0)
    .map((group) => ({ x: 1 / group.sensitivity, y: (pick(group) / group.sensitivity - usual) ** 2 }))
  // A group of low sensitivity shows little of the common part, and has the largest squares.
  const weight = ({ x }: { readonly x: number }): number => 1 / x ** 2
  const mean = (of: (point: { readonly x: number; readonly y: number }) => number): number =>
    points.reduce((sum, point) => sum + weight(point) * of(point), 0) /
    points.reduce((sum, point) => sum + weight(point), 0)
  const [x, y] = [mean((point) => point.x), mean((point) => point.y)]
  const slope = mean((point) => (point.x - x) * (point.y - y)) / mean((point) => (point.x - x) ** 2)
  if (!(slope > 0)) return { usual, within: 0, between: y }
  if (slope * x > y) return { usual, within: y / x, between: 0 }
  return { usual, within: slope, between: y - slope * x }
}

/**
 * Returns the limit that a sum over the tokens of an honest group exceeds with probability `level` (Bernstein's inequality, for any number
 * of tokens). It is the sum of the mean, the spread and an allowance for single tokens that are far off. The part of the spread from single
 * tokens averages out in long groups. The allowance matters in short groups only. Tokens beyond `largest` are tested one by one.
 * @param sensitivity  of the group
 * @param largest  contribution of one token, in nats
 * @returns  the limit in nats
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

/** Returns the mean logit error with which the draws select the tokens, in nats per unit of expected mismatch. */
export function meanLogitError({ logitError, expectedMismatch }: TokenStatistics): number {
  return logitError / (expectedMismatch + PRIOR)
}

/** Returns quantiles of the honest groups' statistics, under their names in the calibration file. */
export function describeHonest(groups: readonly GroupStatistics[]): Calibration['honest'] {
  const rows: Record<string, (group: GroupStatistics) => number> = {
    'sampled tokens': ({ all }) => all.tokens,
    'argument tokens': (group) => group.arguments.tokens,
    sensitivity: ({ all }) => all.sensitivity,
    'expected mismatch': ({ all }) => all.expectedMismatch,
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
