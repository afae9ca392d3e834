import { z } from 'zod'
import { CodedError } from '../errors/index.js'
import { poissonUpper, quantile } from './chances.js'
import type { GroupStatistics, TokenStatistics } from './evidence.js'

/** A group with little room or evidence is judged as if it had brought so much that is as it should be. */
export const PRIOR = 5
/**
 * A group's mean may exceed the worst honest one of the calibration by this factor. Generous: a group of another policy is
 * a hundred times off, and a margin costs less than an honest group that happens to be worse than all before.
 */
const MEAN_MARGIN = 3
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

const tokenLimits = z.strictObject({
  /** Nats: mean disturbance, its honest expectation, and mean disturbance in the node's favour. */
  deviation: positive,
  usualDeviation: z.number().min(0),
  bias: positive,
  /** Nats: a claim beyond it is far, respectively gross; and far claims per unit of room. */
  farClaim: positive,
  grossClaim: positive,
  farClaimRate: positive,
  /** Nats: sum of the repairs per unit of evidence. */
  repair: positive,
  /** Misses per unit of evidence; nats for far and gross repairs; far repairs per unit of evidence. */
  missRate: positive,
  farRepair: positive,
  grossRepair: positive,
  farRepairRate: positive,
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

/** What thresholds are valid for: other weights, roundings and kernels disturb the logits differently. */
const subject = z.strictObject({
  baseSha256: z.string().regex(/^[0-9a-f]{64}$/),
  adapterSha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .nullable(),
  quantisation: z.string().min(1).max(32),
  backend: z.string().min(1).max(32),
  /** Name of the rule that tokens are drawn by. */
  draw: z.string().min(1).max(64),
  nodeLlamaCpp: z.string().min(1).max(32),
})
export type CalibrationSubject = z.output<typeof subject>

const shareSchema = z.strictObject({ count, of: count, share, low: share, high: share })

export const calibrationSchema = z.strictObject({
  schema: z.literal(2),
  subject,
  groups: count,
  sampledTokens: count,
  thresholds,
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
 * Thresholds from honest groups. Means get a margin over the worst honest group; single misses and far disturbances get a
 * rate, for a bound on how many an honest group may have.
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
  const room = sum(({ room }) => room)
  const evidence = sum(({ evidence }) => evidence)
  if (room === 0 || evidence === 0) throw new CalibrationError('too_few_groups', 'no tokens that could show anything')
  const usualDeviation = sum(({ deviation }) => deviation) / room
  const deviation = MEAN_MARGIN * worst((statistics) => meanDeviation(statistics, usualDeviation))
  const worstClaim = worst(({ claims }) => claims[0] ?? 0)
  const misses = sum(({ misses }) => misses)
  const measuredRepair = worst(({ repairs }) => repairs[0] ?? 0)
  // Few honest misses say little about how large a repair can be. It is half of the difference of two logits' errors, and such
  // a difference is what a claim's disturbance shows.
  const worstRepair = misses < ENOUGH_MISSES ? Math.max(measuredRepair, worstClaim / 2) : measuredRepair
  const farRepair = FAR * worstRepair
  // Should misses of a group come in clusters, a rate over all groups would not allow for it.
  const worstMissRate = worst(({ misses, evidence }) => misses / (evidence + PRIOR))
  const farRate = poissonUpper(0, RATE_CONFIDENCE)
  return {
    deviation,
    usualDeviation,
    // Where honest bias cancels by luck, a share of the allowed deviation is still no lie.
    bias: Math.max(MEAN_MARGIN * worst((statistics) => Math.abs(meanBias(statistics))), deviation / 10),
    farClaim: FAR * worstClaim,
    grossClaim: GROSS * worstClaim,
    farClaimRate: farRate / room,
    repair: Math.max(MEAN_MARGIN * worst(meanRepair), farRepair / (evidence / groups.length + PRIOR)),
    missRate: Math.max(worstMissRate, poissonUpper(misses, RATE_CONFIDENCE) / evidence),
    farRepair,
    grossRepair: GROSS * worstRepair,
    farRepairRate: farRate / evidence,
  }
}

/** Nats: by how much the logits are disturbed on average, as far as the claims show. */
export function meanDeviation({ deviation, room }: TokenStatistics, usual: number): number {
  return (deviation + PRIOR * usual) / (room + PRIOR)
}

/** Nats; positive when tokens are claimed to be likelier than they are, which is what sampling from another policy does. */
export function meanBias({ bias, room }: TokenStatistics): number {
  return bias / (room + PRIOR)
}

/** Nats per unit of evidence: by how much the logits would have to be off on average for the draws to select the tokens. */
export function meanRepair({ repair, evidence }: TokenStatistics): number {
  return repair / (evidence + PRIOR)
}

/** Quantiles of the honest groups' statistics, under the names of the file. */
export function describeHonest(groups: readonly GroupStatistics[]): Calibration['honest'] {
  const rows: Record<string, (group: GroupStatistics) => number> = {
    'sampled tokens': ({ all }) => all.tokens,
    'argument tokens': (group) => group.arguments.tokens,
    room: ({ all }) => all.room,
    evidence: ({ all }) => all.evidence,
    'mean deviation, nats': ({ all }) => all.deviation / all.room,
    'mean bias, nats': ({ all }) => all.bias / all.room,
    'largest claim disturbance, nats': ({ all }) => all.claims[0] ?? 0,
    misses: ({ all }) => all.misses,
    'mean repair, nats': ({ all }) => meanRepair(all),
    'largest repair, nats': ({ all }) => all.repairs[0] ?? 0,
    'least probable end, 1 - p': ({ leastEnd }) => 1 - leastEnd,
  }
  return Object.fromEntries(
    Object.entries(rows).map(([name, pick]) => {
      const values = groups.map(pick)
      return [name, Object.fromEntries(QUANTILES.map((q) => [q === 1 ? 'max' : String(q), quantile(values, q)]))]
    }),
  )
}
