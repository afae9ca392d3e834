import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Logger } from 'pino'
import { openEngine, openTokenizer } from '../engine/index.js'
import { createPromptRenderer, type Stage } from '../episode/index.js'
import { CATALOGUE } from '../servers/catalogue.js'
import { createWorldCache } from '../servers/kernel/index.js'
import {
  channelsOf,
  createBlobStore,
  createHost,
  createSnapshotExchange,
  type JoinAddress,
  keepConnected,
  openIdentity,
  serveGroups,
  systemClock,
} from '../swarm/index.js'
import { NodeError } from './errors.js'
import { openOutbox } from './outbox.js'
import { createPolicyKeeper } from './policy-keeper.js'
import type { NodeProgress } from './progress.js'
import { openNodeStore } from './store.js'
import { workLoop } from './work-loop.js'

export interface NodeOptions {
  readonly coordinator: JoinAddress
  readonly dataDir: string
  /** Path of the base model's GGUF. */
  readonly modelPath: string
  /** Addresses to listen on; none: the node only dials out. */
  readonly listen: readonly string[]
  readonly threads: number
  /** Rollouts generated in parallel at most; a group may not be larger. */
  readonly lanes: number
  /** Tokens of the longest rollout that fits, prompt included. */
  readonly contextSize: number
  readonly gpu: 'auto' | false
  readonly team: string | null
  readonly logger: Logger
  readonly onProgress: (progress: NodeProgress) => void
}

export interface RunningNode {
  readonly peerId: string
  /** Rejects with what stopped the work; otherwise pending until `close`. */
  readonly work: Promise<void>
  close(): Promise<void>
}

const AGENT = 'prove-node/0.1.0'

/** Starts a volunteer: engine, connection to the coordinator, work. Groups of an earlier run of the node are sent first. */
export async function startNode(options: NodeOptions): Promise<RunningNode> {
  const { coordinator, dataDir, modelPath, logger, onProgress } = options
  const closing = new AbortController()
  const { signal } = closing
  const cleanUps: (() => Promise<unknown>)[] = []
  const close = async (): Promise<void> => {
    closing.abort(new Error('the node is closing'))
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  }
  try {
    await mkdir(dataDir, { recursive: true })
    const baseSha256 = await hashFile(modelPath)
    const identity = await openIdentity(dataDir)
    const store = await openNodeStore(join(dataDir, 'store'), coordinator.peerId)
    cleanUps.push(() => store.close())
    const tokenizer = await openTokenizer(modelPath)
    cleanUps.push(() => tokenizer.close())
    const { threads, lanes, contextSize, gpu } = options
    const engine = await openEngine({ modelPath, threads, lanes, gpu, contextSize })
    cleanUps.push(() => engine.close())
    onProgress({ type: 'ready', peerId: identity.peerId, backend: engine.build.backend })

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
    const connection = keepConnected(host, coordinator)
    cleanUps.push(() => connection.close())
    const blobs = await createBlobStore(join(dataDir, 'blobs'))
    const snapshots = await createSnapshotExchange(host, { store: blobs })
    cleanUps.push(() => snapshots.close())
    const groups = await serveGroups(host, { lookup: (hash) => store.body(hash) })
    cleanUps.push(() => groups.close())
    // Announcements are passed on; what a node needs to know of the policy comes with its leases.
    const channels = channelsOf(coordinator.peerId)
    host.gossip.join(channels.policy, { deliver: () => undefined })
    host.gossip.join(channels.groups, { deliver: () => undefined })
    const outbox = await openOutbox({
      host,
      coordinator: coordinator.peerId,
      store,
      onVerdict: (verdict) => onProgress({ type: 'verdict', verdict }),
      onDropped: (leaseId, code) => onProgress({ type: 'dropped', leaseId, code }),
    })
    cleanUps.push(() => outbox.close())
    const peers = (): string[] => [
      coordinator.peerId,
      ...host.connections().flatMap(({ peer, limited }) => (limited || peer === coordinator.peerId ? [] : [peer])),
    ]
    const keeper = createPolicyKeeper({
      engine,
      contextSize,
      tokenizer,
      baseSha256,
      catalogue: CATALOGUE,
      snapshots,
      blobs,
      peers,
      clock: systemClock,
    })
    const stage: Stage = {
      catalogue: CATALOGUE,
      worlds: createWorldCache(),
      tokenizer,
      renderer: createPromptRenderer(tokenizer),
    }
    const work = workLoop(
      {
        host,
        key: identity.privateKey,
        coordinator: coordinator.peerId,
        engine,
        stage,
        keeper,
        outbox,
        agent: AGENT,
        team: options.team,
        connected: (waiting) => connection.connected(waiting),
        onProgress,
      },
      signal,
    )
    const ended = work.catch((error: unknown) => logger.debug({ error }, 'the work ended'))
    cleanUps.push(() => ended)
    return { peerId: identity.peerId, work, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  try {
    await pipeline(createReadStream(path), hash)
  } catch (cause) {
    throw new NodeError('wrong_base', `the base model cannot be read: ${(cause as Error).message}`, { cause })
  }
  return hash.digest('hex')
}
