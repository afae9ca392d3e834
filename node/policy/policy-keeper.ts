import { type BlobDescription, checkSuccession, type PolicyManifest, type SealedManifest } from '../../proto/index.js'
import { type AdapterShape, type Engine, EngineError, type EngineSlots } from '../../rollout/engine/index.js'
import { DEFAULT_LIMITS, type EpisodeLimits, type EpisodeRuntime } from '../../rollout/episode/index.js'
import type { Clock, SnapshotExchange } from '../../swarm/index.js'
import { checkCanary } from './canary.js'
import { checkCompatible, type InstalledParts } from './compatibility.js'
import { adapterOf, createKeptPublications, type KeptPublicationsParts } from './kept-publications.js'
import { cacheTypeFor, runtimeFor } from './policy-runtime.js'

/** The policy the engine runs. */
export interface LoadedPolicy {
  readonly manifestId: string
  readonly manifest: PolicyManifest
  readonly limits: EpisodeLimits
  /** Where its groups are played: in its dialect, and for its reward. */
  readonly runtime: EpisodeRuntime
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

export interface PolicyKeeperParts extends InstalledParts, KeptPublicationsParts {
  readonly engine: Engine
  /**
   * Makes room in the engine for rollouts of so many tokens, in caches of that type.
   * @throws NodeError `incompatible` when its owner does not allow so many; EngineError `model_refused`
   */
  readonly makeRoomFor: (rollouts: Required<EngineSlots>, signal: AbortSignal) => Promise<void>
  readonly snapshots: SnapshotExchange
  readonly clock: Clock
}

/** What the engine runs, its canary passed. */
interface TriedPolicy {
  readonly policyId: string
  /** Another one rounds differently. */
  readonly backend: string
}

/** How long the others may deliver nothing to a fetch that nobody waits for: a chunk needs as long to come to thousands over some steps. */
export const AHEAD_PATIENCE_MS = 30_000

export function createPolicyKeeper(parts: PolicyKeeperParts): PolicyKeeper {
  const { engine, makeRoomFor, tokenizer, catalogue, snapshots, peers, clock } = parts
  const publications = createKeptPublications(parts)
  let loaded: LoadedPolicy | null = null
  let inForce: TriedPolicy | null = null

  /** The stage in use, where the rules have not changed: it keeps prompts and worlds. */
  const runtimeOf = ({ policy }: PolicyManifest): EpisodeRuntime => {
    if (loaded?.runtime.toolCallFormat.name === policy.toolCallFormat && loaded.runtime.reward.name === policy.reward)
      return loaded.runtime
    return runtimeFor(policy, catalogue.values(), tokenizer)
  }

  const isInForce = ({ policyId }: PolicyManifest): boolean =>
    inForce?.policyId === policyId && inForce.backend === engine.build.backend

  const applyAdapter = async (blob: BlobDescription, shape: AdapterShape, signal: AbortSignal): Promise<void> => {
    const apply = async (): Promise<void> => {
      const path = await publications.fetch(blob, signal)
      await engine.usePolicy({ path, sha256: blob.sha256, shape }, signal)
    }
    try {
      await apply()
    } catch (error) {
      if (!(error instanceof EngineError) || error.code !== 'adapter_refused') throw error
      if (await publications.isWhole(blob, signal)) throw error
      // The disk has changed the file since it was checked: left there, it would stop the node at every start.
      await publications.remove(blob)
      await apply()
    }
  }

  const load = async ({ manifest, manifestId }: SealedManifest, signal: AbortSignal): Promise<LoadedPolicy> => {
    checkSuccession(manifest, loaded?.manifest.round ?? null, clock.now())
    checkCompatible(manifest, parts)
    const runtime = runtimeOf(manifest)
    const { maxTurnTokens, maxRolloutTokens, maxAssistantTurns } = manifest.limits
    const limits = { ...DEFAULT_LIMITS, maxTurnTokens, maxRolloutTokens, maxAssistantTurns }
    await makeRoomFor({ contextSize: maxRolloutTokens, cacheType: cacheTypeFor(manifest.policy) }, signal)
    if (!isInForce(manifest)) await apply(manifest, signal)
    loaded = { manifestId, manifest, limits, runtime }
    return loaded
  }

  const apply = async (manifest: PolicyManifest, signal: AbortSignal): Promise<void> => {
    // Whatever goes wrong from here on, nobody knows which policy the engine runs.
    inForce = null
    const adapter = adapterOf(manifest)
    if (adapter && manifest.policy.adapter) {
      await publications.makeRoomFor(manifest)
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
      checkCompatible(manifest, parts)
      await publications.makeRoomFor(manifest)
      await publications.fetch(adapter, signal, { originPatienceMs: AHEAD_PATIENCE_MS })
    },
    async fetchRest(signal) {
      if (!loaded) return
      for (const file of publications.filesOf(loaded.manifest)) await publications.fetch(file, signal)
    },
  }
}
