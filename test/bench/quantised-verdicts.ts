import { Reputation } from '../../coordinator/ledger/reputation.js'
import { expectedLogitError, sumLogitErrors } from '../../rollout/verification/logit-error-sums.js'
import { measureGroup, type SampledToken } from '../../rollout/verification/sampled-token.js'
import type { Calibration } from '../../rollout/verification/thresholds.js'
import { verifyStatistics } from '../../rollout/verification/verify-statistics.js'
import { seededRandom } from '../../servers/kernel/index.js'
import { areaUnderCurve } from '../../tasks/dataset/index.js'
import type { AuditedRollout, VolunteerEvidence } from './quantised-evidence.js'

type Claims = 'own' | 'true'
type Group = readonly AuditedRollout[]
type Random = ReturnType<typeof seededRandom>

/** Numbers of windows, and of simulated keys. */
const WINDOWS = 400
const KEYS = 1000
/** Groups after which a simulated key has escaped. */
export const MOST_GROUPS = 60

/** Replaces the claims by those of the announced policy. */
const claiming = (claims: Claims, tokens: readonly SampledToken[]): readonly SampledToken[] =>
  claims === 'own' ? tokens : tokens.map((token) => ({ ...token, claimed: token.logp }))

/** A run of tokens of several rollouts, in nats per unit of what they could be off by. */
interface Window {
  readonly claims: number
  readonly draws: number
  readonly misses: number
}

/** Draws windows of exactly `size` tokens from rollouts in random order. Large windows overlap each other. */
function windowsOf({ groups }: VolunteerEvidence, size: number, random: Random): Window[] {
  const rollouts = groups.flat()
  return Array.from({ length: WINDOWS }, () => {
    const tokens: SampledToken[] = []
    const left = [...rollouts]
    while (tokens.length < size && left.length > 0) {
      const [rollout] = left.splice(random.int(0, left.length - 1), 1)
      // Begins anywhere, so that short windows do not consist of first turns only.
      const from = random.int(0, Math.max(0, rollout!.tokens.length - 1))
      tokens.push(...rollout!.tokens.slice(tokens.length + rollout!.tokens.length > size ? from : 0))
    }
    const { deviation, sensitivity, logitError, misses } = measureGroup(tokens.slice(0, size)).all
    return { claims: deviation / sensitivity, draws: logitError, misses }
  })
}

/** How well windows of so many tokens tell a volunteer from an honest one. */
export interface Separation {
  readonly tokens: number
  /** Areas under the ROC curve: of the claims that the volunteer's engine computed, and of the draws alone. */
  readonly claims: number
  readonly draws: number
  /** Shares of windows without any token that its draw does not select. No test on draws can find such a window. */
  readonly spotless: { readonly honest: number; readonly volunteer: number }
}

export function separations(
  honest: VolunteerEvidence,
  volunteer: VolunteerEvidence,
  sizes: readonly number[],
): Separation[] {
  return sizes.map((tokens) => {
    const random = seededRandom(tokens)
    const [usual, other] = [windowsOf(honest, tokens, random), windowsOf(volunteer, tokens, random)]
    const area = (of: 'claims' | 'draws'): number =>
      areaUnderCurve(
        other.map((window) => window[of]),
        usual.map((window) => window[of]),
      )
    const spotless = (windows: readonly Window[]): number =>
      windows.filter(({ misses }) => misses === 0).length / windows.length
    return {
      ...{ tokens, claims: area('claims'), draws: area('draws') },
      spotless: { honest: spotless(usual), volunteer: spotless(other) },
    }
  })
}

/** What becomes of keys whose groups are all audited before they may be trained on, as those of a new key. */
export interface KeyFates {
  /** Share of single groups that are refused. */
  readonly refused: number
  /** Shares of keys that are held back, or quarantined, within three groups and within `MOST_GROUPS`. */
  readonly stoppedWithin3: number
  readonly stopped: number
  /** Groups until then, median; null: more than half of the keys escape. */
  readonly median: number | null
  /** Groups that a batch may have taken until then, mean. */
  readonly trained: number
}

interface Outcome {
  readonly code: 'logprob_mismatch' | 'sampler_mismatch' | 'implausible_end' | null
  readonly sums: ReturnType<typeof sumLogitErrors>
}

/** Simulates keys whose groups are drawn from those of a volunteer. */
export function fatesOf({ groups }: VolunteerEvidence, claims: Claims, calibration: Calibration): KeyFates {
  const law = expectedLogitError(calibration)
  const outcomes = groups.map((group): Outcome => {
    const tokens = claiming(claims, tokensOf(group))
    const finding = verifyStatistics(measureGroup(tokens), calibration.thresholds)
    const rollouts = group.map(({ tokens: own, reward }) => ({ sampled: own.length, reward }))
    return { code: finding.accepted ? null : finding.code, sums: sumLogitErrors(tokens, rollouts, law) }
  })
  const random = seededRandom(7)
  const fates = Array.from({ length: KEYS }, () => fateOf(() => outcomes[random.int(0, outcomes.length - 1)]!))
  const stops = fates.map(({ stoppedAt }) => stoppedAt).sort((a, b) => a - b)
  const within = (most: number): number => stops.filter((at) => at <= most).length / KEYS
  const median = stops[KEYS / 2]!
  return {
    refused: outcomes.filter(({ code }) => code !== null).length / outcomes.length,
    stoppedWithin3: within(3),
    stopped: within(MOST_GROUPS),
    median: Number.isFinite(median) ? median : null,
    trained: fates.reduce((sum, fate) => sum + fate.trained, 0) / KEYS,
  }
}

function fateOf(next: () => Outcome): { readonly stoppedAt: number; readonly trained: number } {
  const reputation = new Reputation()
  let trained = 0
  for (let i = 1; i <= MOST_GROUPS; i++) {
    const { code, sums } = next()
    if (code !== null) reputation.refused(code, 0)
    else {
      reputation.accepted(true)
      reputation.addsUp(sums, 0)
    }
    if (reputation.isQuarantined(0) || reputation.isHeldBack) return { stoppedAt: i, trained }
    if (code === null) trained += 1
  }
  return { stoppedAt: Number.POSITIVE_INFINITY, trained }
}

const tokensOf = (group: Group): SampledToken[] => group.flatMap(({ tokens }) => tokens)
