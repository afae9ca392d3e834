import {
  atMost,
  bytesOf,
  distinct,
  finite,
  hexOf,
  integer,
  label,
  oneOf,
  refusalCode,
  sentence,
  timeMs,
} from './bounds.js'
import { type Codec, codec, type Decoded } from './codec.js'
import type { Sha256 } from './content-id.js'
import { type RefusalCode, refusal } from './errors.js'
import { prove } from './gen/swarm.js'
import { type Leave, readLeave } from './leave.js'
import { LIMITS } from './limits.js'
import { MAX_ROUND } from './manifest.js'
import { PEERS, type PeerAddresses, readPeers, writePeers } from './peer-addresses.js'
import { bytes, double, message, number } from './wire-shape.js'

/** Length of a lease id and of a nonce in bytes. */
export const ID_BYTES = 16
export const LEASE_SEED_BYTES = 32

export const RETURN_REASONS = ['shutdown', 'superseded', 'failed', 'too_slow'] as const
export type ReturnReason = (typeof RETURN_REASONS)[number]

/** A request for work. Ids and the nonce are hex of 16 bytes. */
export interface LeaseAsk {
  readonly kind: 'ask'
  readonly count: number
  /** The policy that the node has loaded and whose canary it passed. */
  readonly policyId: Sha256
  readonly nonce: string
  /** Leases that the node still works on. The coordinator may forget the others. */
  readonly holding: readonly string[]
  /** Program and version, for the leaderboard and for bug reports. */
  readonly agent: string
  /** Inference backend and build of the engine, for example `cuda-flash@3.22.1`. Logit errors are measured for each. */
  readonly backend: string
  /** Tokens per second that the node samples over all rollouts of a group; 0: not measured. */
  readonly tokensPerSecond: number
}

export type LeaseRequest =
  | LeaseAsk
  | { readonly kind: 'renew'; readonly leaseIds: readonly string[] }
  | { readonly kind: 'return'; readonly leaseIds: readonly string[]; readonly reason: ReturnReason }
  | Leave

const IDS = bytes(LIMITS.leasesHeld.value)

export const leaseRequest: Codec<LeaseRequest> = codec<LeaseRequest, prove.LeaseRequest.$Properties>({
  what: 'lease request',
  limit: 'leaseRequestBytes',
  type: prove.LeaseRequest,
  maxFields: 1,
  shape: {
    1: message({ 1: number(), 2: bytes(), 3: bytes(), 4: IDS, 5: bytes(), 6: bytes(), 9: double() }),
    2: message({ 1: IDS }),
    3: message({ 1: IDS, 2: bytes() }),
    4: message({ 1: bytes(), 2: bytes() }),
  },
  read: ({ ask, renew, giveBack, leave }) => {
    if (leave) return readLeave(leave)
    if (renew) return { kind: 'renew', leaseIds: leaseIds(renew.leaseIds, 1) }
    if (giveBack) {
      const reason = oneOf(giveBack.reason, RETURN_REASONS, 'return reason')
      return { kind: 'return', leaseIds: leaseIds(giveBack.leaseIds, 1), reason }
    }
    if (!ask) throw refusal('malformed', 'a lease request asks, renews, returns or leaves')
    return {
      kind: 'ask',
      count: integer(ask.count, 1, LIMITS.leasesPerRequest.value, 'leases asked for'),
      policyId: hexOf(ask.policyId, 32, 'policy id'),
      nonce: hexOf(ask.nonce, ID_BYTES, 'nonce'),
      holding: leaseIds(ask.holding, 0),
      agent: label(ask.agent, 'nameBytes', 'agent'),
      backend: label(ask.backend, 'shortNameBytes', 'backend'),
      tokensPerSecond: finite(ask.tokensPerSecond, 0, LIMITS.tokensPerSecond.value, 'tokens per second'),
    }
  },
  write: (request) => {
    if (request.kind === 'renew') return { renew: { leaseIds: request.leaseIds.map(bytesOf) } }
    if (request.kind === 'return') {
      return { giveBack: { leaseIds: request.leaseIds.map(bytesOf), reason: request.reason } }
    }
    if (request.kind === 'leave') return { leave: { reason: request.reason, detail: request.detail } }
    const { policyId, nonce, holding } = request
    const ids = { policyId: bytesOf(policyId), nonce: bytesOf(nonce), holding: holding.map(bytesOf) }
    const { count, agent, backend, tokensPerSecond } = request
    return { ask: { count, agent, backend, tokensPerSecond, ...ids } }
  },
})

function leaseIds(list: readonly Uint8Array[], atLeast: number): readonly string[] {
  if (list.length < atLeast) throw refusal('malformed', 'no lease ids')
  const ids = list.map((id) => hexOf(id, ID_BYTES, 'lease id'))
  distinct(ids, 'lease ids')
  return ids
}

/** The coordinator's assignment of one group to one node. */
export interface Lease {
  readonly leaseId: string
  /** Position in the round, from which the seed is derived. */
  readonly index: number
  readonly policyId: Sha256
  readonly version: number
  readonly taskId: string
  /** Canonical JSON of the task. */
  readonly task: Uint8Array
  /** Hex of 32 bytes. Environment seed and sampler seeds are derived from it. */
  readonly seed: string
  readonly deadlineMs: number
  readonly groupSize: number
  /** Run configuration that the group will be verified under, named as in the manifest of its round. */
  readonly configurationId: Sha256
}

export interface LeaseResponse {
  readonly leases: readonly Lease[]
  readonly renewed: readonly { readonly leaseId: string; readonly deadlineMs: number }[]
  /** Time until the next request is useful. */
  readonly retryAfterMs: number
  /** The manifest in force, for a node that uses another one. */
  readonly manifestId: Sha256
  /** Why the response has fewer leases than requested. */
  readonly reason: RefusalCode | null
  readonly detail: string
  /** Nodes that have the adapter in force, at addresses that the requesting node can dial. */
  readonly providers: readonly PeerAddresses[]
}

export const leaseResponse: Codec<LeaseResponse> = codec<LeaseResponse, prove.LeaseResponse.$Properties>({
  what: 'lease response',
  limit: 'leaseResponseBytes',
  type: prove.LeaseResponse,
  shape: {
    1: message(
      {
        1: bytes(),
        2: number(),
        3: bytes(),
        4: number(),
        5: bytes(),
        6: bytes(),
        7: bytes(),
        8: double(),
        9: number(),
        10: bytes(),
      },
      LIMITS.leasesPerRequest.value,
    ),
    2: message({ 1: bytes(), 2: double() }, LIMITS.leasesHeld.value),
    3: number(),
    4: bytes(),
    5: bytes(),
    6: bytes(),
    7: PEERS,
  },
  read: (wire) => ({
    leases: wire.leases.map(readLease),
    renewed: wire.renewed.map(({ leaseId, deadlineMs }) => ({
      leaseId: hexOf(leaseId, ID_BYTES, 'lease id'),
      deadlineMs: timeMs(deadlineMs, 'deadline'),
    })),
    retryAfterMs: integer(wire.retryAfterMs, 0, 2 ** 31 - 1, 'retry delay'),
    manifestId: hexOf(wire.manifestId, 32, 'manifest id'),
    reason: wire.reason === '' ? null : refusalCode(wire.reason),
    detail: sentence(wire.detail, 'detailBytes', 'detail'),
    providers: readPeers(wire.providers),
  }),
  write: (response) => ({
    ...response,
    leases: response.leases.map((lease) => ({
      ...lease,
      leaseId: bytesOf(lease.leaseId),
      policyId: bytesOf(lease.policyId),
      seed: bytesOf(lease.seed),
      configurationId: bytesOf(lease.configurationId),
    })),
    renewed: response.renewed.map(({ leaseId, deadlineMs }) => ({ leaseId: bytesOf(leaseId), deadlineMs })),
    manifestId: bytesOf(response.manifestId),
    reason: response.reason ?? '',
    providers: writePeers(response.providers),
  }),
})

function readLease(wire: Decoded<prove.Lease.$Properties>): Lease {
  atMost('taskBytes', wire.task.length, 'task')
  return {
    leaseId: hexOf(wire.leaseId, ID_BYTES, 'lease id'),
    index: integer(wire.index, 0, MAX_ROUND, 'lease index'),
    policyId: hexOf(wire.policyId, 32, 'policy id'),
    version: integer(wire.version, 0, MAX_ROUND, 'version'),
    taskId: label(wire.taskId, 'nameBytes', 'task id'),
    task: wire.task,
    seed: hexOf(wire.seed, LEASE_SEED_BYTES, 'lease seed'),
    deadlineMs: timeMs(wire.deadlineMs, 'deadline'),
    groupSize: integer(wire.groupSize, LIMITS.minGroupSize.value, LIMITS.maxGroupSize.value, 'group size'),
    configurationId: hexOf(wire.configurationId, 32, 'configuration id'),
  }
}
