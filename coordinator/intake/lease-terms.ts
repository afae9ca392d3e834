import type { EpisodeLimits } from '../../episode/index.js'
import type { LeaseRecord } from '../ledger/run-state.js'
import type { RunConfig } from '../settings/config.js'

/** What a lease has promised its node: its group is judged by this, whatever the run's terms have become since. */
export interface LeaseTerms {
  /** Rollouts of the group. */
  readonly groupSize: number
  readonly limits: EpisodeLimits
  /** Versions that the group may be behind when it is judged. */
  readonly maxStaleness: number
  readonly audit: RunConfig['audit']
}

/** The terms under which a lease was given. */
export type TermsOf = (lease: LeaseRecord) => LeaseTerms
