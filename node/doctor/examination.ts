import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCleanUp } from '../../common/cleanup/index.js'
import { packageVersion } from '../../common/cli/index.js'
import { type Invitation, openVerdictDigest, type PolicyManifest } from '../../proto/index.js'
import {
  type EngineOptions,
  type EngineProcess,
  openEngine,
  openTokenizer,
  type Tokenizer,
} from '../../rollout/engine/index.js'
import {
  createBlobStore,
  createHost,
  createSnapshotExchange,
  dialAny,
  type JoinAddress,
  openIdentity,
  type Reach,
  reachOf,
  requestVerdicts,
  type SnapshotExchange,
  type SwarmHost,
  TransportError,
  widest,
} from '../../swarm/index.js'
import { type BaseModel, findBaseModel, readBaseModel } from '../base/find-base.js'
import { modelFolder, openModelCache } from '../base/model-cache.js'
import { resourcesOf } from '../limits/engine-resources.js'
import type { LimitSettings } from '../limits/settings.js'
import { freePort, keptPort } from '../network/listen-port.js'
import type { NodeView } from '../session/view.js'

/** The subject of an examination. */
export interface Subject {
  readonly dataDir: string
  /** Path of a base model that the user gives; null: the run's, if it is on this machine. */
  readonly modelPath: string | null
  readonly packagedModel: string
  readonly limits: LimitSettings
  /** The run that the user gives, or the run of the running node; null: no run. */
  readonly run: { readonly coordinator: JoinAddress; readonly invitation: Invitation | null } | null
  /** The node that runs on the data folder; null: no node is running. */
  readonly node: NodeView | null
}

/** A connection to a run with a temporary key, which is not registered. */
export interface ReachedRun {
  readonly host: SwarmHost
  readonly snapshots: SnapshotExchange
  readonly coordinator: string
}

/** Data that several checks need, each obtained at its first use. */
export interface Examination extends Subject {
  /** The networks from which the run can be dialled; null: no run. */
  readonly runReach: Reach | null
  /** Connects to the coordinator. @throws TransportError `unreachable`, NodeError */
  reached(signal: AbortSignal): Promise<ReachedRun>
  /** Fetches the newest manifest; null: the run has no version yet. @throws TransportError */
  manifest(signal: AbortSignal): Promise<PolicyManifest | null>
  invitation(signal: AbortSignal): Promise<Invitation>
  /** Measures by how much the coordinator's clock is ahead of this machine's (ms), and the error of the result. */
  clockOffset(signal: AbortSignal): Promise<{ readonly ms: number; readonly within: number }>
  /** Finds the run's base model on this machine; null: it is not here. @throws NodeError `wrong_base` */
  baseModel(signal: AbortSignal): Promise<BaseModel | null>
  close(): Promise<void>
}

/** Begins an examination. Nothing is opened before it is needed. */
export function examine(subject: Subject): Examination {
  const { dataDir, modelPath, packagedModel, run, node } = subject
  const cleanUp = createCleanUp()
  const once = <T>(make: (signal: AbortSignal) => Promise<T>): ((signal: AbortSignal) => Promise<T>) => {
    let made: Promise<T> | null = null
    return (signal) => {
      made ??= make(signal)
      return made
    }
  }
  const scratch = async (): Promise<string> => {
    const folder = await mkdtemp(join(tmpdir(), 'prove-doctor-'))
    cleanUp.add(() => rm(folder, { recursive: true, force: true }))
    return folder
  }
  const runReach = run && reachOf(widest(run.coordinator.addresses)[0] ?? run.coordinator.addresses[0]!)

  const reached = once(async (signal): Promise<ReachedRun> => {
    const { coordinator } = run!
    const folder = await scratch()
    const { privateKey } = await openIdentity(folder)
    const port = node === null ? await keptPort(dataDir) : null
    const host = await createHost({
      privateKey,
      runId: coordinator.peerId,
      program: packageVersion(),
      // A running node uses the port itself.
      ...(runReach === 'machine' || node !== null
        ? {}
        : {
            listen: [`/ip4/0.0.0.0/tcp/${(port !== null && (await freePort('0.0.0.0', port))) || 0}`],
            discovery: { tryAddresses: true },
          }),
    })
    cleanUp.add(() => host.close())
    await dialAny(host, coordinator.addresses, signal)
    const snapshots = await createSnapshotExchange(host, { store: await createBlobStore(join(folder, 'blobs')) })
    cleanUp.add(() => snapshots.close())
    return { host, snapshots, coordinator: coordinator.peerId }
  })

  const invitation = once(async (signal): Promise<Invitation> => {
    if (run!.invitation) return run!.invitation
    const { snapshots, coordinator } = await reached(signal)
    return snapshots.fetchInvitation([coordinator], signal)
  })

  return {
    ...subject,
    runReach,
    reached,
    invitation,
    manifest: once(async (signal) => {
      const { snapshots, coordinator } = await reached(signal)
      try {
        return (await snapshots.fetchManifest([coordinator], 'newest', signal)).manifest
      } catch (error) {
        const { cause } = error as Error
        if (cause instanceof TransportError && cause.refusal === 'not_found') return null
        throw error
      }
    }),
    clockOffset: once(async (signal) => {
      const { host, coordinator } = await reached(signal)
      const askedMs = Date.now()
      const { digest } = await requestVerdicts(host, coordinator, { cursor: 0, max: 1 }, signal)
      const answeredMs = Date.now()
      const { issuedAtMs } = await openVerdictDigest(digest, coordinator)
      const within = (answeredMs - askedMs) / 2
      return { ms: issuedAtMs - (askedMs + within), within }
    }),
    baseModel: once(async (signal) => {
      if (modelPath !== null) return readBaseModel(modelPath, signal)
      const { base } = await invitation(signal)
      // An examination creates no folders.
      const cache = await openModelCache(existsSync(modelFolder(dataDir)) ? dataDir : await scratch())
      return findBaseModel(base.sha256, { packaged: packagedModel, cache }, signal)
    }),
    close: cleanUp.close,
  }
}

/** Opens an engine and its tokenizer for the duration of `work`. */
export async function withEngine<T>(
  options: Pick<EngineOptions, 'modelPath' | 'contextSize' | 'slots' | 'cacheType'>,
  limits: LimitSettings,
  work: (parts: { readonly engine: EngineProcess; readonly tokenizer: Tokenizer }) => Promise<T>,
): Promise<T> {
  // The confined process reads the run's file first: a header on which llama.cpp aborts must not end this one.
  const engine = await openEngine({ ...resourcesOf(limits), ...options })
  try {
    const tokenizer = await openTokenizer(options.modelPath)
    try {
      return await work({ engine, tokenizer })
    } finally {
      await tokenizer.close()
    }
  } finally {
    await engine.close()
  }
}
