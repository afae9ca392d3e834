import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { openEngine, openTokenizer } from '../engine/index.js'
import { CATALOGUE } from '../servers/catalogue.js'
import { createBlobStore, createHost, type Finding, type JoinAddress, openIdentity, reachOf } from '../swarm/index.js'
import { hashBaseModel } from './base-model.js'
import { NodeError } from './errors.js'
import { ownListenAddresses } from './listen-port.js'
import type { NodeProgress } from './progress.js'
import { openNodeStore } from './store.js'
import { startVolunteer } from './volunteer.js'

export interface NodeOptions {
  readonly coordinator: JoinAddress
  readonly dataDir: string
  /** Path of the base model's GGUF. */
  readonly modelPath: string
  /** Addresses to listen on; none: the node only dials out. Left out: a port of its own, the same at each start. */
  readonly listen?: readonly string[]
  /** Where others can dial it, if that is not where it listens: behind a router that forwards a port. */
  readonly announce?: readonly string[]
  /** Passes small messages on between nodes that cannot dial each other. */
  readonly relay?: boolean
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
}

export interface RunningNode {
  readonly peerId: string
  /** Rejects with what stopped the work; otherwise pending until `close`. */
  readonly work: Promise<void>
  close(): Promise<void>
}

const findingOf = ({ relay, listens }: { readonly relay: boolean; readonly listens: boolean }): Finding => ({
  relay: relay ? 'offered' : 'used',
  localNetwork: true,
  portMapping: listens,
  tryAddresses: true,
})

/** Starts a volunteer: engine, connection to the coordinator, work. Groups of an earlier run of the node are sent first. */
export async function startNode(options: NodeOptions): Promise<RunningNode> {
  const { coordinator, dataDir, modelPath, logger, onProgress } = options
  const cleanUps: (() => Promise<unknown>)[] = []
  const close = async (): Promise<void> => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  }
  try {
    await mkdir(dataDir, { recursive: true })
    const baseSha256 = await hashBaseModel(modelPath)
    const identity = await openIdentity(dataDir)
    const store = await openNodeStore(join(dataDir, 'store'), coordinator.peerId)
    cleanUps.push(() => store.close())
    const tokenizer = await openTokenizer(modelPath)
    cleanUps.push(() => tokenizer.close())
    const { threads, lanes, contextSize, gpu, memoryLimitBytes } = options
    const engine = await openEngine({
      modelPath,
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

    const runReach = reachOf(coordinator.address)
    const listen = options.listen ?? (await ownListenAddresses(dataDir, runReach))
    const { announce = [], relay = false } = options
    const host = await createHost({
      privateKey: identity.privateKey,
      runId: coordinator.peerId,
      listen,
      announce,
      runReach,
      // A run on one machine needs no help, and leaves the network alone.
      ...(runReach === 'machine' ? {} : { finding: findingOf({ relay, listens: listen.length > 0 }) }),
      logger,
    }).catch((cause: Error) => {
      // The library's message goes on with a stack trace.
      const reason = cause.message.split(/\n +at /)[0]!.replaceAll(/\s+/g, ' ')
      throw new NodeError('bad_listen', `${listen.join(', ')}: ${reason}`, { cause })
    })
    cleanUps.push(() => host.close())
    const blobs = await createBlobStore(join(dataDir, 'blobs'))
    const volunteer = await startVolunteer({
      coordinator,
      host,
      key: identity.privateKey,
      store,
      blobs,
      engine,
      tokenizer,
      baseSha256,
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
