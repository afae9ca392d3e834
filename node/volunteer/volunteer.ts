import type { PrivateKey } from '@libp2p/interface'
import { createCleanUp } from '../../common/cleanup/index.js'
import { packageVersion } from '../../common/cli/index.js'
import { LIMITS } from '../../proto/index.js'
import type { Engine, Tokenizer } from '../../rollout/engine/index.js'
import type { Catalogue } from '../../rollout/episode/index.js'
import { type BlobStore, channelsOf, createAnnouncementFilter, type SwarmHost, serveGroups } from '../../swarm/index.js'
import { openOutbox } from '../delivery/outbox.js'
import { teamRegistration } from '../leaderboard/team-registration.js'
import type { Membership } from '../network/membership.js'
import { mirrorPublications } from '../policy/mirror-publications.js'
import { createPolicyKeeper, type PolicyKeeperParts } from '../policy/policy-keeper.js'
import type { NodeProgress } from '../report/progress.js'
import type { NodeStore } from '../store/store.js'
import { workLoop } from '../work/work-loop.js'
import type { WorkLoopParts } from '../work/work-parts.js'
import type { WorkEnd } from '../work/work-state.js'

export interface VolunteerParts
  extends Pick<WorkLoopParts, 'pauseControl' | 'onRest' | 'stay' | 'capacity' | 'trySpeed'>,
    Pick<PolicyKeeperParts, 'makeRoomFor'> {
  readonly host: SwarmHost
  readonly membership: Membership
  readonly key: PrivateKey
  readonly store: NodeStore
  /** Those of the membership. */
  readonly blobs: BlobStore
  readonly engine: Engine
  readonly tokenizer: Tokenizer
  readonly baseSha256: string
  readonly catalogue: Catalogue
  /** The team that the credit counts for, too; null: none any more; undefined: as it was. */
  readonly team?: string | null | undefined
  /** Keeps and serves everything that is published, and not adapters alone. Default: it does not. */
  readonly mirrors?: boolean
  readonly onProgress: (progress: NodeProgress) => void
  /** 0 .. 1, spreads what many nodes do at the same instant. Default: chance. */
  readonly random?: () => number
}

export interface Volunteer {
  /** Resolves when the work is over. Rejects with what stopped it. */
  readonly work: Promise<WorkEnd>
  /** Finished groups without a verdict. */
  readonly waiting: number
  /** Stops the work. Host, membership, engine and store stay open: they are their owner's. */
  close(): Promise<void>
}

const AGENT = `prove-node/${packageVersion()}`

/** Works for a run. Groups of an earlier run of the node are sent first. */
export async function startVolunteer(parts: VolunteerParts): Promise<Volunteer> {
  const { host, membership, key, store, blobs, engine, tokenizer, baseSha256, makeRoomFor, catalogue } = parts
  const {
    onProgress,
    random = Math.random,
    pauseControl: duty,
    onRest,
    stay,
    capacity,
    trySpeed,
    team,
    mirrors = false,
  } = parts
  const { connection, neighbours, snapshots, news, peers } = membership
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
    host.gossip.join(channelsOf(coordinator).groups, { check: gate.check, deliver: () => undefined })
    const outbox = await openOutbox({
      host,
      coordinator,
      store,
      onVerdict: (verdict, earlier) => {
        onProgress({ type: 'verdict', verdict, earlier })
        news.publish({ type: 'settled' })
      },
      onDropped: (leaseId, code) => {
        onProgress({ type: 'dropped', leaseId, code })
        news.publish({ type: 'settled' })
      },
    })
    cleanUp.add(() => outbox.close())
    const keeper = createPolicyKeeper({
      engine,
      makeRoomFor,
      tokenizer,
      baseSha256,
      catalogue,
      snapshots,
      blobs,
      origin: coordinator,
      peers,
      clock: host.clock,
      mirrors,
    })
    if (mirrors) {
      const mirroring = mirrorPublications({ host, keeper }, closing.signal)
      cleanUp.add(() => mirroring)
    }
    const tellTeam = teamRegistration(host, { team, onProgress, signal: closing.signal })
    const work = workLoop(
      {
        host,
        key,
        coordinator,
        engine,
        keeper,
        outbox,
        store,
        agent: AGENT,
        connection,
        news,
        onProviders: (providers) => {
          neighbours.suggest(providers, true)
          // Whoever has got an answer is registered.
          tellTeam()
        },
        random,
        onProgress,
        ...(duty ? { pauseControl: duty } : {}),
        ...(onRest ? { onRest } : {}),
        ...(stay === undefined ? {} : { stay }),
        ...(capacity ? { capacity } : {}),
        ...(trySpeed ? { trySpeed } : {}),
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
