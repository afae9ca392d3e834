import type { LeaveReason } from '../../proto/index.js'
import type { EventOf } from '../ledger/events.js'

/** A version and the groups of it. */
export interface VersionReport {
  readonly version: number
  readonly publishedAtMs: number
  readonly adapterSha256: string
  /** Whether the step of this version left the policy unchanged. */
  readonly skipped: boolean
  /** Reason for that; null: not skipped, or unknown. */
  readonly skippedFor: string | null
  /** Whether a rollback has withdrawn it, so that its groups are not trained on. */
  readonly withdrawn: boolean
  /** Step that made it; null: the first version. */
  readonly step: number | null
  /** Mean number of versions that the groups of that step were behind; null: no groups. */
  readonly staleness: number | null
  /** Numbers of that step, by their names in docs/reference/trainer.md; empty for the first version, or when unknown. */
  readonly stats: Readonly<Record<string, number>>
  readonly accepted: number
  /** Zero-variance groups among the accepted ones. */
  readonly zeroVariance: number
  readonly refused: number
  /** Nodes that ended their work because of an error while it was in force, by reason. */
  readonly left: Readonly<Record<string, number>>
  /** Mean over the rollouts of accepted groups; null: none yet. */
  readonly reward: number | null
  /** Mean reward components over the rollouts of accepted groups, by name. */
  readonly parts: Readonly<Record<string, number>>
  /** Share of solved rollouts among replayed ones, and mean calls; null: none yet. */
  readonly solved: number | null
  readonly calls: number | null
  /** Sampled tokens of replayed groups. */
  readonly tokens: number
  /** Score on held-out tasks; null: none. */
  readonly heldOut: HeldOutScore | null
  /** Last re-derivation of its step; null: none was reported. */
  readonly rederived: EventOf<'rederived'> | null
}

export type HeldOutScore = Pick<EventOf<'scored'>, 'tasks' | 'tooLong' | 'reward' | 'solved' | 'calls' | 'callsDue'>

/** Counts of an accepted group, which are needed again if the group is revoked. */
export type CountedGroup = Pick<
  EventOf<'judged'>,
  'version' | 'zeroVariance' | 'solved' | 'calls' | 'sampledTokens'
> & {
  readonly rollouts: number
  /** Sum over the rollouts. */
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

/** Counts the groups of one version. */
export class VersionTally {
  readonly #published: EventOf<'published'>
  #step: EventOf<'trained'> | undefined
  #staleness: number | null = null
  #withdrawn = false
  #score: HeldOutScore | null = null
  #rederived: EventOf<'rederived'> | null = null
  #accepted = 0
  #zeroVariance = 0
  #refused = 0
  #rollouts = 0
  #reward = 0
  #replayed = 0
  #solved = 0
  #calls = 0
  #tokens = 0
  readonly #left = new Map<LeaveReason, number>()
  readonly #parts = new Map<string, { sum: number; rollouts: number }>()

  constructor(published: EventOf<'published'>) {
    this.#published = published
  }

  /** Notes that a later version was published, which may have an earlier adapter. */
  giveWayTo({ adapterStep }: Pick<EventOf<'published'>, 'adapterStep'>): void {
    if (this.#published.adapterStep > adapterStep) this.#withdrawn = true
  }

  /** @param staleness  mean staleness of its groups, in versions; null: unknown */
  madeBy(step: EventOf<'trained'>, staleness: number | null): void {
    this.#step = step
    this.#staleness = staleness
  }

  scored({ tasks, tooLong, reward, solved, calls, callsDue }: EventOf<'scored'>): void {
    this.#score = { tasks, tooLong, reward, solved, calls, callsDue }
  }

  rederived(event: EventOf<'rederived'>): void {
    this.#rederived = event
  }

  accepted(group: CountedGroup): void {
    this.#count(group, 1)
  }

  left(reason: LeaveReason): void {
    this.#left.set(reason, (this.#left.get(reason) ?? 0) + 1)
  }

  refused(): void {
    this.#refused += 1
  }

  /** Notes that a later audit refused an accepted group. */
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
      left: Object.fromEntries(this.#left),
      reward: per(this.#reward, this.#rollouts),
      parts: Object.fromEntries(
        [...this.#parts].flatMap(([name, { sum, rollouts }]) => (rollouts === 0 ? [] : [[name, sum / rollouts]])),
      ),
      solved: per(this.#solved, this.#replayed),
      calls: per(this.#calls, this.#replayed),
      tokens: this.#tokens,
      heldOut: this.#score,
      rederived: this.#rederived,
    }
  }
}
