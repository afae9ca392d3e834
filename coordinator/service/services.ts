import type { PrivateKey } from '@libp2p/interface'
import { sealVerdictDigest, type Verdict } from '../../proto/index.js'
import {
  type BlobStore,
  type ShardHub,
  type SwarmHost,
  serveGroups,
  serveLeaderboard,
  serveLeases,
  serveVerdicts,
} from '../../swarm/index.js'
import type { Intake } from '../intake/intake.js'
import type { LeaseService } from '../leases/lease-service.js'
import type { Recorder } from '../ledger/recorder.js'
import type { NodeVerdict } from '../ledger/run-state.js'
import type { Attendance } from './attendance.js'
import { createHistoryService } from './history-service.js'
import type { IdleNodes } from './idle-nodes.js'
import { createLeaderboardService } from './leaderboard-service.js'
import type { Providers } from './providers.js'

export interface ServiceParts {
  readonly host: SwarmHost
  readonly key: PrivateKey
  readonly recorder: Recorder
  readonly leases: LeaseService
  readonly intake: Intake
  readonly bodies: BlobStore
  readonly idle: IdleNodes
  readonly attendance: Attendance
  readonly providers: Providers
  readonly shards: ShardHub
  /** Credit of a reported re-derivation. */
  readonly rederivationCredit: number
}

/** Requests and gossip that the coordinator answers. */
export interface RunServices {
  /** Gossips `count` verdicts of a node from position `from` of its list on, or from the oldest stored one. */
  sendVerdicts(node: string, from: number, count: number): Promise<void>
  close(): Promise<void>
}

export async function serveRun(parts: ServiceParts): Promise<RunServices> {
  const { host, key, recorder, leases, intake, bodies, idle, attendance, providers, shards } = parts
  const { rederivationCredit: credit } = parts
  const { clock } = host
  const { state } = recorder
  const digest = (node: string, cursor: number, count: number): Promise<Uint8Array> => {
    const { verdicts, verdictCount, credit } = state.nodes.get(node) ?? { verdicts: [], verdictCount: 0, credit: 0 }
    const oldest = verdictCount - verdicts.length
    const fromCursor = Math.max(cursor, oldest)
    const first = fromCursor - oldest
    return sealVerdictDigest(key, host.runId, {
      peerId: node,
      fromCursor,
      verdicts: verdicts.slice(first, first + count).map(toVerdict),
      totalCredit: credit,
      issuedAtMs: clock.now(),
    })
  }
  const history = createHistoryService({ recorder, key, runId: host.runId, credit, clock })
  const leaderboard = createLeaderboardService({ recorder, key, runId: host.runId, clock })
  const servers = await Promise.all([
    serveLeases(host, async (request, { peer }) => {
      if (request.kind === 'leave') await attendance.left(peer, request)
      else attendance.seen(peer)
      const answer = await leases.answer(request, peer)
      if (request.kind !== 'ask') return { ...answer, providers: [] }
      idle.answered(peer, answer)
      providers.note(peer, request.policyId)
      return { ...answer, providers: providers.nearTo(peer) }
    }),
    serveVerdicts(host, async (request, { peer }) => ({
      digest: await digest(peer, request.cursor, request.max),
      more: (state.nodes.get(peer)?.verdictCount ?? 0) > request.cursor + request.max,
      ...(await history.answer(request, peer)),
    })),
    serveLeaderboard(host, (request, { peer }) => leaderboard.answer(request, peer)),
    serveGroups(host, {
      lookup: (hash) => bodies.read(hash),
      onOffer: async (group) => intake.accept(group),
    }),
  ])
  return {
    async sendVerdicts(node, from, count) {
      await shards.publishVerdicts(node, await digest(node, from, count))
    },
    async close() {
      await Promise.all(servers.map((server) => server.close()))
    },
  }
}

function toVerdict({ leaseId, bodySha256, accepted, code, detail, credit, atMs }: NodeVerdict): Verdict {
  return { leaseId, bodySha256, accepted, code, detail, credit, receivedAtMs: atMs }
}
