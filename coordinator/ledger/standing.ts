import { REFUSALS, type RefusalCode } from '../../proto/index.js'
import type { RunTerms } from './terms.js'

/** Of so many audited groups, so many failed audits are no chance: at 0.5 % false refusals, one honest key in 7,000. */
const WINDOW = 20
const FAILURES = 3
const HOUR_MS = 3_600_000
/** Of a key's first quarantines; every further one is for good. */
const QUARANTINES_MS = [HOUR_MS, 24 * HOUR_MS]

/** Share of a key's groups to audit: all of a new one's, fewer the longer it was honest. */
export const auditShare = (
  streak: number,
  { probation, leastShare }: Pick<RunTerms['audit'], 'probation' | 'leastShare'>,
): number => (streak < probation ? 1 : Math.max(leastShare, probation / streak))

/** What the coordinator thinks of a key, folded from the verdicts on its groups. */
export class Standing {
  #streak = 0
  /** Outcomes of its last audits, oldest first. */
  readonly #audits: boolean[] = []
  #quarantines = 0
  #until: number | null = Number.NEGATIVE_INFINITY

  accepted(audited: boolean): void {
    this.#streak += 1
    if (audited) this.#noteAudit(true)
  }

  /** @returns  whether the refusal casts doubt on what the key did before */
  refused(code: RefusalCode, atMs: number): boolean {
    const { consequence } = REFUSALS[code]
    if (consequence === 'none') return false
    this.#streak = 0
    if (consequence === 'audits') this.#noteAudit(false)
    const failures = this.#audits.filter((passed) => !passed).length
    if (consequence === 'quarantine' || failures >= FAILURES) this.#quarantine(atMs)
    return true
  }

  /** Gets no leases, and no verdicts. */
  isQuarantined(nowMs: number): boolean {
    return this.#until === null || nowMs < this.#until
  }

  /** When the last quarantine ends or has ended; null: never. */
  get quarantinedUntilMs(): number | null {
    return this.#until
  }

  /** Groups accepted since the last refusal that casts doubt, or since the first. */
  get streak(): number {
    return this.#streak
  }

  #quarantine(atMs: number): void {
    // Groups that were under way together are one offence.
    if (this.isQuarantined(atMs)) return
    this.#until = this.#quarantines < QUARANTINES_MS.length ? atMs + QUARANTINES_MS[this.#quarantines]! : null
    this.#quarantines += 1
    // What led to this quarantine does not lead to the next.
    this.#audits.length = 0
  }

  #noteAudit(passed: boolean): void {
    this.#audits.push(passed)
    if (this.#audits.length > WINDOW) this.#audits.shift()
  }
}
