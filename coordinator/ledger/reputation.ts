import { REFUSALS, type RefusalCode } from '../../proto/index.js'
import type { LogitErrorSums } from '../../rollout/verification/logit-error-sums.js'
import type { RunConfiguration } from './run-configuration.js'
import type { ReputationSnapshot } from './state-snapshot.js'
import { afterLogitErrors, isSteered, UNSTEERED } from './steering.js'
import { afterAudit, isBeyondChance, type Suspicion, UNSUSPECTED } from './suspicion.js'

const HOUR_MS = 3_600_000
/** Durations of a key's first quarantines. Every further quarantine is permanent. */
const QUARANTINES_MS = [HOUR_MS, 24 * HOUR_MS]

/** The part of a reputation that decides how many of a key's groups are audited. */
type Trust = Pick<Reputation, 'streak' | 'doubt' | 'isHeldBack'>

/**
 * Returns the share of a key's groups to audit. It is 1 for a new key and for one that is held back, and falls the longer a key was
 * honest. The share, and the number of groups that are all audited, doubles with every failed audit that is not outweighed yet.
 */
export const auditShare = (
  { streak, doubt, isHeldBack }: Trust,
  { probation, leastShare }: Pick<RunConfiguration['audit'], 'probation' | 'leastShare'>,
): number =>
  isHeldBack ? 1 : Math.min(1, 2 ** doubt * (streak < probation ? 1 : Math.max(leastShare, probation / streak)))

/** Reputation of a key that has delivered nothing yet. */
export const UNKNOWN: Trust = { streak: 0, doubt: 0, isHeldBack: false }

/** Reputation of a key, computed from the verdicts on its groups. */
export class Reputation {
  #streak = 0
  #suspicion = UNSUSPECTED
  #steering = UNSTEERED
  #quarantines = 0
  #until: number | null = Number.NEGATIVE_INFINITY
  /** Accepted groups that refusals have removed from its streak. */
  #forfeited = 0

  get snapshot(): ReputationSnapshot {
    const [streak, suspicion, steering] = [this.#streak, this.#suspicion, this.#steering]
    const [quarantines, forfeited] = [this.#quarantines, this.#forfeited]
    // JSON has no infinity.
    const until = this.#until === Number.NEGATIVE_INFINITY ? {} : { until: this.#until }
    return { streak, suspicion, steering, quarantines, forfeited, ...until }
  }

  static of({ streak, suspicion, steering, quarantines, forfeited, until }: ReputationSnapshot): Reputation {
    const reputation = new Reputation()
    reputation.#streak = streak
    reputation.#suspicion = suspicion
    reputation.#steering = steering
    reputation.#quarantines = quarantines
    reputation.#forfeited = forfeited
    if (until !== undefined) reputation.#until = until
    return reputation
  }

  accepted(audited: boolean): void {
    this.#streak += 1
    if (audited) this.#suspicion = afterAudit(this.#suspicion, false)
  }

  /** Notes a passed audit of a group that was accepted before. */
  passed(): void {
    this.#suspicion = afterAudit(this.#suspicion, false)
  }

  /** Notes a refusal. @returns  whether it casts doubt on earlier groups of the key */
  refused(code: RefusalCode, atMs: number): boolean {
    const { consequence } = REFUSALS[code]
    if (consequence === 'none') return false
    this.#forfeit()
    this.#suspicion = afterAudit(this.#suspicion, true)
    if (consequence === 'exclusion') this.#until = null
    else if (consequence === 'quarantine' || isBeyondChance(this.#suspicion)) this.#quarantine(atMs)
    return true
  }

  /**
   * Adds the measurements of a passed audit to those of earlier audits.
   * @returns  whether all of them together cast doubt on earlier groups of the key
   */
  addsUp(logitErrors: LogitErrorSums, atMs: number): boolean {
    this.#steering = afterLogitErrors(this.#steering, logitErrors)
    if (!isSteered(this.#steering)) return false
    this.#steering = UNSTEERED
    this.#forfeit()
    this.#suspicion = afterAudit(this.#suspicion, true)
    this.#quarantine(atMs)
    return true
  }

  /**
   * Restores the reputation. Ends a quarantine or exclusion, cancels the weight of failed audits, and counts the accepted groups
   * again that were removed from the streak. The key is then audited as rarely as if it had never been doubted. The number of its
   * failed audits stays on record.
   */
  absolve(): void {
    this.#streak += this.#forfeited
    this.#forfeited = 0
    this.#suspicion = { ...UNSUSPECTED, audits: this.#suspicion.audits, failures: this.#suspicion.failures }
    this.#steering = UNSTEERED
    this.#quarantines = 0
    this.#until = Number.NEGATIVE_INFINITY
  }

  /** Whether `absolve` would change anything. */
  get isBlemished(): boolean {
    return this.#forfeited > 0 || this.doubt > 0 || this.#quarantines > 0 || this.#until !== Number.NEGATIVE_INFINITY
  }

  /** Whether the key gets neither leases nor verdicts. */
  isQuarantined(nowMs: number): boolean {
    return this.#until === null || nowMs < this.#until
  }

  /** Whether its groups are held back and all audited: its sampling deviates so much that further audits have to rule out chance. */
  get isHeldBack(): boolean {
    return this.#steering.isHeldBack
  }

  /** End (ms) of the last quarantine; null: the key is excluded for good. */
  get quarantinedUntilMs(): number | null {
    return this.#until
  }

  /** Number of accepted groups since the last refusal that casts doubt. */
  get streak(): number {
    return this.#streak
  }

  /** Number of failed audits that passed audits have not outweighed, rounded up. */
  get doubt(): number {
    return Math.ceil(this.#suspicion.doubt)
  }

  /** Number of all audits, and of failed ones. */
  get record(): Pick<Suspicion, 'audits' | 'failures'> {
    return this.#suspicion
  }

  #forfeit(): void {
    this.#forfeited += this.#streak
    this.#streak = 0
  }

  #quarantine(atMs: number): void {
    // Groups that were in progress together count as one offence.
    if (this.isQuarantined(atMs)) return
    this.#until = this.#quarantines < QUARANTINES_MS.length ? atMs + QUARANTINES_MS[this.#quarantines]! : null
    this.#quarantines += 1
  }
}
