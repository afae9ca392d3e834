import { LIMITS, refusal } from '../../proto/index.js'
import type { EventOf } from './events.js'
import { termsIdOf } from './run-configuration.js'
import type { AgreedTerms, LeaseRecord, Publication, Round } from './run-state.js'
import { type FoldImage, known } from './state-snapshot.js'

/** The rounds whose secrets the next manifest shows, and those that are still served. */
const MOST_ROUNDS = Math.max(LIMITS.closedRounds.value, LIMITS.manifestsServed.value)
/** Versions whose manifests may still be served, and that groups may be of. */
const MOST_PUBLICATIONS = Math.max(LIMITS.manifestsServed.value, LIMITS.staleness.value + 1)

type Image = Pick<FoldImage, 'terms' | 'publications' | 'rounds'>

/** Terms, and the newest versions and rounds; older ones as long as a lease of theirs is known. */
export class Rounds {
  readonly terms: AgreedTerms[] = []
  /** The newest of each, by number. */
  readonly publications: Publication[] = []
  readonly newest: Round[] = []
  readonly #publicationOf = new Map<number, Publication>()
  readonly #roundOf = new Map<number, Round>()

  get image(): Image {
    const rounds = [...this.#roundOf.values()].map(({ terms, termsId, ...round }) => ({
      ...round,
      terms: this.terms.findIndex((agreed) => agreed.terms === terms),
    }))
    return { terms: [...this.terms], publications: [...this.#publicationOf.values()], rounds }
  }

  static of({ terms, publications, rounds }: Image): Rounds {
    const made = new Rounds()
    made.terms.push(...terms)
    for (const publication of publications) made.#keepPublication(publication)
    for (const { terms: place, ...round } of rounds) {
      const { terms: agreed, termsId } = known(terms[place], `terms ${place}`)
      made.#keepRound({ ...round, terms: agreed, termsId })
    }
    return made
  }

  agree({ terms }: EventOf<'terms'>): void {
    this.terms.push({ terms, termsId: termsIdOf(terms), fromRound: (this.newest.at(-1)?.round ?? -1) + 1 })
  }

  publish(event: Publication): void {
    this.#keepPublication(event)
    this.open(event)
  }

  open({ round, version, policyId, manifestId, roundSecret, resting, atMs }: Publication | EventOf<'reopened'>): void {
    const latest = this.terms.at(-1)
    if (!latest) throw new Error(`round ${round} was opened before the run had terms`)
    const { terms, termsId } = latest
    this.#keepRound({ round, version, policyId, manifestId, roundSecret, resting, openedAtMs: atMs, terms, termsId })
  }

  /** @throws SwarmRefusal `stale_policy` for one that is forgotten: whoever still judges a group of it does so in vain */
  roundOf({ round }: Pick<LeaseRecord, 'round'>): Round {
    const found = this.#roundOf.get(round)
    if (!found) throw refusal('stale_policy', `round ${round} is long over`)
    return found
  }

  /** @throws SwarmRefusal `stale_policy` */
  publicationOf(version: number): Publication {
    const found = this.#publicationOf.get(version)
    if (!found) throw refusal('stale_policy', `version ${version} is long over`)
    return found
  }

  /** Whether so many rounds have gone by since the last version that those without leases have to go. */
  get isCrowded(): boolean {
    return this.#roundOf.size > 2 * MOST_ROUNDS
  }

  /** Everything that is neither among the newest nor of one of these leases. */
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
