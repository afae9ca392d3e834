import {
  detailForWire,
  type Lease,
  type LeaseAsk,
  type LeaseRequest,
  type LeaseResponse,
  refusal,
} from '../../proto/index.js'
import type { Task } from '../../rollout/episode/index.js'
import type { Clock, Metrics } from '../../swarm/index.js'
import { TAKEN_BACK_FROM_BANNED } from '../ledger/orders.js'
import type { Recorder } from '../ledger/recorder.js'
import type { LeaseRecord } from '../ledger/run-state.js'
import { createFirstLeases } from './first-leases.js'
import { createKeyRegistration } from './key-registration.js'
import { createLeaseAdmission } from './lease-admission.js'
import { createLeaseGrants } from './lease-grants.js'
import { renewalOf } from './lease-renewal.js'
import { meterAnswers } from './metrics.js'
import { retryAfterMs } from './retry-after.js'
import { createLeaseWriter } from './wire-lease.js'

/** An answer without the peers that have the adapter, which `service/providers.ts` adds. */
export type LeaseAnswer = Omit<LeaseResponse, 'providers'>

/** Answers requests for leases, and ends leases. */
export interface LeaseService {
  /** Answers a node's request. A node that leaves gives all its leases back. @throws SwarmRefusal */
  answer(request: LeaseRequest, node: string): Promise<LeaseAnswer>
  /** Releases leases that are past their deadline. */
  releaseLapsed(): Promise<void>
  /** Releases the leases of keys that are banned. */
  takeBack(): Promise<void>
  /** Returns how many leases the run could give out now, for which waiting nodes are woken. */
  capacity(): number
}

export interface LeaseServiceParts {
  readonly tasks: readonly Task[]
  readonly recorder: Recorder
  /** Age (ms) at which a round gives way to the next one, when keys wait for it. */
  readonly registrationMs: number
  /** Returns the block of network addresses that a node is connected from; null: unknown. */
  readonly addressBlockOf: (node: string) => string | null
  readonly metrics: Metrics
  readonly clock: Clock
}

/** Gives out leases under the run configuration of the round in force. */
export function createLeaseService(parts: LeaseServiceParts): LeaseService {
  const { tasks, recorder, registrationMs, addressBlockOf, metrics, clock } = parts
  const count = meterAnswers(metrics)
  const firstLeases = createFirstLeases(clock)
  const register = createKeyRegistration({ recorder, addressBlockOf, clock })
  const admission = createLeaseAdmission({ firstLeases, addressBlockOf, clock })
  const grant = createLeaseGrants({ tasks, admission, firstLeases, addressBlockOf, clock })
  const toWire = createLeaseWriter(tasks)

  /** Releases leases to which `applies`. They are requested together, so that the recorder writes them together. */
  const release = async (
    leaseIds: Iterable<string>,
    reason: string,
    applies: (lease: LeaseRecord) => boolean,
  ): Promise<void> => {
    const releases = [...leaseIds].map((leaseId) =>
      recorder.record((state) => {
        const lease = state.openLeases.get(leaseId)
        return lease && applies(lease) ? { type: 'released', atMs: clock.now(), leaseId, reason } : null
      }),
    )
    await Promise.all(releases)
  }
  const isOf = (node: string) => (lease: LeaseRecord) => lease.node === node

  const response = (part: Partial<LeaseAnswer>): LeaseAnswer => {
    const { round } = recorder.state
    if (!round) throw refusal('no_work', 'no policy is published yet')
    return {
      leases: [],
      renewed: [],
      retryAfterMs: 0,
      manifestId: round.manifestId,
      reason: null,
      detail: '',
      ...part,
    }
  }

  const renew = async (leaseIds: readonly string[], node: string): Promise<LeaseAnswer> => {
    const renewals = leaseIds.map((leaseId) =>
      recorder.record((state) => renewalOf(state, node, leaseId, { firstLeases, nowMs: clock.now() })),
    )
    await Promise.all(renewals)
    const named = leaseIds.flatMap((leaseId) => recorder.state.openLeases.get(leaseId) ?? [])
    const own = named.filter((lease) => lease.node === node && lease.deadlineMs > clock.now())
    return response({ renewed: own.map(({ leaseId, deadlineMs }) => ({ leaseId, deadlineMs })) })
  }

  const give = async (request: LeaseAsk, node: string): Promise<LeaseAnswer> => {
    // A node that restarted has forgotten the leases that it does not list.
    const forgotten = [...recorder.state.openLeasesOf(node).keys()].filter((id) => !request.holding.includes(id))
    await release(forgotten, 'forgotten', isOf(node))
    await register(node, request.agent)
    const leases: Lease[] = []
    while (leases.length < request.count) {
      const record = await recorder.record((state) => grant(state, node, request))
      if (!record) break
      leases.push(toWire(record, recorder.state))
    }
    const { state } = recorder
    const reason = leases.length < request.count ? admission.shortageOf(state, node, request) : null
    count(leases.length > 0 ? null : reason)
    if (leases.length > 0 || reason === null) return response({ leases, reason })
    return response({
      reason,
      detail: detailForWire(admission.detailOf(reason, state, node, request)),
      retryAfterMs: retryAfterMs(reason, state, node, registrationMs, clock.now()),
    })
  }

  return {
    async answer(request, node) {
      if (request.kind === 'ask') return give(request, node)
      if (request.kind === 'renew') return renew(request.leaseIds, node)
      const given = request.kind === 'leave' ? recorder.state.openLeasesOf(node).keys() : request.leaseIds
      await release(given, request.reason, isOf(node))
      return response({})
    },
    async releaseLapsed() {
      const now = clock.now()
      const lapsed = recorder.state.lapsedBefore(now).map(({ leaseId }) => leaseId)
      await release(lapsed, 'lapsed', ({ deadlineMs }) => deadlineMs < now)
    },
    async takeBack() {
      const { state } = recorder
      for (const node of state.orders.banned.keys())
        await release(state.openLeasesOf(node).keys(), TAKEN_BACK_FROM_BANNED, isOf(node))
    },
    capacity: () => admission.capacityOf(recorder.state),
  }
}
