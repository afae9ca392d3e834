import type { LeaseTerms } from '../../coordinator/ledger/run-configuration.js'
import type { TermsOf } from '../../coordinator/ledger/run-state.js'
import { AMPLE } from './scripted.js'

/** The same terms for every lease. */
export const termsOf = (change: Partial<LeaseTerms> = {}): TermsOf => {
  const audit = { calibrations: { cpu: '0'.repeat(64) }, probation: 20, leastShare: 0.1 }
  const terms = { groupSize: 2, limits: AMPLE, maxStaleness: 4, reward: 'paper', audit, ...change }
  return () => terms
}
