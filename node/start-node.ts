import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { openEngine, openTokenizer } from '../engine/index.js'
import type { Invitation } from '../proto/index.js'
import { CATALOGUE } from '../servers/catalogue.js'
import {
  createBlobStore,
  createHost,
  createSnapshotExchange,
  type JoinAddress,
  keepConnected,
  openIdentity,
  type SnapshotExchange,
  type SwarmHost,
} from '../swarm/index.js'
import { type BaseModel, readBaseModel } from './base/find-base.js'
import { obtainBaseModel } from './base/obtain-base.js'
import { NodeError } from './errors.js'
import type { JoinPlan } from './join-plan.js'
import { peersOf } from './peers.js'
import type { NodeProgress } from './progress.js'
import { openNodeStore } from './store.js'
import { startVolunteer } from './volunteer.js'
import { untilConnected } from './work-loop.js'

export interface NodeOptions {
  readonly coordinator: JoinAddress
  /** Null: the coordinator is asked for it, where it is needed. */
  readonly invitation: Invitation | null
  readonly dataDir: string
  /** Path of the base model's GGUF; null: it is found or fetched. */
  readonly modelPath: string | null
  /** Path of the model that comes with this program. */
  readonly packagedModel: string
  /** Asked once per run, before anything is fetched: whether the user wants it. */
  readonly agree: (plan: JoinPlan, signal: AbortSignal) => Promise<boolean>
  /** Addresses to listen on; none: the node only dials out. */
  readonly listen: readonly string[]
  readonly threads: number
  /** Rollouts generated in parallel at most; a group may not be larger. */
  readonly lanes: number
  /** Tokens of the longest rollout that fits, prompt included. */
  readonly contextSize: number
  readonly gpu: 'auto' | false
  /** Main memory of the engine's process; default: a share of the machine's. */
  readonly memoryLimitBytes?: number
  readonly logger: Logger
  readonly onProgress: (progress: NodeProgress) => void
  /** Ends what takes long before the work begins. */
  readonly signal: AbortSignal
}

export interface RunningNode {
  readonly peerId: string
  /** Rejects with what stopped the work; otherwise pending until `close`. */
  readonly work: Promise<void>
  close(): Promise<void>
}

/** Starts a volunteer: engine, connection to the coordinator, work. Groups of an earlier run of the node are sent first. */
export async function startNode(options: NodeOptions): Promise<RunningNode> {
  const { coordinator, dataDir, logger, onProgress, signal } = options
  const cleanUps: (() => Promise<unknown>)[] = []
  const close = async (): Promise<void> => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  }
  try {
    await mkdir(dataDir, { recursive: true })
    const given = options.modelPath === null ? null : await readBaseModel(options.modelPath, signal)
    const identity = await openIdentity(dataDir)
    const store = await openNodeStore(join(dataDir, 'store'), coordinator.peerId)
    cleanUps.push(() => store.close())
    const host = await createHost({
      privateKey: identity.privateKey,
      runId: coordinator.peerId,
      listen: options.listen,
      logger,
    }).catch((cause: Error) => {
      // The library's message goes on with a stack trace.
      const reason = cause.message.split(/\n +at /)[0]!.replaceAll(/\s+/g, ' ')
      throw new NodeError('bad_listen', `${options.listen.join(', ')}: ${reason}`, { cause })
    })
    cleanUps.push(() => host.close())
    const blobs = await createBlobStore(join(dataDir, 'blobs'))
    const snapshots = await createSnapshotExchange(host, { store: blobs })
    cleanUps.push(() => snapshots.close())
    const base = await obtainBase(options, given, { host, snapshots })
    snapshots.offerFile(base.blob, base.path)
    const tokenizer = await openTokenizer(base.path)
    cleanUps.push(() => tokenizer.close())
    const { threads, lanes, contextSize, gpu, memoryLimitBytes } = options
    const engine = await openEngine({
      modelPath: base.path,
      threads,
      lanes,
      gpu,
      contextSize,
      ...(memoryLimitBytes === undefined ? {} : { memoryLimitBytes }),
    })
    cleanUps.push(() => engine.close())
    onProgress({
      type: 'ready',
      peerId: identity.peerId,
      backend: engine.build.backend,
      confinement: engine.confinement,
    })
    const volunteer = await startVolunteer({
      coordinator,
      host,
      key: identity.privateKey,
      store,
      blobs,
      snapshots,
      engine,
      tokenizer,
      baseSha256: base.blob.sha256,
      contextSize,
      lanes,
      catalogue: CATALOGUE,
      onProgress,
    })
    cleanUps.push(() => volunteer.close())
    return { peerId: identity.peerId, work: volunteer.work, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Connects for as long as it takes; the volunteer keeps its own connection afterwards. */
async function obtainBase(
  options: NodeOptions,
  given: BaseModel | null,
  { host, snapshots }: { readonly host: SwarmHost; readonly snapshots: SnapshotExchange },
): Promise<BaseModel> {
  const { coordinator, invitation, dataDir, packagedModel: packaged, agree, onProgress, signal } = options
  const connection = keepConnected(host, coordinator)
  try {
    const parts = {
      ...{ dataDir, invitation, given, packaged, snapshots, agree, onProgress },
      coordinator: coordinator.peerId,
      connected: (until: AbortSignal) => untilConnected({ connection, onProgress, host }, until),
      peers: () => peersOf(host, coordinator.peerId),
      clock: host.clock,
    }
    return await obtainBaseModel(parts, signal)
  } finally {
    await connection.close()
  }
}
