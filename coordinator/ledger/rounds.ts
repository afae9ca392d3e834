import { LIMITS, refusal } from '../../proto/index.js'
import type { EventOf } from './events.js'
import { configurationIdOf } from './run-configuration.js'
import type { AgreedConfiguration, LeaseRecord, Publication, Round } from './run-state.js'
import { known, type StateSnapshot } from './state-snapshot.js'

/** Rounds whose secrets the next manifest publishes, and rounds that are still served. */
const MOST_ROUNDS = Math.max(LIMITS.closedRounds.value, LIMITS.manifestsServed.value)
/** Versions whose manifests may still be served, and versions that groups may be of. */
const MOST_PUBLICATIONS = Math.max(LIMITS.manifestsServed.value, LIMITS.staleness.value + 1)

type Snapshot = Pick<StateSnapshot, 'configuration' | 'publications' | 'rounds'>

/** Run configurations, versions and rounds: the newest, and older ones while one of their leases is known. */
export class Rounds {
  readonly configuration: AgreedConfiguration[] = []
  /** The newest versions and rounds, by number. */
  readonly publications: Publication[] = []
  readonly newest: Round[] = []
  readonly #publicationOf = new Map<number, Publication>()
  readonly #roundOf = new Map<number, Round>()

  get snapshot(): Snapshot {
    const rounds = [...this.#roundOf.values()].map(({ configuration, configurationId, ...round }) => ({
      ...round,
      configuration: this.configuration.findIndex((agreed) => agreed.configuration === configuration),
    }))
    return { configuration: [...this.configuration], publications: [...this.#publicationOf.values()], rounds }
  }

  static of({ configuration, publications, rounds }: Snapshot): Rounds {
    const made = new Rounds()
    made.configuration.push(...configuration)
    for (const publication of publications) made.#keepPublication(publication)
    for (const { configuration: place, ...round } of rounds) {
      const { configuration: agreed, configurationId } = known(configuration[place], `run configuration ${place}`)
      made.#keepRound({ ...round, configuration: agreed, configurationId })
    }
    return made
  }

  agree({ configuration }: EventOf<'configured'>): void {
    this.configuration.push({
      configuration,
      configurationId: configurationIdOf(configuration),
      fromRound: (this.newest.at(-1)?.round ?? -1) + 1,
    })
  }

  publish(event: Publication): void {
    this.#keepPublication(event)
    this.open(event)
  }

  open({
    round,
    version,
    policyId,
    manifestId,
    roundSecret,
    skippedTasks,
    atMs,
  }: Publication | EventOf<'reopened'>): void {
    const latest = this.configuration.at(-1)
    if (!latest) throw new Error(`round ${round} was opened before the run had a configuration`)
    const { configuration, configurationId } = latest
    this.#keepRound({
      round,
      version,
      policyId,
      manifestId,
      roundSecret,
      skippedTasks,
      openedAtMs: atMs,
      configuration,
      configurationId,
    })
  }

  /** @throws SwarmRefusal `stale_policy` for a forgotten round: a group of it cannot be accepted any more */
  roundOf({ round }: Pick<LeaseRecord, 'round'>): Round {
    const found = this.#roundOf.get(round)
    if (!found) throw refusal('stale_policy', `round ${round} ended too long ago`)
    return found
  }

  /** @throws SwarmRefusal `stale_policy` */
  publicationOf(version: number): Publication {
    const found = this.#publicationOf.get(version)
    if (!found) throw refusal('stale_policy', `version ${version} is too old`)
    return found
  }

  /** Whether the current version has had too many rounds, so that rounds without leases have to be forgotten. */
  get isCrowded(): boolean {
    return this.#roundOf.size > 2 * MOST_ROUNDS
  }

  /** Forgets all versions and rounds that are neither among the newest nor of one of these leases. */
  forget(leases: Iterable<LeaseRecord>): void {
    const [oldestRound, oldestVersion] = [this.newest[0]?.round ?? 0, this.publications[0]?.version ?? 0]
    const rounds = new Set<number>()
    const versions = new Set<number>()
    for (const { round, version } of leases) {
      rounds.add(round)
      versions.add(version)
    }
    for (const round of this.#roundOf.keys()) if (round < oldestRound && !rounds.has(round)) this.#roundOf.delete(round)
    for (const version of this.#publicationOf.keys())
      if (version < oldestVersion && !versions.has(version)) this.#publicationOf.delete(version)
  }

  #keepPublication(event: Publication): void {
    this.#publicationOf.set(event.version, event)
    if (this.publications.push(event) > MOST_PUBLICATIONS) this.publications.shift()
  }

  #keepRound(round: Round): void {
    this.#roundOf.set(round.round, round)
    if (this.newest.push(round) > MOST_ROUNDS) this.newest.shift()
  }
}
