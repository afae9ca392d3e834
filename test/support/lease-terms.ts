import type { LeaseTerms, TermsOf } from '../../coordinator/intake/lease-terms.js'
import { AMPLE } from './scripted.js'

/** The same terms for every lease. */
export const termsOf = (change: Partial<LeaseTerms> = {}): TermsOf => {
  const audit = { calibrations: [], acceptOtherDraws: false, probation: 20, leastShare: 0.1 }
  const terms = { groupSize: 2, limits: AMPLE, maxStaleness: 4, audit, ...change }
  return () => terms
}
