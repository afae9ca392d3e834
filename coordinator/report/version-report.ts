import type { EventOf } from '../ledger/events.js'

/** What is known of a version and of the work that was done with it. */
export interface VersionReport {
  readonly version: number
  readonly publishedAtMs: number
  readonly adapterSha256: string
  /** Whether the step before it left the policy as it was. */
  readonly skipped: boolean
  /** Why it did; null: it did not, or the log does not say. */
  readonly skippedFor: string | null
  /** Whether it has given way to the policy of an earlier version: nothing is trained on its groups any more. */
  readonly withdrawn: boolean
  /** The step that made it; null for the first version. */
  readonly step: number | null
  /** How many versions the groups of that step were behind, on average; null where there was none. */
  readonly staleness: number | null
  /** Numbers of the step that made it, by their names in docs/trainer.md; none for the first, or where the log has none. */
  readonly stats: Readonly<Record<string, number>>
  readonly accepted: number
  /** Of the accepted groups: those without reward variance. */
  readonly zeroVariance: number
  readonly refused: number
  /** Mean over the rollouts of accepted groups; null before the first. */
  readonly reward: number | null
  /** Means of the reward's parts over the rollouts of accepted groups that have them, by name. */
  readonly parts: Readonly<Record<string, number>>
  /** Shares of the rollouts that were replayed, and calls of one; null before the first. */
  readonly solved: number | null
  readonly calls: number | null
  /** Sampled in groups that were replayed. */
  readonly tokens: number
  /** What the coordinator found of it on tasks that nobody trains on; null: it has no score. */
  readonly heldOut: HeldOutScore | null
}

export type HeldOutScore = Pick<EventOf<'scored'>, 'tasks' | 'tooLong' | 'reward' | 'solved' | 'calls' | 'callsDue'>

/** What a version counts of an accepted group: all that has to be remembered to take it back. */
export type CountedGroup = Pick<
  EventOf<'judged'>,
  'version' | 'zeroVariance' | 'solved' | 'calls' | 'sampledTokens'
> & {
  readonly rollouts: number
  /** Sum over them. */
  readonly reward: number
  readonly replayed: number
  readonly parts: Readonly<Record<string, number>>
}

export const countedOf = (group: EventOf<'judged'>): CountedGroup => {
  const { version, zeroVariance, solved, calls, sampledTokens, rewards, completions, rewardParts } = group
  return {
    ...{ version, zeroVariance, solved, calls, sampledTokens },
    rollouts: rewards.length,
    reward: rewards.reduce((sum, reward) => sum + reward, 0),
    replayed: completions.length,
    parts: rewardParts ?? {},
  }
}

/** Counts of one version, as its events come. */
export class VersionTally {
  readonly #published: EventOf<'published'>
  #step: EventOf<'trained'> | undefined
  #staleness: number | null = null
  #withdrawn = false
  #score: HeldOutScore | null = null
  #accepted = 0
  #zeroVariance = 0
  #refused = 0
  #rollouts = 0
  #reward = 0
  #replayed = 0
  #solved = 0
  #calls = 0
  #tokens = 0
  readonly #parts = new Map<string, { sum: number; rollouts: number }>()

  constructor(published: EventOf<'published'>) {
    this.#published = published
  }

  /** A later version was published, which may have an earlier adapter. */
  giveWayTo({ adapterStep }: Pick<EventOf<'published'>, 'adapterStep'>): void {
    if (this.#published.adapterStep > adapterStep) this.#withdrawn = true
  }

  /** @param staleness  of its groups, in versions, on average; null: not known */
  madeBy(step: EventOf<'trained'>, staleness: number | null): void {
    this.#step = step
    this.#staleness = staleness
  }

  scored({ tasks, tooLong, reward, solved, calls, callsDue }: EventOf<'scored'>): void {
    this.#score = { tasks, tooLong, reward, solved, calls, callsDue }
  }

  accepted(group: CountedGroup): void {
    this.#count(group, 1)
  }

  refused(): void {
    this.#refused += 1
  }

  /** An accepted group was refused by a later audit. */
  takenBack(group: CountedGroup): void {
    this.#count(group, -1)
    this.#refused += 1
  }

  #count(
    { zeroVariance, rollouts, reward, replayed, solved, calls, sampledTokens, parts }: CountedGroup,
    by: 1 | -1,
  ): void {
    this.#accepted += by
    this.#zeroVariance += by * Number(zeroVariance)
    this.#rollouts += by * rollouts
    this.#reward += by * reward
    this.#replayed += by * replayed
    this.#solved += by * solved
    this.#calls += by * calls
    this.#tokens += by * sampledTokens
    for (const [name, mean] of Object.entries(parts)) {
      const part = this.#parts.get(name) ?? { sum: 0, rollouts: 0 }
      part.sum += by * mean * replayed
      part.rollouts += by * replayed
      this.#parts.set(name, part)
    }
  }

  report(): VersionReport {
    const { version, atMs, adapterSha256 } = this.#published
    const per = (sum: number, count: number): number | null => (count === 0 ? null : sum / count)
    return {
      version,
      publishedAtMs: atMs,
      adapterSha256,
      skipped: this.#step?.skipped ?? false,
      skippedFor: this.#step?.reason ?? null,
      withdrawn: this.#withdrawn,
      step: this.#step?.step ?? null,
      staleness: this.#staleness,
      stats: this.#step?.stats ?? {},
      accepted: this.#accepted,
      zeroVariance: this.#zeroVariance,
      refused: this.#refused,
      reward: per(this.#reward, this.#rollouts),
      parts: Object.fromEntries(
        [...this.#parts].flatMap(([name, { sum, rollouts }]) => (rollouts === 0 ? [] : [[name, sum / rollouts]])),
      ),
      solved: per(this.#solved, this.#replayed),
      calls: per(this.#calls, this.#replayed),
      tokens: this.#tokens,
      heldOut: this.#score,
    }
  }
}
