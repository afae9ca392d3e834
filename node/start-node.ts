import { join } from 'node:path'
import type { Logger } from 'pino'
import { type EngineProcess, type EngineResources, openEngine, openTokenizer } from '../engine/index.js'
import { CATALOGUE } from '../servers/catalogue.js'
import {
  type Bandwidth,
  createBlobStore,
  createHost,
  type Finding,
  type Identity,
  type JoinAddress,
  type Metrics,
  reachOf,
} from '../swarm/index.js'
import { hashBaseModel } from './base-model.js'
import { NodeError } from './errors.js'
import type { Gate } from './gate.js'
import { ownListenAddresses } from './listen-port.js'
import type { NodeProgress } from './progress.js'
import type { NodeStore } from './store.js'
import { startVolunteer, type Volunteer } from './volunteer.js'
import { meteredEngine, type WorkMeter } from './work-meter.js'

/** Where a node is to be found by others. */
export interface Whereabouts {
  /** Addresses to listen on; none: the node only dials out. Left out: a port of its own, the same at each start. */
  readonly listen?: readonly string[]
  /** Where others can dial it, if that is not where it listens: behind a router that forwards a port. */
  readonly announce?: readonly string[]
  /** Passes small messages on between nodes that cannot dial each other. */
  readonly relay?: boolean
}

export interface NodeOptions extends Whereabouts {
  readonly coordinator: JoinAddress
  readonly dataDir: string
  readonly identity: Identity
  /** The node's records of this run. */
  readonly store: NodeStore
  /** Path of the base model's GGUF. */
  readonly modelPath: string
  /** Tokens of the longest rollout that fits, prompt included. */
  readonly contextSize: number
  /** What of the machine inference may take. */
  readonly resources: EngineResources
  readonly bandwidth: Bandwidth
  /** When the node works, rests and ends. */
  readonly gate: Gate
  /** Go on when the run is complete. */
  readonly stay: boolean
  readonly logger: Logger
  readonly metrics: Metrics
  /** Counts what the engine samples. */
  readonly meter: WorkMeter
  readonly onProgress: (progress: NodeProgress) => void
}

export interface RunningNode extends Pick<Volunteer, 'work' | 'waiting' | 'groupSize'> {
  readonly engine: EngineProcess
  /** Others that the node is connected with. */
  readonly peers: number
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
  const { coordinator, dataDir, identity, modelPath, contextSize, logger, metrics, onProgress } = options
  const cleanUps: (() => Promise<unknown>)[] = []
  const close = async (): Promise<void> => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  }
  try {
    const baseSha256 = await hashBaseModel(modelPath)
    const tokenizer = await openTokenizer(modelPath)
    cleanUps.push(() => tokenizer.close())
    const engine = await openEngine({ modelPath, contextSize, ...options.resources })
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
      metrics,
    }).catch((cause: Error) => {
      // The library's message goes on with a stack trace.
      const reason = cause.message.split(/\n +at /)[0]!.replaceAll(/\s+/g, ' ')
      throw new NodeError('bad_listen', `${listen.join(', ')}: ${reason}`, { cause })
    })
    cleanUps.push(() => host.close())
    const resting = new AbortController()
    cleanUps.push(async () => resting.abort())
    const volunteer = await startVolunteer({
      coordinator,
      host,
      key: identity.privateKey,
      store: options.store,
      blobs: await createBlobStore(join(dataDir, 'blobs')),
      engine: meteredEngine(engine, options.meter),
      tokenizer,
      baseSha256,
      contextSize,
      lanes: () => engine.resources.lanes,
      catalogue: CATALOGUE,
      bandwidth: options.bandwidth,
      gate: options.gate,
      stay: options.stay,
      // Memory is what a rest is for as much as anything else.
      onRest: () => engine.unload(resting.signal),
      onProgress,
    })
    cleanUps.push(() => volunteer.close())
    return {
      work: volunteer.work,
      engine,
      get waiting() {
        return volunteer.waiting
      },
      get groupSize() {
        return volunteer.groupSize
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
