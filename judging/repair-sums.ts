import type { SampledToken } from './evidence.js'
import { type Calibration, CalibrationError, FAR, PRIOR } from './thresholds.js'

/**
 * What an audited group adds to the sums over all groups of its key. Choices among near ties stay below every limit of a single
 * group; added up they stand out, because honest repairs average out and are blind to the reward.
 */
export interface RepairSums {
  /** Sampled tokens. */
  readonly tokens: number
  /** Nats: the repairs of all tokens, what an honest group needs on average, and what the worst one needed. */
  readonly repair: number
  readonly expected: number
  readonly largest: number
  /** Nats²: of `repair`, for an honest group. */
  readonly variance: number
  /** Of `repair` the share, and of the evidence, in rollouts that earned more than the group's mean. */
  readonly betterRepair: number
  readonly betterEvidence: number
}

/** Honest repair per unit of evidence (nats): bounds of the mean, of the mean square, and of a single group's. */
export interface RepairExpectation {
  readonly mean: number
  readonly square: number
  readonly largest: number
}

/** Name of the honest groups' `meanRepair` in a calibration. */
const REPAIRS = 'mean repair, nats'

/**
 * What a calibration says of honest repairs. It holds quantiles, and no group is worse than the quantile above it: so the sums
 * that they bound are never below the true ones. Honest repairs are few, and none at all would promise that there will be
 * none: so one group more is counted, whose repair is the worst that the thresholds foresee.
 * @throws CalibrationError `bad_calibration` for one without these quantiles
 */
export function expectedRepair({
  honest,
  groups,
  thresholds,
}: Pick<Calibration, 'honest' | 'groups' | 'thresholds'>): RepairExpectation {
  const steps = Object.entries(honest[REPAIRS] ?? {})
    .map(([share, nats]) => ({ upTo: share === 'max' ? 1 : Number(share), nats }))
    .sort((a, b) => a.upTo - b.upTo)
  const worst = steps.at(-1)
  if (worst?.upTo !== 1) throw new CalibrationError('bad_calibration', `it has no quantiles of "${REPAIRS}"`)
  const further = thresholds.all.repair / FAR
  const mean = (of: (nats: number) => number): number => {
    const measured = steps.reduce((sum, { upTo, nats }, i) => sum + (upTo - (steps[i - 1]?.upTo ?? 0)) * of(nats), 0)
    return (groups * measured + of(further)) / (groups + 1)
  }
  return { mean: mean((nats) => nats), square: mean((nats) => nats ** 2), largest: Math.max(worst.nats, further) }
}

/**
 * @param tokens  the sampled ones of all rollouts, in order
 * @param rollouts  how many of them each has, and what it earned
 */
export function sumRepairs(
  tokens: readonly SampledToken[],
  rollouts: readonly { readonly sampled: number; readonly reward: number }[],
  { mean, square, largest }: RepairExpectation,
): RepairSums {
  const average = rollouts.reduce((sum, { reward }) => sum + reward, 0) / rollouts.length
  let at = 0
  const parts = rollouts.map(({ sampled, reward }) => {
    const own = tokens.slice(at, at + sampled)
    at += sampled
    return {
      isBetter: reward > average,
      repair: own.reduce((sum, token) => sum + token.repair, 0),
      evidence: own.reduce((sum, token) => sum + token.evidence, 0),
    }
  })
  const sum = (of: 'repair' | 'evidence', among = parts): number => among.reduce((total, part) => total + part[of], 0)
  const better = parts.filter(({ isBetter }) => isBetter)
  const shareOf = (of: 'repair' | 'evidence'): number => (sum(of) > 0 ? Math.min(1, sum(of, better) / sum(of)) : 0)
  // Calibrated is the repair per unit of evidence with so much more that needs none, see `meanRepair`.
  const units = sum('evidence') + PRIOR
  return {
    tokens: tokens.length,
    repair: sum('repair'),
    expected: mean * units,
    largest: largest * units,
    variance: Math.max(0, square - mean ** 2) * units ** 2,
    betterRepair: shareOf('repair'),
    betterEvidence: shareOf('evidence'),
  }
}
