import { join } from 'node:path'
import { createCleanUp } from '../../common/cleanup/index.js'
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
import { type Bandwidth, createBlobStore } from '../../swarm/index.js'
import { readBaseModel } from '../base/find-base.js'
import { obtainBaseModel } from '../base/obtain-base.js'
import { openMembership } from '../network/membership.js'
import { type HostOptions, openOwnHost } from '../network/own-host.js'
import { untilConnected } from '../network/until-connected.js'
import type { PolicyKeeperParts } from '../policy/policy-keeper.js'
import { NodeError } from '../report/errors.js'
import type { JoinPlan } from '../report/join-plan.js'
import type { NodeProgress } from '../report/progress.js'
import type { NodeStore } from '../store/store.js'
import { trySpeed } from '../work/engine-speed.js'
import { type PauseControl, type Rest, whileOnDuty } from '../work/pause-control.js'
import { meteredEngine, type WorkMeter } from '../work/work-meter.js'
import { startVolunteer, type Volunteer } from './volunteer.js'

/** Tokens per slot of an engine before the node knows what the run needs: enough for the demo. */
const FIRST_TOKENS = DEFAULT_LIMITS.maxRolloutTokens

export interface NodeOptions extends HostOptions {
  readonly onProgress: (progress: NodeProgress) => void
  /** Null: the node asks the coordinator for the invitation when it needs one. */
  readonly invitation: Invitation | null
  /** The node's records of this run. */
  readonly store: NodeStore
  /** Path of the base model's GGUF; null: the node finds or fetches it. */
  readonly modelPath: string | null
  /** Path of the model that this program includes. */
  readonly packagedModel: string
  /** Asks the user once per run, before anything is fetched. */
  readonly agree: (plan: JoinPlan, signal: AbortSignal) => Promise<boolean>
  /** Tokens of the longest rollout that the node accepts, prompt included; null: as many as the run needs. */
  readonly mostTokens: number | null
  /** Resources of the machine that inference may use. */
  readonly resources: EngineResources
  readonly bandwidth: Bandwidth
  /** When the node works, rests and ends. */
  readonly pauseControl: PauseControl
  /** Whether the node continues when the run is complete. */
  readonly stay: boolean
  /** Team that also gets the credit; null: no team any more; undefined: unchanged. */
  readonly team: string | null | undefined
  /** Whether the node keeps and serves everything that the run publishes, not only adapters. */
  readonly mirrors: boolean
  /** Counts the sampled tokens. */
  readonly meter: WorkMeter
  /** Ends slow steps before the work begins. */
  readonly signal: AbortSignal
}

/** A started node. */
export interface RunningNode extends Pick<Volunteer, 'work' | 'waiting'> {
  readonly engine: EngineProcess
  /** Number of connected peers. */
  readonly peers: number
  close(): Promise<void>
}

/** Starts a volunteer: connection to the coordinator, base model, engine, work. Groups of an earlier process are sent first. */
export async function startNode(options: NodeOptions): Promise<RunningNode> {
  const { coordinator, dataDir, identity, store, pauseControl, bandwidth, onProgress, signal } = options
  const cleanUp = createCleanUp()
  try {
    const given = options.modelPath === null ? null : await readBaseModel(options.modelPath, signal)
    const host = await openOwnHost(options)
    cleanUp.add(() => host.close())
    const blobs = await createBlobStore(join(dataDir, 'blobs'))
    const membership = await openMembership({
      ...{ coordinator, host, store, blobs, bandwidth },
      onAnnouncement: (text) => onProgress({ type: 'announcement', text }),
      onPlace: (place) => onProgress({ type: 'leaderboard', place }),
    })
    cleanUp.add(() => membership.close())
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
        onDuty: (download, until) => whileOnDuty(pauseControl, host.clock, download, { ...resting, signal: until }),
        connected: (until) => untilConnected({ connection, onProgress, host }, until),
        clock: host.clock,
      },
      signal,
    )
    snapshots.offerFile(base.blob, base.path)
    // The confined process reads the run's file first: a header on which llama.cpp aborts must not end this one.
    const engine = await openNodeEngine(base.path, options)
    cleanUp.add(() => engine.close())
    const tokenizer = await openTokenizer(base.path)
    cleanUp.add(() => tokenizer.close())
    const unloading = new AbortController()
    cleanUp.add(() => unloading.abort())
    const volunteer = await startVolunteer({
      ...{ host, membership, store, blobs, tokenizer, pauseControl, onProgress },
      key: identity.privateKey,
      engine: meteredEngine(engine, options.meter),
      baseSha256: base.blob.sha256,
      refit: refitting(engine, options),
      catalogue: await loadEnvironments(),
      stay: options.stay,
      capacity: engine.capacity,
      trySpeed: (rollouts, until) => trySpeed({ engine, tokenizer }, rollouts, until),
      team: options.team,
      mirrors: options.mirrors,
      proofs: dataDir,
      // A rest frees the memory too.
      onRest: () => engine.unload(unloading.signal),
    })
    cleanUp.add(() => volunteer.close())
    return {
      work: volunteer.work,
      engine,
      get waiting() {
        return volunteer.waiting
      },
      get peers() {
        return new Set(host.connections().map(({ peer }) => peer)).size
      },
      close: cleanUp.close,
    }
  } catch (error) {
    await cleanUp.close()
    throw error
  }
}

async function openNodeEngine(
  modelPath: string,
  { resources, identity, onProgress }: NodeOptions,
): Promise<EngineProcess> {
  const engine = await openEngine(
    { modelPath, contextSize: FIRST_TOKENS, ...resources },
    {
      keepCaches: true,
      onPassedOver: (passed) => onProgress({ type: 'notice', text: passedOverLine(passed) }),
    },
  )
  const { build, placement, confinement } = engine
  onProgress({ type: 'ready', peerId: identity.peerId, backend: build.backend, placement, confinement })
  return engine
}

/** Returns a function that makes the engine's slots large enough for a run. */
const refitting =
  (
    engine: EngineProcess,
    { mostTokens, onProgress }: Pick<NodeOptions, 'mostTokens' | 'onProgress'>,
  ): PolicyKeeperParts['refit'] =>
  async ({ contextSize: tokens, cacheType }, signal) => {
    if (mostTokens !== null && tokens > mostTokens)
      throw new NodeError(
        'incompatible',
        `the run's rollouts have up to ${tokens} tokens, but this node accepts ${mostTokens}: start it without --context`,
      )
    if (tokens <= engine.contextSize && cacheType === engine.placement.cacheType) return
    const contextSize = Math.max(tokens, engine.contextSize)
    await engine.reconfigure(engine.resources, signal, { contextSize, cacheType })
    onProgress({ type: 'refitted', tokens, backend: engine.build.backend, placement: engine.placement })
  }
