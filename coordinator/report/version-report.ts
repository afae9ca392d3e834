import type { EventOf } from '../ledger/events.js'

/** What is known of a version and of the work that was done with it. */
export interface VersionReport {
  readonly version: number
  readonly publishedAtMs: number
  readonly adapterSha256: string
  /** Whether the step before it left the policy as it was. */
  readonly skipped: boolean
  /** Numbers of the step that made it, by their names in docs/trainer.md; none for the first, or where the log has none. */
  readonly stats: Readonly<Record<string, number>>
  readonly accepted: number
  /** Of the accepted groups: those without reward variance. */
  readonly flat: number
  readonly refused: number
  /** Mean over the rollouts of accepted groups; null before the first. */
  readonly reward: number | null
  /** Shares of the rollouts that were replayed, and calls of one; null before the first. */
  readonly solved: number | null
  readonly calls: number | null
  /** Sampled in groups that were replayed. */
  readonly tokens: number
}

/** Counts of one version, as its events come. */
export class VersionTally {
  readonly #published: EventOf<'published'>
  #step: EventOf<'trained'> | undefined
  #accepted = 0
  #flat = 0
  #refused = 0
  #rollouts = 0
  #reward = 0
  #replayed = 0
  #solved = 0
  #calls = 0
  #tokens = 0

  constructor(published: EventOf<'published'>) {
    this.#published = published
  }

  madeBy(step: EventOf<'trained'>): void {
    this.#step = step
  }

  judged(group: EventOf<'judged'>): void {
    if (group.accepted) this.#count(group, 1)
    else this.#refused += 1
  }

  /** An accepted group was refused by a later audit. */
  takenBack(group: EventOf<'judged'>): void {
    this.#count(group, -1)
    this.#refused += 1
  }

  #count({ flat, rewards, completions, solved, calls, sampledTokens }: EventOf<'judged'>, by: 1 | -1): void {
    this.#accepted += by
    this.#flat += by * Number(flat)
    this.#rollouts += by * rewards.length
    this.#reward += by * rewards.reduce((sum, reward) => sum + reward, 0)
    this.#replayed += by * completions.length
    this.#solved += by * solved
    this.#calls += by * calls
    this.#tokens += by * sampledTokens
  }

  report(): VersionReport {
    const { version, atMs, adapterSha256 } = this.#published
    const per = (sum: number, count: number): number | null => (count === 0 ? null : sum / count)
    return {
      version,
      publishedAtMs: atMs,
      adapterSha256,
      skipped: this.#step?.skipped ?? false,
      stats: this.#step?.stats ?? {},
      accepted: this.#accepted,
      flat: this.#flat,
      refused: this.#refused,
      reward: per(this.#reward, this.#rollouts),
      solved: per(this.#solved, this.#replayed),
      calls: per(this.#calls, this.#replayed),
      tokens: this.#tokens,
    }
  }
}
