import { randomBytes } from 'node:crypto'
import canonicalize from 'canonicalize'
import {
  detailForWire,
  type Lease,
  type LeaseAsk,
  type LeaseRequest,
  type LeaseResponse,
  type RefusalCode,
  refusal,
} from '../../proto/index.js'
import { type Task, taskIndex } from '../../rollout/episode/index.js'
import { leaseSeed } from '../../rollout/verification/lease-seed.js'
import { type Clock, createRateLimit, type Metrics } from '../../swarm/index.js'
import { decodeTaskSet } from '../ledger/curriculum.js'
import type { EventOf } from '../ledger/events.js'
import { TAKEN_BACK_FROM_BANNED } from '../ledger/orders.js'
import type { Recorder } from '../ledger/recorder.js'
import type { RunConfiguration } from '../ledger/run-configuration.js'
import { type LeaseRecord, originOf, type RunState } from '../ledger/run-state.js'
import { mostOfBatch, shareBeside } from './batch-shares.js'
import { createFirstLeases } from './first-leases.js'
import { capacityForLeases } from './lease-capacity.js'
import { firstTermMs, fitOf, type GroupTime, groupTime, LONGEST_DURATIONS, tooSlowLine } from './lease-fit.js'
import { meterAnswers } from './metrics.js'
import { retryAfterMs } from './retry-after.js'
import { type Beside, hasPlace, keepsPlace } from './unproven-capacity.js'
import { isWithheld } from './withheld-tasks.js'

/** Places of a key that are passed over, at most, to find a task that is given: with all but one in a hundred withheld, half of all times. */
const MOST_PASSED_OVER = 64
/** Least part of the duration by which a deadline moves: each move is a record for good. */
const LEAST_EXTENSION = 1 / 4
/** New keys a minute. Each is a record for good, and makes the coordinator open another round. */
const REGISTRATIONS_PER_MINUTE = 600
/** Those from one block of addresses: a class that joins at once, and no stream of keys that would keep all others out. */
const REGISTRATIONS_OF_BLOCK = { perMinute: 12, atOnce: 60 }

/**
 * Leases that one key may take up again. Each time is two records for good, so taking and forgetting them without a pause would
 * fill the disk and keep everybody else's events waiting.
 */
const RETAKEN_PER_MINUTE = 12
const RETAKEN_AT_ONCE = 16

/** Who holds the adapter is known elsewhere. */
export type LeaseAnswer = Omit<LeaseResponse, 'providers'>

export interface LeaseService {
  /** Answers a node's request. @throws SwarmRefusal */
  answer(request: LeaseRequest, node: string): Promise<LeaseAnswer>
  /** Releases leases that are past their deadline. */
  releaseLapsed(): Promise<void>
  /** Releases the leases of keys that are banned. */
  takeBack(): Promise<void>
}

export interface LeaseServiceParts {
  readonly tasks: readonly Task[]
  readonly recorder: Recorder
  /** Age at which a round gives way to the next one, when keys wait for it. */
  readonly registrationMs: number
  /** Where a node is connected from, as a block of network addresses; null: not known. */
  readonly addressBlockOf: (node: string) => string | null
  readonly metrics: Metrics
  readonly clock: Clock
}

/** Gives out leases under the terms of the round in force. */
export function createLeaseService(parts: LeaseServiceParts): LeaseService {
  const { tasks, recorder, registrationMs, addressBlockOf, metrics, clock } = parts
  const count = meterAnswers(metrics)
  const registrations = {
    all: createRateLimit(clock, REGISTRATIONS_PER_MINUTE),
    ofOrigin: createRateLimit(clock, REGISTRATIONS_OF_BLOCK.perMinute, REGISTRATIONS_OF_BLOCK.atOnce),
  }
  const firstLeases = createFirstLeases(clock)
  const retaken = createRateLimit(clock, RETAKEN_PER_MINUTE, RETAKEN_AT_ONCE)
  const encodedTasks = new Map<string, Uint8Array>()
  const encode = (task: Task): Uint8Array => {
    let encoded = encodedTasks.get(task.id)
    if (!encoded) {
      encoded = new TextEncoder().encode(canonicalize(task)!)
      encodedTasks.set(task.id, encoded)
    }
    return encoded
  }

  const besideIn =
    (state: RunState): Beside =>
    (origin) =>
      firstLeases.open(state, origin)
  const placeFor = (state: RunState, node: string): boolean =>
    hasPlace(state, state.round!.configuration, { node, addressBlock: addressBlockOf(node) }, besideIn(state))

  /** How long a usual group takes `node`; null: nobody knows. */
  const timeOf = (state: RunState, node: string, { tokensPerSecond }: LeaseAsk): GroupTime | null => {
    const speed = {
      deliveryRate: state.nodes.get(node)?.deliveryRate ?? null,
      reportedTokensPerSecond: tokensPerSecond,
    }
    return groupTime(state.usualTokens, speed, clock.now())
  }

  /** Why `node` gets no further lease now, whoever else holds some, or `null`. */
  const objection = (state: RunState, node: string, ask: LeaseAsk): RefusalCode | null => {
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
    const held = state.openLeasesOf(node)
    const time = timeOf(state, node, ask)
    const fit = time
      ? fitOf(held.values(), time, LONGEST_DURATIONS * configuration.leases.durationMs, clock.now())
      : 'fits'
    if (fit === 'too_slow') return fit
    if (!state.isAdmitted(node)) return 'not_registered'
    const own = held.size
    if (own >= configuration.leases.perNode || fit !== 'fits') return 'too_many_leases'
    if (capacityForLeases(state, configuration, firstLeases.open(state)) <= 0) return 'no_work'
    const mine = state.trainableCountOf(node, configuration.maxStaleness) + own
    return mine >= (configuration.maxStaleness + 1) * mostOf(state, node, configuration) ? 'influence_cap' : null
  }

  /** Why `node` was given fewer leases than it asked for. */
  const shortage = (state: RunState, node: string, ask: LeaseAsk): RefusalCode =>
    objection(state, node, ask) ?? (placeFor(state, node) ? 'rate_limited' : 'no_work')

  /** The next place of a node in the round whose task is given. When nearly all rest, one at rest may be drawn. */
  const nextPlace = (state: RunState, node: string) => {
    const { policyId, roundSecret, resting } = state.round!
    const rests = decodeTaskSet(resting)
    const first = state.nextLeaseIndex(node)
    for (let index = first; index <= first + MOST_PASSED_OVER; index++) {
      const seed = leaseSeed(Buffer.from(roundSecret, 'hex'), policyId, node, index)
      const drawn = taskIndex(seed, tasks.length, rests)
      if (!isWithheld(tasks[drawn]!, drawn, state)) return { index, seed, taskIndex: drawn }
    }
    return null
  }

  const grant = (state: RunState, node: string, ask: LeaseAsk): LeaseRecord | null => {
    if (objection(state, node, ask)) return null
    const now = clock.now()
    const { round, version, configuration } = state.round!
    const addressBlock = addressBlockOf(node)
    const isBeside = !placeFor(state, node)
    if (isBeside && !firstLeases.take(state, node, addressBlock)) return null
    // A key that is not proven renews its leases, or it could hold them for nothing for longer.
    const time = state.kindOf(node) === 'proven' ? timeOf(state, node, ask) : null
    const deadlineMs = now + firstTermMs(configuration.leases.durationMs, time)
    const { agent, backend } = ask
    // What a node leaves lying comes back to it: there is nothing to be gained by waiting for an easier task.
    const owed = state.owedLease(node)
    if (owed && !retaken.allow(node)) return null
    if (owed) return { ...owed, atMs: now, deadlineMs, backend, agent, addressBlock }
    const place = nextPlace(state, node)
    if (!place) return null
    const { index, seed, taskIndex } = place
    const leaseId = randomBytes(16).toString('hex')
    if (isBeside) firstLeases.note(leaseId)
    return {
      type: 'leased',
      atMs: now,
      leaseId,
      round,
      index,
      node,
      version,
      taskIndex,
      seed: seed.toString('hex'),
      deadlineMs,
      backend,
      agent,
      addressBlock,
    }
  }

  /**
   * Whoever still works on a lease keeps it, or what is slow would never be done: the same lease would be begun again and again.
   * Not for ever, or it could be held for nothing; and not for a group that would come too late to be trained on.
   */
  const renewal = (state: RunState, node: string, leaseId: string): EventOf<'renewed'> | null => {
    const now = clock.now()
    const lease = state.openLeases.get(leaseId)
    if (lease?.node !== node || lease.deadlineMs <= now) return null
    const { configuration } = state.roundOf(lease)
    if (state.current!.version - lease.version > configuration.maxStaleness) return null
    const isKeptOut = state.orders.banned.has(node) || state.nodes.get(node)?.reputation.isQuarantined(now)
    if (isKeptOut || !keepsPlace(state, configuration, lease, besideIn(state))) return null
    const { durationMs } = configuration.leases
    const deadlineMs = Math.min(now + durationMs, lease.atMs + LONGEST_DURATIONS * durationMs)
    const isFurther = deadlineMs - lease.deadlineMs >= LEAST_EXTENSION * durationMs
    return isFurther ? { type: 'renewed', atMs: now, leaseId, deadlineMs } : null
  }

  const register = async (node: string, agent: string): Promise<void> => {
    if (recorder.state.registered.has(node) || !recorder.state.round) return
    const isAllowed =
      registrations.ofOrigin.allow(originOf(node, addressBlockOf(node))) && registrations.all.allow('all')
    if (!isAllowed) throw refusal('rate_limited', 'too many new keys at the moment')
    await recorder.record((state) => {
      if (state.registered.has(node)) return null
      return { type: 'registered', atMs: clock.now(), node, round: state.round!.round, agent }
    })
  }

  const toWire = (record: LeaseRecord): Lease => {
    const task = tasks[record.taskIndex]!
    const { policyId, configurationId, configuration } = recorder.state.roundOf(record)
    const { leaseId, index, version, seed, deadlineMs } = record
    return {
      leaseId,
      index,
      policyId,
      version,
      taskId: task.id,
      task: encode(task),
      seed,
      deadlineMs,
      groupSize: configuration.groupSize,
      configurationId,
    }
  }

  const release = (leaseId: string, node: string | null, reason: string): Promise<unknown> =>
    recorder.record((state) => {
      const lease = state.openLeases.get(leaseId)
      if (!lease || (node !== null && lease.node !== node)) return null
      return { type: 'released', atMs: clock.now(), leaseId, reason }
    })

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

  return {
    async answer(request, node) {
      if (request.kind === 'return') {
        for (const leaseId of request.leaseIds) await release(leaseId, node, request.reason)
        return response({})
      }
      if (request.kind === 'renew') {
        for (const leaseId of request.leaseIds) await recorder.record((state) => renewal(state, node, leaseId))
        const held = request.leaseIds.flatMap((leaseId) => recorder.state.openLeases.get(leaseId) ?? [])
        const own = held.filter((lease) => lease.node === node && lease.deadlineMs > clock.now())
        return response({ renewed: own.map(({ leaseId, deadlineMs }) => ({ leaseId, deadlineMs })) })
      }
      // A node that restarted has forgotten what it does not list.
      for (const leaseId of [...recorder.state.openLeasesOf(node).keys()])
        if (!request.holding.includes(leaseId)) await release(leaseId, node, 'forgotten')
      await register(node, request.agent)
      const leases: Lease[] = []
      while (leases.length < request.count) {
        const record = await recorder.record((state) => grant(state, node, request))
        if (!record) break
        leases.push(toWire(record))
      }
      const reason = leases.length < request.count ? shortage(recorder.state, node, request) : null
      count(leases.length > 0 ? null : reason)
      if (leases.length > 0 || reason === null) return response({ leases, reason })
      return response({
        leases,
        reason,
        detail: detailForWire(whyOf(reason, recorder.state, node, timeOf(recorder.state, node, request))),
        retryAfterMs: retryAfterMs(reason, recorder.state, node, registrationMs, clock.now()),
      })
    },
    async releaseLapsed() {
      const now = clock.now()
      for (;;) {
        const lease = recorder.state.firstToLapse
        if (!lease || lease.deadlineMs >= now) return
        await release(lease.leaseId, null, 'lapsed')
      }
    },
    async takeBack() {
      const { state } = recorder
      for (const node of state.orders.banned.keys())
        for (const leaseId of [...state.openLeasesOf(node).keys()]) await release(leaseId, node, TAKEN_BACK_FROM_BANNED)
    },
  }
}

/** What there is to say to a reason. @param time  a usual group takes the node */
function whyOf(
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
  return pause?.reason ?? (rollback ? `it goes back to version ${rollback.version}` : '')
}

/** Groups of a batch that `node` may give. */
function mostOf(state: RunState, node: string, configuration: RunConfiguration): number {
  const { suppliers } = state
  const share = shareBeside(configuration, suppliers.size - (suppliers.has(node) ? 1 : 0))
  if (share !== null) return share
  const isOther = (one: { readonly node: string }): boolean => one.node !== node
  const waiting = state.trainable(configuration.maxStaleness).filter(isOther)
  return mostOfBatch(configuration, waiting, [...suppliers.values()].filter(isOther))
}
