import { createHash } from 'node:crypto'
import { type AdapterShape, DRAW, type Engine, EngineError, type EngineLanes, type Tokenizer } from '../engine/index.js'
import {
  type Catalogue,
  DEFAULT_LIMITS,
  type EpisodeLimits,
  type Stage,
  toolsetSchemaSha256,
} from '../episode/index.js'
import { largestBody } from '../judging/index.js'
import {
  type BlobDescription,
  checkSuccession,
  LIMITS,
  type PolicyManifest,
  type SealedManifest,
} from '../proto/index.js'
import type { BlobStore, Clock, SnapshotExchange } from '../swarm/index.js'
import { checkCanary } from './canary.js'
import { NodeError } from './errors.js'
import { cacheTypeFor, stageFor } from './policy-stage.js'

/** The policy the engine runs. */
export interface LoadedPolicy {
  readonly manifestId: string
  readonly manifest: PolicyManifest
  readonly limits: EpisodeLimits
  /** Where its groups are played: in its dialect, and for its reward. */
  readonly stage: Stage
}

export interface PolicyKeeper {
  readonly loaded: LoadedPolicy | null
  /**
   * Brings the engine to the newest manifest that a peer has: adapter fetched and checked, canary passed. A further round
   * of the policy in force costs neither.
   * @throws NodeError; TransportError when nobody can be asked
   */
  update(signal: AbortSignal): Promise<LoadedPolicy>
  /**
   * Fetches the adapter of the newest manifest while the engine works under another: `update` finds here what has come. Not beside an
   * `update`.
   * @throws what `update` throws
   */
  fetchAhead(signal: AbortSignal): Promise<void>
  /** Fetches what else was published with the policy in force, for others to fetch here. @throws TransportError; NodeError `unwritable` */
  fetchRest(signal: AbortSignal): Promise<void>
}

export interface PolicyKeeperParts {
  readonly engine: Engine
  /**
   * Makes room in the engine for rollouts of so many tokens, in caches of that type.
   * @throws NodeError `incompatible` when its owner does not allow so many; EngineError `model_refused`
   */
  readonly makeRoomFor: (rollouts: Required<EngineLanes>, signal: AbortSignal) => Promise<void>
  readonly tokenizer: Tokenizer
  readonly baseSha256: string
  readonly catalogue: Catalogue
  readonly snapshots: SnapshotExchange
  /** Where fetched adapters are kept: only the newest of them, or a run would fill the disk. */
  readonly blobs: BlobStore
  /** The coordinator, which is asked for as little of an adapter as possible. */
  readonly origin: string
  /** Who may have manifests and blobs, the coordinator first. */
  readonly peers: () => readonly string[]
  readonly clock: Clock
  /** Whether everything that is published with a policy is kept with its adapter. Default: it is not. */
  readonly mirrors?: boolean
}

/** What the engine runs, its canary passed. */
interface TriedPolicy {
  readonly policyId: string
  /** Another one rounds differently. */
  readonly backend: string
}

const adapterOf = ({ blobs }: PolicyManifest): BlobDescription | undefined =>
  blobs.find(({ role }) => role === 'adapter')

/** Late nodes still ask for the adapter of the version before. */
const ADAPTERS_KEPT = 3

/** How long the others may deliver nothing to a fetch that nobody waits for: a chunk needs as long to come to thousands over some steps. */
export const AHEAD_PATIENCE_MS = 30_000

export function createPolicyKeeper(parts: PolicyKeeperParts): PolicyKeeper {
  const {
    engine,
    makeRoomFor,
    tokenizer,
    baseSha256,
    catalogue,
    snapshots,
    blobs,
    origin,
    peers,
    clock,
    mirrors = false,
  } = parts
  let loaded: LoadedPolicy | null = null
  let inForce: TriedPolicy | null = null
  let kept: readonly PolicyManifest[] = []

  const checkCompatible = ({ policy, taskSpec, limits: { groupSize, ...limits } }: PolicyManifest): void => {
    if (policy.base.ggufSha256 !== baseSha256) {
      throw new NodeError(
        'wrong_base',
        `the run uses ${policy.base.name} with SHA-256 ${policy.base.ggufSha256}; yours has ${baseSha256}`,
      )
    }
    const template = createHash('sha256').update(tokenizer.chatTemplate).digest('hex')
    if (policy.chatTemplateSha256 !== template)
      throw new NodeError('incompatible', 'another chat template than the base model holds')
    const { draw } = policy.sampler
    if (draw !== DRAW)
      throw new NodeError(
        'incompatible',
        `the run's tokens are drawn by ${draw}, this version of the node knows ${DRAW}`,
      )
    const names = (taskSpec.servers ?? '').split(',')
    const servers = names.flatMap((name) => catalogue.get(name) ?? [])
    const missing = names.filter((name) => !catalogue.has(name))
    if (missing.length > 0)
      throw new NodeError(
        'incompatible',
        `the run plays in worlds that this node does not have (${missing.join(', ')}): get their folders from whoever runs it, look at their code, and start the node with --worlds <folder> for each`,
      )
    if (policy.toolsetSchemaSha256 !== toolsetSchemaSha256(servers))
      throw new NodeError(
        'incompatible',
        `the run's worlds (${names.join(', ')}) are not those of this version of the node`,
      )
    if (largestBody(groupSize, { ...DEFAULT_LIMITS, ...limits }) > LIMITS.groupBodyBytes.value) {
      throw new NodeError(
        'incompatible',
        `the run's groups of ${groupSize} rollouts of up to ${limits.maxRolloutTokens} tokens may be too large to be sent`,
      )
    }
  }

  /** The stage in use, where the rules have not changed: it keeps prompts and worlds. */
  const stageOf = ({ policy }: PolicyManifest): Stage => {
    if (loaded?.stage.dialect.name === policy.dialect && loaded.stage.reward.name === policy.reward) return loaded.stage
    return stageFor(policy, catalogue.values(), tokenizer)
  }

  /** @throws NodeError `unwritable` for what the system says of the adapters' folder: trying again would only cost traffic */
  const onDisk = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (cause) {
      if (!(cause instanceof Error) || !('syscall' in cause)) throw cause
      throw new NodeError('unwritable', `${blobs.directory}: ${cause.message}`, { cause })
    }
  }

  /** Before a download: what an earlier process left is of no use now, and takes its room. */
  const makeRoom = async (manifest: PolicyManifest): Promise<void> => {
    const { sha256 } = adapterOf(manifest)!
    kept = [manifest, ...kept.filter((other) => adapterOf(other)!.sha256 !== sha256)].slice(0, ADAPTERS_KEPT)
    await onDisk(() => blobs.prune(new Set(kept.flatMap((one) => filesOf(one).map((file) => file.sha256)))))
  }

  /** What is kept of a publication. */
  const filesOf = ({ blobs: files }: PolicyManifest): BlobDescription[] =>
    files.filter(({ role }) => role === 'adapter' || (mirrors && role !== 'base'))

  const fetch = (blob: BlobDescription, signal: AbortSignal, patience: { originPatienceMs?: number } = {}) =>
    onDisk(() => snapshots.fetchBlob(blob, peers(), { signal, origin, more: peers, ...patience }))

  const applyAdapter = async (blob: BlobDescription, shape: AdapterShape, signal: AbortSignal): Promise<void> => {
    const apply = async (): Promise<void> => {
      const path = await fetch(blob, signal)
      await engine.usePolicy({ path, sha256: blob.sha256, shape }, signal)
    }
    try {
      await apply()
    } catch (error) {
      if (!(error instanceof EngineError) || error.code !== 'adapter_refused') throw error
      if (await blobs.isWhole(blob.sha256, signal)) throw error
      // The disk has changed the file since it was checked: left there, it would stop the node at every start.
      await onDisk(() => blobs.remove(blob.sha256))
      await apply()
    }
  }

  const isInForce = ({ policyId }: PolicyManifest): boolean =>
    inForce?.policyId === policyId && inForce.backend === engine.build.backend

  const load = async ({ manifest, manifestId }: SealedManifest, signal: AbortSignal): Promise<LoadedPolicy> => {
    checkSuccession(manifest, loaded?.manifest.round ?? null, clock.now())
    checkCompatible(manifest)
    const stage = stageOf(manifest)
    const { maxTurnTokens, maxRolloutTokens, maxAssistantTurns } = manifest.limits
    const limits = { ...DEFAULT_LIMITS, maxTurnTokens, maxRolloutTokens, maxAssistantTurns }
    await makeRoomFor({ contextSize: maxRolloutTokens, cacheType: cacheTypeFor(manifest.policy) }, signal)
    if (!isInForce(manifest)) await apply(manifest, signal)
    loaded = { manifestId, manifest, limits, stage }
    return loaded
  }

  const apply = async (manifest: PolicyManifest, signal: AbortSignal): Promise<void> => {
    // Whatever goes wrong from here on, nobody knows which policy the engine runs.
    inForce = null
    const adapter = adapterOf(manifest)
    if (adapter && manifest.policy.adapter) {
      await makeRoom(manifest)
      await applyAdapter(adapter, manifest.policy.adapter, signal)
    } else {
      await engine.usePolicy(null, signal)
    }
    await checkCanary(engine, manifest.canary, signal)
    inForce = { policyId: manifest.policyId, backend: engine.build.backend }
  }

  return {
    get loaded() {
      return loaded
    },
    async update(signal) {
      const sealed = await snapshots.fetchManifest(peers(), 'newest', signal)
      return sealed.manifestId === loaded?.manifestId && isInForce(sealed.manifest) ? loaded : load(sealed, signal)
    },
    async fetchAhead(signal) {
      const { manifest } = await snapshots.fetchManifest(peers(), 'newest', signal)
      const adapter = adapterOf(manifest)
      if (!adapter || isInForce(manifest)) return
      checkSuccession(manifest, loaded?.manifest.round ?? null, clock.now())
      checkCompatible(manifest)
      await makeRoom(manifest)
      await fetch(adapter, signal, { originPatienceMs: AHEAD_PATIENCE_MS })
    },
    async fetchRest(signal) {
      if (!loaded) return
      for (const file of filesOf(loaded.manifest)) await fetch(file, signal)
    },
  }
}
