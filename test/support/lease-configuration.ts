import type { LeaseConfiguration } from '../../coordinator/ledger/run-configuration.js'
import type { ConfigurationOf } from '../../coordinator/ledger/run-state.js'
import { AMPLE } from './scripted.js'

/** The same run configuration for every lease. */
export const configurationOf = (change: Partial<LeaseConfiguration> = {}): ConfigurationOf => {
  const audit = { calibrations: { cpu: '0'.repeat(64) }, probation: 20, leastShare: 0.1 }
  const configuration = { groupSize: 2, limits: AMPLE, maxStaleness: 4, reward: 'paper', audit, ...change }
  return () => configuration
}
