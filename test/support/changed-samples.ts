import {
  groupAnnouncement,
  groupBody,
  type PolicyManifest,
  policyManifest,
  type RecordedRollout,
} from '../../proto/index.js'
import { announcement, body, flightManifest, id16, leases, rollout } from './proto-samples.js'

/** Samples with one change each, for tests of limits. The test encodes them. */

export const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))
export const ids = (count: number): string[] => times(count, (index) => id16(`${index}`))

export const lease = leases.leases[0]!
export const canary = flightManifest.canary[0]!

export const manifest = (change: Partial<PolicyManifest>) => () =>
  policyManifest.encode({ ...flightManifest, ...change })
export const group = (change: Partial<RecordedRollout>) => () =>
  groupBody.encode({ ...body, rollouts: [{ ...rollout, ...change }, rollout] })
export const announced = (change: Partial<typeof announcement>) => () =>
  groupAnnouncement.encode({ ...announcement, ...change })
