import type { LeaseAsk, RefusalCode } from '../../proto/index.js'
import type { Clock } from '../../swarm/index.js'
import type { RunConfiguration } from '../ledger/run-configuration.js'
import { originOf, type RunState } from '../ledger/run-state.js'
import { mostOfBatch, shareAmong } from './batch-shares.js'
import { createUnmetOrigins, hasPlaceNextToOthers } from './block-places.js'
import type { FirstLeases } from './first-leases.js'
import { capacityForLeases } from './lease-capacity.js'
import { fitOf, type GroupTime, groupTime, LONGEST_DURATIONS, tooSlowLine } from './lease-fit.js'
import { type ExemptLeases, hasPlace } from './unproven-capacity.js'

export interface LeaseAdmissionParts {
  readonly firstLeases: FirstLeases
  /** Returns the block of network addresses that a node is connected from; null: unknown. */
  readonly addressBlockOf: (node: string) => string | null
  readonly clock: Pick<Clock, 'now' | 'elapsedMs'>
}

/** Decides whether a node may have a further lease, from the run's state and the blocks of addresses that found none lately. */
export interface LeaseAdmission {
  /** Returns why `node` gets no further lease, apart from the places that other keys occupy; null: no reason. */
  refusalOf(state: RunState, node: string, ask: LeaseAsk): RefusalCode | null
  /** Returns why `node` got fewer leases than it asked for. */
  shortageOf(state: RunState, node: string, ask: LeaseAsk): RefusalCode
  /** Returns the detail that a volunteer reads next to a refusal code; empty: the code says everything. */
  detailOf(reason: RefusalCode, state: RunState, node: string, ask: LeaseAsk): string
  /** Whether the key's record leaves a place for it, see `unproven-capacity.ts`. */
  hasPlace(state: RunState, node: string): boolean
  /** Returns how long a usual group takes `node`; null: unknown. */
  groupTimeOf(state: RunState, node: string, ask: LeaseAsk): GroupTime | null
  /** Returns how many leases the run could give out now. */
  capacityOf(state: RunState): number
}

export function createLeaseAdmission({ firstLeases, addressBlockOf, clock }: LeaseAdmissionParts): LeaseAdmission {
  const unmet = createUnmetOrigins(clock)
  const capacityOf = (state: RunState): number => {
    const { round, orders } = state
    if (!round || orders.pause || orders.rollback || round.version >= round.configuration.versions) return 0
    return Math.max(0, capacityForLeases(state, round.configuration, clock.now(), firstLeases.open(state)))
  }

  const placeOf = (state: RunState, node: string): boolean => {
    const capacity = capacityOf(state)
    if (capacity === 0) return false
    const origin = originOf(node, addressBlockOf(node))
    if (state.kindOf(node) === 'proven')
      return !unmet.hasOther(origin) || hasPlaceNextToOthers(state.openLeasesFrom(origin), capacity)
    return hasPlace(
      state,
      state.round!.configuration,
      { node, addressBlock: addressBlockOf(node) },
      exemptLeases(firstLeases, state),
    )
  }

  const debtOf = (state: RunState, node: string): number =>
    state.reliabilityOf(node, addressBlockOf(node)) < 1 ? state.debtOf(node) : 0

  const groupTimeOf = (state: RunState, node: string, { tokensPerSecond }: LeaseAsk): GroupTime | null => {
    const speed = {
      deliveryRate: state.nodes.get(node)?.deliveryRate ?? null,
      reportedTokensPerSecond: tokensPerSecond,
    }
    return groupTime(state.usualTokens, speed, clock.now())
  }

  const refusalOf = (state: RunState, node: string, ask: LeaseAsk): RefusalCode | null => {
    const { round } = state
    if (!round) return 'no_work'
    const { configuration } = round
    if (round.version >= configuration.versions) return 'complete'
    if (state.orders.banned.has(node)) return 'banned'
    if (state.nodes.get(node)?.reputation.isQuarantined(clock.now())) return 'quarantined'
    if (state.orders.pause || state.orders.rollback) return 'paused'
    if (ask.policyId !== round.policyId) return 'wrong_policy'
    const { calibrations } = configuration.audit
    const isAudited = Object.keys(calibrations).length > 0
    if (isAudited && !Object.hasOwn(calibrations, ask.backend)) return 'uncalibrated'
    const openLeases = state.openLeasesOf(node)
    const time = groupTimeOf(state, node, ask)
    const fit = time
      ? fitOf(openLeases.values(), time, LONGEST_DURATIONS * configuration.leases.durationMs, clock.now())
      : 'fits'
    if (fit === 'too_slow') return fit
    if (!state.isAdmitted(node)) return 'not_registered'
    if (openLeases.size + debtOf(state, node) >= configuration.leases.perNode || fit !== 'fits')
      return 'too_many_leases'
    // A newcomer may get a first lease in addition to the capacity, see `first-leases.ts`.
    const mayBeFirst = state.kindOf(node) === 'untried' && openLeases.size === 0
    if (!mayBeFirst && !placeOf(state, node)) return 'no_work'
    const supplied = state.trainableCountOf(node, configuration.maxStaleness) + openLeases.size
    return supplied >= (configuration.maxStaleness + 1) * mostOf(state, node, configuration) ? 'influence_cap' : null
  }

  return {
    refusalOf,
    shortageOf(state, node, ask) {
      const reason = refusalOf(state, node, ask) ?? (placeOf(state, node) ? 'rate_limited' : 'no_work')
      if (reason === 'no_work' && state.round) unmet.note(originOf(node, addressBlockOf(node)))
      return reason
    },
    detailOf(reason, state, node, ask) {
      const debt = debtOf(state, node)
      if (reason === 'too_many_leases' && debt > 0) return debtLine(debt, state.round!.configuration.maxStaleness)
      return detailFor(reason, state, node, groupTimeOf(state, node, ask))
    },
    hasPlace: placeOf,
    groupTimeOf,
    capacityOf,
  }
}

/** Returns a function that counts the open first leases of a state, which take no place of keys without a record. */
export const exemptLeases =
  (firstLeases: FirstLeases, state: RunState): ExemptLeases =>
  (origin) =>
    firstLeases.open(state, origin)

const debtLine = (debt: number, maxStaleness: number): string =>
  `this node has abandoned more leases than are forgiven, and still owes ${debt}. Each takes one of its places until a version more than ${maxStaleness} later is published`

function detailFor(
  reason: RefusalCode,
  { orders, usualTokens, round }: RunState,
  node: string,
  time: GroupTime | null,
): string {
  if (reason === 'too_slow')
    return tooSlowLine(usualTokens!, time!, LONGEST_DURATIONS * round!.configuration.leases.durationMs)
  if (reason === 'banned') return orders.banned.get(node)?.reason ?? ''
  if (reason !== 'paused') return ''
  const { pause, rollback } = orders
  return pause?.reason ?? (rollback ? `the run is rolling back to version ${rollback.version}` : '')
}

/** Returns how many groups of a batch `node` may supply. */
function mostOf(state: RunState, node: string, configuration: RunConfiguration): number {
  const { suppliers } = state
  const share = shareAmong(configuration, suppliers.size - (suppliers.has(node) ? 1 : 0))
  if (share !== null) return share
  const isOther = (one: { readonly node: string }): boolean => one.node !== node
  const waiting = state.trainable(configuration.maxStaleness).filter(isOther)
  return mostOfBatch(configuration, waiting, [...suppliers.values()].filter(isOther))
}
