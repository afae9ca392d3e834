import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PrivateKey } from '@libp2p/interface'
import {
  type Lease,
  type LeaseAsk,
  type LeaseResponse,
  openVerdictDigest,
  type VerdictDigest,
} from '../../proto/index.js'
import {
  createHost,
  offerGroup,
  requestLeases,
  requestVerdicts,
  type SwarmHost,
  serveGroups,
  TransportError,
} from '../../swarm/index.js'
import { patientClock, soon } from '../support/swarm-nodes.js'

export interface RunAddress {
  readonly runId: string
  readonly address: string
}

/** A key with a host in the swarm: a volunteer's side of the protocol, without a will of its own. */
export interface Participant {
  readonly host: SwarmHost
  readonly key: PrivateKey
  readonly peerId: string
  /** Bodies that the coordinator may pull, by hash. */
  readonly bodies: Map<string, Uint8Array>
  /** Whether it leaves the coordinator's pulls unanswered. */
  stalling: boolean
  /** The leases that it says it holds. */
  readonly holding: Set<string>
  ask(policyId: string, change?: Partial<LeaseAsk>): Promise<LeaseResponse>
  giveBack(leases: readonly Pick<Lease, 'leaseId'>[]): Promise<void>
  offer(sealed: Uint8Array): Promise<void>
  verdicts(): Promise<VerdictDigest>
  close(): Promise<void>
}

const DIALS = 10
/** Over a second: the coordinator takes only so many connections a second from one address. */
const DIAL_PAUSE_MS = 1200

/** Dials until it is let in, as nodes do. @throws TransportError `unreachable` */
export async function dialPatiently(host: SwarmHost, address: string): Promise<void> {
  for (let dial = 1; ; dial++) {
    try {
      await host.dial(address, soon())
      return
    } catch (error) {
      if (!(error instanceof TransportError) || dial === DIALS) throw error
      await sleep(DIAL_PAUSE_MS)
    }
  }
}

/** A participant that listens nowhere: it dials the coordinator and serves over that connection. */
export async function openParticipant({ runId, address }: RunAddress, key: PrivateKey): Promise<Participant> {
  const host = await createHost({ privateKey: key, runId, clock: patientClock })
  const bodies = new Map<string, Uint8Array>()
  const holding = new Set<string>()
  const unanswered = Promise.withResolvers<null>()
  /** libp2p drops a connection whose pings a busy machine answers too late: then it dials again, as nodes do. Nothing was sent yet. */
  const connected = async <T>(talk: () => Promise<T>): Promise<T> => {
    try {
      return await talk()
    } catch (error) {
      if (!(error instanceof TransportError) || error.code !== 'unreachable') throw error
      await dialPatiently(host, address)
      return talk()
    }
  }
  const participant: Participant = {
    host,
    key,
    peerId: host.peerId,
    bodies,
    stalling: false,
    holding,
    async ask(policyId, change = {}) {
      const request: LeaseAsk = {
        kind: 'ask',
        count: 1,
        policyId,
        nonce: randomBytes(16).toString('hex'),
        holding: [...holding],
        agent: 'prove-node/0.1.0',
        backend: 'cpu@3.22.1',
        tokensPerSecond: 0,
        ...change,
      }
      const response = await connected(() => requestLeases(host, runId, request, soon()))
      for (const { leaseId } of response.leases) holding.add(leaseId)
      return response
    },
    async giveBack(leases) {
      if (leases.length === 0) return
      const leaseIds = leases.map(({ leaseId }) => leaseId)
      const request = { kind: 'return', leaseIds, reason: 'shutdown' } as const
      await connected(() => requestLeases(host, runId, request, soon()))
      for (const leaseId of leaseIds) holding.delete(leaseId)
    },
    offer: (sealed) => connected(() => offerGroup(host, runId, sealed, soon())),
    async verdicts() {
      const { digest } = await connected(() => requestVerdicts(host, runId, { cursor: 0, max: 64 }, soon()))
      return openVerdictDigest(digest, runId)
    },
    close() {
      unanswered.resolve(null)
      return host.close()
    },
  }
  try {
    await dialPatiently(host, address)
    await serveGroups(host, {
      lookup: (hash) => (participant.stalling ? unanswered.promise : Promise.resolve(bodies.get(hash) ?? null)),
    })
  } catch (error) {
    await host.close()
    throw error
  }
  return participant
}
