/**
 * Share of honest groups that an audit may refuse, as calibrations promise (docs/explain/verification.md). All thresholds assume a key
 * whose audits fail no more often.
 */
const FALSE_ALARMS = 0.005
/** Shares of failed audits that are distinguished from it: a key that cheats occasionally, often, and mostly. */
const CHEATING = [0.02, 0.1, 0.5]
/** Mean number of audits until an honest key is taken for one of these, at least. */
const AUDITS_PER_FALSE_ALARM = 1e5

/** Evidence from all audits of a key, see `afterAudit`. */
export interface Suspicion {
  readonly audits: number
  readonly failures: number
  /** Failed audits that passed audits have not outweighed. One failure takes 200 passed audits. */
  readonly doubt: number
  /** For each share of cheating, the natural logarithm of its odds against honest work, since the moment at which they were largest. */
  readonly odds: readonly number[]
}

export const UNSUSPECTED: Suspicion = { audits: 0, failures: 0, doubt: 0, odds: CHEATING.map(() => 0) }

/**
 * Adds an audit. Both memories cover the key's whole life, and neither can become a credit. Honest work outweighs earlier failures
 * but no later ones. So a key cannot save up for the day on which it begins to cheat.
 */
export function afterAudit({ audits, failures, doubt, odds }: Suspicion, failed: boolean): Suspicion {
  return {
    audits: audits + 1,
    failures: failures + (failed ? 1 : 0),
    doubt: Math.max(0, doubt + (failed ? 1 : 0) - FALSE_ALARMS),
    odds: odds.map((nats, i) => {
      const share = CHEATING[i]!
      return Math.max(0, nats + Math.log(failed ? share / FALSE_ALARMS : (1 - share) / (1 - FALSE_ALARMS)))
    }),
  }
}

/**
 * Returns whether the failures are beyond chance. Each of the odds is a CUSUM (Page 1954), which is at most the sum of the likelihood
 * ratios from every earlier audit on. For an honest key that sum has the mean n after n audits. So the mean time to an alarm is
 * at least the threshold (Lorden 1971). The same is true of the average of the odds.
 */
export const isBeyondChance = ({ odds }: Pick<Suspicion, 'odds'>): boolean =>
  odds.reduce((sum, nats) => sum + Math.exp(nats), 0) / odds.length >= AUDITS_PER_FALSE_ALARM
