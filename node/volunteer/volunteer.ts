import type { PrivateKey } from '@libp2p/interface'
import { createCleanUp } from '../../common/cleanup/index.js'
import { packageVersion } from '../../common/cli/index.js'
import { LIMITS } from '../../proto/index.js'
import type { Engine, Tokenizer } from '../../rollout/engine/index.js'
import type { Catalogue } from '../../rollout/episode/index.js'
import { type BlobStore, createAnnouncementFilter, type SwarmHost, serveGroups } from '../../swarm/index.js'
import { openOutbox } from '../delivery/outbox.js'
import { type HistoryAlarm, openHeadKeeper } from '../history/head-keeper.js'
import { watchHistory } from '../history/watch-history.js'
import { teamRegistration } from '../leaderboard/team-registration.js'
import type { Membership } from '../network/membership.js'
import { shareByVerdicts } from '../network/peer-tiers.js'
import { mirrorPublications } from '../policy/mirror-publications.js'
import { createPolicyKeeper, type PolicyKeeperParts } from '../policy/policy-keeper.js'
import type { NodeProgress } from '../report/progress.js'
import type { NodeStore } from '../store/store.js'
import { workLoop } from '../work/work-loop.js'
import type { WorkLoopParts } from '../work/work-parts.js'
import type { WorkEnd } from '../work/work-state.js'

type Optional = 'pauseControl' | 'onRest' | 'stay' | 'capacity' | 'trySpeed'

export interface VolunteerParts extends Pick<WorkLoopParts, Optional>, Pick<PolicyKeeperParts, 'refit'> {
  readonly host: SwarmHost
  readonly membership: Membership
  readonly key: PrivateKey
  readonly store: NodeStore
  /** The blob store of the membership. */
  readonly blobs: BlobStore
  readonly engine: Engine
  readonly tokenizer: Tokenizer
  readonly baseSha256: string
  readonly catalogue: Catalogue
  /** Team that also gets the credit; null: no team any more; undefined: unchanged. */
  readonly team?: string | null | undefined
  /** Whether the node keeps and serves everything that is published. Default: only adapters. */
  readonly mirrors?: boolean
  /** Folder for heads of the log that the node has seen, and for proofs. Default: the node does not watch the history of the run. */
  readonly proofs?: string
  readonly onProgress: (progress: NodeProgress) => void
  /** 0 .. 1, spreads what many nodes do at the same moment. Default: `Math.random`. */
  readonly random?: () => number
}

/** A node that works for a run. */
export interface Volunteer {
  /** Resolves when the work is over. Rejects with the error that stopped it. */
  readonly work: Promise<WorkEnd>
  /** Number of finished groups without a verdict. */
  readonly waiting: number
  /** Stops the work. The caller closes host, membership, engine and store. */
  close(): Promise<void>
}

const AGENT = `prove-node/${packageVersion()}`

/** Works for a run. Groups of an earlier process are sent first. */
export async function startVolunteer(parts: VolunteerParts): Promise<Volunteer> {
  const { host, membership, store, onProgress, random = Math.random, mirrors = false } = parts
  const { connection, neighbours, snapshots, events, shard, peers } = membership
  const coordinator = host.runId
  const closing = new AbortController()
  const cleanUp = createCleanUp()
  const close = async (): Promise<void> => {
    closing.abort(new Error('the node is closing'))
    await cleanUp.close()
  }
  try {
    const groups = await serveGroups(host, { lookup: (hash) => store.body(hash) })
    cleanUp.add(() => groups.close())
    const gate = createAnnouncementFilter(
      host.clock,
      LIMITS.groupsPerMinute.value,
      LIMITS.groupsPassedOnPerMinute.value,
    )
    const leave = shard.join('groups', { check: gate.check, deliver: () => undefined })
    cleanUp.add(() => leave())
    const outbox = await openOutbox({
      ...{ host, coordinator, store, shard, onDigest: shareByVerdicts(host) },
      onVerdict: (verdict, earlier) => {
        onProgress({ type: 'verdict', verdict, earlier })
        events.publish({ type: 'settled' })
      },
      onDropped: (leaseId, code) => {
        onProgress({ type: 'dropped', leaseId, code })
        events.publish({ type: 'settled' })
      },
    })
    cleanUp.add(() => outbox.close())
    const { clock } = host
    const keeper = createPolicyKeeper({
      ...parts,
      logger: host.logger,
      snapshots,
      origin: coordinator,
      peers,
      clock,
      mirrors,
    })
    if (mirrors) {
      const mirroring = mirrorPublications({ host, keeper }, closing.signal)
      cleanUp.add(() => mirroring)
    }
    if (parts.proofs !== undefined) {
      const onAlarm = (alarm: HistoryAlarm): void => onProgress({ type: 'alarm', ...alarm })
      const heads = await openHeadKeeper({ folder: parts.proofs, run: coordinator, onAlarm })
      const history = {
        host,
        store,
        snapshots,
        random,
        keeper: heads,
        onAlarm,
        neighbours: () => neighbours.connected(),
      }
      const watching = watchHistory(history, closing.signal)
      cleanUp.add(() => watching)
    }
    const registerTeam = teamRegistration(host, { team: parts.team, onProgress, signal: closing.signal })
    const work = workLoop(
      {
        ...parts,
        ...{ coordinator, keeper, outbox, agent: AGENT, connection, events, random },
        onProviders: (providers) => {
          neighbours.suggest(providers, true)
          // The coordinator answers registered keys only.
          registerTeam()
        },
      },
      closing.signal,
    )
    const ended = work.catch((error: unknown) => host.logger.child({ part: 'work' }).debug({ error }, 'the work ended'))
    cleanUp.add(() => ended)
    return {
      work,
      get waiting() {
        return outbox.waiting.length
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
