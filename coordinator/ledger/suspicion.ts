/**
 * Share of honest work that an audit may refuse: what calibrations promise (docs/verification.md). All that follows holds for a key
 * whose audits fail no more often than that.
 */
const FALSE_ALARMS = 0.005
/** Shares of failed audits that are told from it: a key that cheats now and then, often, and mostly. */
const CHEATING = [0.02, 0.1, 0.5]
/** An honest key is taken for one of these once in so many audits on average, or more seldom. */
const AUDITS_PER_FALSE_ALARM = 1e5

/** What the audits of a key's life have left, see `afterAudit`. */
export interface Suspicion {
  readonly audits: number
  readonly failures: number
  /** Failed audits that those which passed have not made good: one takes 200. */
  readonly doubt: number
  /** For each share of cheating the natural logarithm of its odds against honest work, from the moment that speaks most for it. */
  readonly odds: readonly number[]
}

export const UNSUSPECTED: Suspicion = { audits: 0, failures: 0, doubt: 0, odds: CHEATING.map(() => 0) }

/**
 * Both memories are as long as the key's life, and neither is a credit: honest work outweighs failures before it and none after
 * it, so a key cannot save up for the day on which it begins to cheat.
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
 * Whether the failures are beyond chance. Each of the odds is a CUSUM (Page 1954), which is at most the sum of the likelihood
 * ratios from every earlier audit on; for an honest key that sum has the mean n after n audits, so the mean time to an alarm is
 * at least the threshold (Lorden 1971), and the same holds for their average.
 */
export const isBeyondChance = ({ odds }: Pick<Suspicion, 'odds'>): boolean =>
  odds.reduce((sum, nats) => sum + Math.exp(nats), 0) / odds.length >= AUDITS_PER_FALSE_ALARM
