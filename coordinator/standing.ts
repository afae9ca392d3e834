import { REFUSALS, type RefusalCode } from '../proto/index.js'

/** Groups of a key that are all audited, counted from its first or from its last refusal. */
const PROBATION = 20
/** No key is audited on fewer of its groups. */
const LEAST_SHARE = 0.1
/** Of so many audited groups, so many failed audits are no chance: at 0.5 % false refusals, one honest key in 7,000. */
const WINDOW = 20
const FAILURES = 3
const HOUR_MS = 3_600_000
/** Of a key's first quarantines; every further one is for good. */
const QUARANTINES_MS = [HOUR_MS, 24 * HOUR_MS]

/** What the coordinator thinks of a key, folded from the verdicts on its groups. */
export class Standing {
  /** Groups accepted since the last refusal that casts doubt. */
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

  /** Share of its groups to audit: all of a new key's, fewer the longer it was honest. */
  get auditShare(): number {
    return this.#streak < PROBATION ? 1 : Math.max(LEAST_SHARE, PROBATION / this.#streak)
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
