import { REFUSALS, type RefusalCode } from '../../proto/index.js'
import type { LogitErrorSums } from '../../rollout/verification/logit-error-sums.js'
import type { RunConfiguration } from './run-configuration.js'
import type { ReputationSnapshot } from './state-snapshot.js'
import { afterLogitErrors, isSteered, UNSTEERED } from './steering.js'
import { afterAudit, isBeyondChance, type Suspicion, UNSUSPECTED } from './suspicion.js'

const HOUR_MS = 3_600_000
/** Of a key's first quarantines; every further one is for good. */
const QUARANTINES_MS = [HOUR_MS, 24 * HOUR_MS]

/** What decides how many of a key's groups are audited. */
type Trust = Pick<Reputation, 'streak' | 'doubt' | 'isHeldBack'>

/**
 * Share of a key's groups to audit: all of a new one's and of one whose groups wait, fewer the longer it was honest. It doubles, and with it
 * the time in which all are audited, with every failed audit that is not made good.
 */
export const auditShare = (
  { streak, doubt, isHeldBack }: Trust,
  { probation, leastShare }: Pick<RunConfiguration['audit'], 'probation' | 'leastShare'>,
): number =>
  isHeldBack ? 1 : Math.min(1, 2 ** doubt * (streak < probation ? 1 : Math.max(leastShare, probation / streak)))

/** What is thought of a key that has delivered nothing yet. */
export const UNKNOWN: Trust = { streak: 0, doubt: 0, isHeldBack: false }

/** What the coordinator thinks of a key, folded from the verdicts on its groups. */
export class Reputation {
  #streak = 0
  #suspicion = UNSUSPECTED
  #steering = UNSTEERED
  #quarantines = 0
  #until: number | null = Number.NEGATIVE_INFINITY
  /** Accepted groups that refusals have taken out of its streaks. */
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

  /** An audit has passed a group that was accepted before. */
  passed(): void {
    this.#suspicion = afterAudit(this.#suspicion, false)
  }

  /** @returns  whether the refusal casts doubt on what the key did before */
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
   * Adds what an audit that passed has measured to what those before it have.
   * @returns  whether the choices of all of them together cast doubt on what the key did before
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
   * Gives the key back what doubt has cost it: quarantine or exclusion end, failed audits weigh nothing any more, and the accepted groups
   * that it lost from its streak count again, so that it is audited as seldom as if it never had been doubted. How many audits of its life
   * failed stays on record.
   */
  absolve(): void {
    this.#streak += this.#forfeited
    this.#forfeited = 0
    this.#suspicion = { ...UNSUSPECTED, audits: this.#suspicion.audits, failures: this.#suspicion.failures }
    this.#steering = UNSTEERED
    this.#quarantines = 0
    this.#until = Number.NEGATIVE_INFINITY
  }

  /** Whether doubt has cost the key anything that `absolve` would give back. */
  get isBlemished(): boolean {
    return this.#forfeited > 0 || this.doubt > 0 || this.#quarantines > 0 || this.#until !== Number.NEGATIVE_INFINITY
  }

  /** Gets no leases, and no verdicts. */
  isQuarantined(nowMs: number): boolean {
    return this.#until === null || nowMs < this.#until
  }

  /** No batch takes its groups, and all are audited: its choices are off by so much that the next audits have to show whether by chance. */
  get isHeldBack(): boolean {
    return this.#steering.isHeldBack
  }

  /** When the last quarantine ends or has ended; null: never, the key is excluded. */
  get quarantinedUntilMs(): number | null {
    return this.#until
  }

  /** Groups accepted since the last refusal that casts doubt, or since the first. */
  get streak(): number {
    return this.#streak
  }

  /** Failed audits that are not made good, begun ones included. */
  get doubt(): number {
    return Math.ceil(this.#suspicion.doubt)
  }

  /** All audits of its life, and those of them that failed. */
  get record(): Pick<Suspicion, 'audits' | 'failures'> {
    return this.#suspicion
  }

  #forfeit(): void {
    this.#forfeited += this.#streak
    this.#streak = 0
  }

  #quarantine(atMs: number): void {
    // Groups that were under way together are one offence.
    if (this.isQuarantined(atMs)) return
    this.#until = this.#quarantines < QUARANTINES_MS.length ? atMs + QUARANTINES_MS[this.#quarantines]! : null
    this.#quarantines += 1
  }
}
