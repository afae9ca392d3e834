import type { PrivateKey } from '@libp2p/interface'
import type { PeerAddresses } from '../../proto/index.js'
import type { Engine } from '../../rollout/engine/index.js'
import type { KeptConnection, SwarmHost } from '../../swarm/index.js'
import type { Outbox } from '../delivery/outbox.js'
import type { EventWatch, NodeEvents } from '../network/events.js'
import { fetchAhead } from '../policy/fetch-ahead.js'
import type { LoadedPolicy, PolicyKeeper } from '../policy/policy-keeper.js'
import type { NodeProgress } from '../report/progress.js'
import type { NodeStore } from '../store/store.js'
import { createGroupsInProgress, type GroupsInProgress } from './groups-in-progress.js'
import { createLeaseTiming, type LeaseTiming } from './lease-timing.js'
import { ALWAYS_WORK, type PauseControl } from './pause-control.js'
import { createReportedSpeed, type ReportedSpeed } from './reported-speed.js'

export interface WorkLoopParts {
  readonly host: SwarmHost
  readonly key: PrivateKey
  readonly coordinator: string
  readonly engine: Engine
  readonly keeper: PolicyKeeper
  readonly outbox: Outbox
  readonly store: Pick<NodeStore, 'keepRounds'>
  readonly agent: string
  /** The connection to the coordinator. */
  readonly connection: Pick<KeptConnection, 'connected' | 'problem'>
  /** Announcements of the coordinator, and the ends of this node's groups. */
  readonly events: NodeEvents
  /** Receives the nodes that have the current adapter. */
  readonly onProviders: (providers: readonly PeerAddresses[]) => void
  /** 0 .. 1, spreads what many nodes do at the same moment. */
  readonly random: () => number
  readonly onProgress: (progress: NodeProgress) => void
  /** When the node works, rests and ends. Default: it works until the signal fires. */
  readonly pauseControl?: PauseControl
  /** Called when a rest begins and no group is in progress. */
  readonly onRest?: () => Promise<void>
  /** Whether the node continues when the run is complete: the run may be extended, and other nodes may want its adapter. Default: true. */
  readonly stay?: boolean
  /** Resolves when the engine has free slots, so that another group does not slow down those in progress. Default: one group at a time. */
  readonly capacity?: (signal: AbortSignal) => Promise<void>
  /** Measures the tokens per second of a group with this many rollouts; null: the trial took too long. Default: the speed is unknown. */
  readonly trySpeed?: (rollouts: number, signal: AbortSignal) => Promise<number | null>
}

/** The parts of a work loop with their defaults, and what the loop remembers. */
export interface Worker extends Omit<WorkLoopParts, 'trySpeed'> {
  readonly pauseControl: PauseControl
  readonly onRest: () => Promise<void>
  readonly groups: GroupsInProgress
  readonly leaseTiming: LeaseTiming
  readonly speed: ReportedSpeed
  readonly watch: EventWatch
  /** Ends the work. */
  readonly closing: AbortSignal
}

/** Adds the defaults and the memory of the loop. @param closing  ends the work */
export function createWorker({ trySpeed, ...parts }: WorkLoopParts, closing: AbortSignal): Worker {
  const { keeper, events } = parts
  return {
    pauseControl: ALWAYS_WORK,
    onRest: async () => undefined,
    ...parts,
    groups: createGroupsInProgress((over) => fetchAhead(parts, AbortSignal.any([closing, over]))),
    leaseTiming: createLeaseTiming(parts.host.clock),
    speed: createReportedSpeed(trySpeed && ((until) => trySpeed(keeper.loaded!.manifest.limits.groupSize, until))),
    watch: events.listen(),
    closing,
  }
}

/** Loads the newest policy, and reports a version that is new here. */
export async function updatePolicy(
  { keeper, store, onProgress }: Pick<Worker, 'keeper' | 'store' | 'onProgress'>,
  signal: AbortSignal,
): Promise<LoadedPolicy> {
  const before = keeper.loaded
  const policy = await keeper.update(signal)
  const { version, policyId, closedRounds } = policy.manifest
  if (policy !== before) await store.keepRounds(closedRounds)
  if (version !== before?.manifest.version)
    onProgress({ type: 'policy', version, versions: versionsOf(policy.manifest), policyId })
  return policy
}

/** The number of versions that the run is to have, if its manifest states one. */
function versionsOf({ taskSpec }: LoadedPolicy['manifest']): number | null {
  const versions = Number(taskSpec.versions)
  return Number.isSafeInteger(versions) && versions > 0 ? versions : null
}
