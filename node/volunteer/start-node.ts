import { join } from 'node:path'
import type { Logger } from 'pino'
import { packageVersion } from '../../common/cli/index.js'
import type { Invitation } from '../../proto/index.js'
import {
  type EngineProcess,
  type EngineResources,
  openEngine,
  openTokenizer,
  passedOverLine,
} from '../../rollout/engine/index.js'
import { DEFAULT_LIMITS } from '../../rollout/episode/index.js'
import { loadEnvironments } from '../../servers/catalogue.js'
import {
  type Bandwidth,
  createBlobStore,
  createHost,
  type Identity,
  type JoinAddress,
  type Metrics,
  reachOf,
  type SwarmHost,
  widest,
} from '../../swarm/index.js'
import { readBaseModel } from '../base/find-base.js'
import { obtainBaseModel } from '../base/obtain-base.js'
import { ownListenAddresses } from '../network/listen-port.js'
import { openMembership } from '../network/membership.js'
import { untilConnected } from '../network/until-connected.js'
import { NodeError } from '../report/errors.js'
import type { JoinPlan } from '../report/join-plan.js'
import type { NodeProgress } from '../report/progress.js'
import type { NodeStore } from '../store/store.js'
import { measureSpeed } from '../work/engine-speed.js'
import { type PauseControl, type Rest, whileOnDuty } from '../work/pause-control.js'
import { meteredEngine, type WorkMeter } from '../work/work-meter.js'
import { startVolunteer, type Volunteer } from './volunteer.js'

/** Tokens per lane of an engine that does not know yet what the run needs: enough for the demo's. */
const FIRST_TOKENS = DEFAULT_LIMITS.maxRolloutTokens

/** Where a node is to be found by others. */
export interface Whereabouts {
  /** Addresses to listen on; none: the node only dials out. Left out: a port of its own, the same at each start. */
  readonly listen?: readonly string[]
  /** Where others can dial it, if that is not where it listens: behind a router that forwards a port. */
  readonly announce?: readonly string[]
}

export interface NodeOptions extends Whereabouts {
  readonly coordinator: JoinAddress
  /** Null: the coordinator is asked for it, where it is needed. */
  readonly invitation: Invitation | null
  readonly dataDir: string
  readonly identity: Identity
  /** The node's records of this run. */
  readonly store: NodeStore
  /** Path of the base model's GGUF; null: it is found or fetched. */
  readonly modelPath: string | null
  /** Path of the model that comes with this program. */
  readonly packagedModel: string
  /** Asked once per run, before anything is fetched: whether the user wants it. */
  readonly agree: (plan: JoinPlan, signal: AbortSignal) => Promise<boolean>
  /** Tokens of the longest rollout that it takes part with, prompt included; null: whatever the run needs. */
  readonly mostTokens: number | null
  /** What of the machine inference may take. */
  readonly resources: EngineResources
  readonly bandwidth: Bandwidth
  /** When the node works, rests and ends. */
  readonly pauseControl: PauseControl
  /** Go on when the run is complete. */
  readonly stay: boolean
  /** The team that the credit counts for, too; null: none any more; undefined: as it was. */
  readonly team: string | null | undefined
  /** Keeps and serves everything that the run publishes, and not adapters alone. */
  readonly mirrors: boolean
  readonly logger: Logger
  readonly metrics: Metrics
  /** Counts what the engine samples. */
  readonly meter: WorkMeter
  readonly onProgress: (progress: NodeProgress) => void
  /** Ends what takes long before the work begins. */
  readonly signal: AbortSignal
}

export interface RunningNode extends Pick<Volunteer, 'work' | 'waiting'> {
  readonly engine: EngineProcess
  /** Others that the node is connected with. */
  readonly peers: number
  close(): Promise<void>
}

/** Starts a volunteer: connection to the coordinator, base model, engine, work. Groups of an earlier run of the node are sent first. */
export async function startNode(options: NodeOptions): Promise<RunningNode> {
  const { coordinator, dataDir, identity, store, mostTokens, bandwidth, onProgress, signal } = options
  const cleanUps: (() => Promise<unknown>)[] = []
  const close = async (): Promise<void> => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  }
  try {
    const given = options.modelPath === null ? null : await readBaseModel(options.modelPath, signal)
    const host = await listen(options)
    cleanUps.push(() => host.close())
    const blobs = await createBlobStore(join(dataDir, 'blobs'))
    const membership = await openMembership({
      ...{ coordinator, host, store, blobs, bandwidth },
      onAnnouncement: (text) => onProgress({ type: 'announcement', text }),
      onPlace: (place) => onProgress({ type: 'leaderboard', place }),
    })
    cleanUps.push(() => membership.close())
    const { connection, snapshots, peers } = membership
    const resting = {
      onRest: async ({ why, untilMs }: Rest) => onProgress({ type: 'rest', why, untilMs }),
      onResumed: () => onProgress({ type: 'resumed' }),
    }
    const base = await obtainBaseModel(
      {
        ...{ dataDir, given, snapshots, peers, onProgress },
        coordinator: coordinator.peerId,
        invitation: options.invitation,
        packaged: options.packagedModel,
        agree: options.agree,
        onDuty: (download, until) =>
          whileOnDuty(options.pauseControl, host.clock, download, { ...resting, signal: until }),
        connected: (until) => untilConnected({ connection, onProgress, host }, until),
        clock: host.clock,
      },
      signal,
    )
    snapshots.offerFile(base.blob, base.path)
    const tokenizer = await openTokenizer(base.path)
    cleanUps.push(() => tokenizer.close())
    const opening = { modelPath: base.path, contextSize: FIRST_TOKENS, ...options.resources }
    const engine = await openEngine(opening, {
      keepCaches: true,
      onPassedOver: (passed) => onProgress({ type: 'notice', text: passedOverLine(passed) }),
    })
    cleanUps.push(() => engine.close())
    onProgress({
      type: 'ready',
      peerId: identity.peerId,
      backend: engine.build.backend,
      placement: engine.placement,
      confinement: engine.confinement,
    })
    const unloading = new AbortController()
    cleanUps.push(async () => unloading.abort())
    const volunteer = await startVolunteer({
      host,
      membership,
      key: identity.privateKey,
      store,
      blobs,
      engine: meteredEngine(engine, options.meter),
      tokenizer,
      baseSha256: base.blob.sha256,
      makeRoomFor: async ({ contextSize: tokens, cacheType }, until) => {
        if (mostTokens !== null && tokens > mostTokens)
          throw new NodeError(
            'incompatible',
            `the run's rollouts have up to ${tokens} tokens, and this node takes part with ${mostTokens} at most: start it without --context`,
          )
        if (tokens <= engine.contextSize && cacheType === engine.placement.cacheType) return
        await engine.reconfigure(engine.resources, until, {
          contextSize: Math.max(tokens, engine.contextSize),
          cacheType,
        })
        const { placement, build } = engine
        onProgress({ type: 'refitted', tokens, backend: build.backend, placement })
      },
      catalogue: await loadEnvironments(),
      pauseControl: options.pauseControl,
      stay: options.stay,
      capacity: engine.capacity,
      trySpeed: (rollouts, until) => speedOf({ engine, tokenizer }, rollouts, until),
      team: options.team,
      mirrors: options.mirrors,
      // Memory is what a rest is for as much as anything else.
      onRest: () => engine.unload(unloading.signal),
      onProgress,
    })
    cleanUps.push(() => volunteer.close())
    return {
      work: volunteer.work,
      engine,
      get waiting() {
        return volunteer.waiting
      },
      get peers() {
        return new Set(host.connections().map(({ peer }) => peer)).size
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** A short trial of the run's own group. */
const TRIAL = { promptTokens: 64, sampledTokens: 8 }
/** Some tokens of each rollout come in a fraction of this where a group is ready in time. */
const TRIAL_MS = 30_000

/** @returns tokens a second; null when the trial does not end in time. @throws the signal's reason */
async function speedOf(
  parts: Parameters<typeof measureSpeed>[0],
  slots: number,
  signal: AbortSignal,
): Promise<number | null> {
  const tooLong = AbortSignal.timeout(TRIAL_MS)
  try {
    return (await measureSpeed(parts, { ...TRIAL, slots }, AbortSignal.any([signal, tooLong]))).sampledPerSecond
  } catch (error) {
    signal.throwIfAborted()
    if (tooLong.aborted) return null
    throw error
  }
}

/** @throws NodeError `bad_listen` */
async function listen({
  coordinator,
  dataDir,
  identity,
  logger,
  metrics,
  onProgress,
  ...whereabouts
}: NodeOptions): Promise<SwarmHost> {
  const { addresses } = coordinator
  const runReach = reachOf(widest(addresses)[0] ?? addresses[0]!)
  const { announce = [] } = whereabouts
  const listening = whereabouts.listen ?? (await ownListenAddresses(dataDir, runReach))
  // A run on one machine needs no help, and leaves the network alone.
  const discovery = runReach === 'machine' ? {} : { localNetwork: true, tryAddresses: true }
  return createHost({
    privateKey: identity.privateKey,
    runId: coordinator.peerId,
    listen: listening,
    announce,
    runReach,
    discovery,
    program: packageVersion(),
    logger,
    metrics,
  }).catch((cause: Error) => {
    // The library's message goes on with a stack trace.
    const reason = cause.message.split(/\n +at /)[0]!.replaceAll(/\s+/g, ' ')
    throw new NodeError('bad_listen', `${listening.join(', ')}: ${reason}`, { cause })
  })
}
