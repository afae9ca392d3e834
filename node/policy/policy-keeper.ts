import { checkSuccession, type PolicyManifest, type SealedManifest } from '../../proto/index.js'
import { type AdapterShape, type Engine, EngineError, type EngineSlots } from '../../rollout/engine/index.js'
import { DEFAULT_LIMITS, type EpisodeLimits, type EpisodeRuntime } from '../../rollout/episode/index.js'
import type { Clock, SnapshotExchange } from '../../swarm/index.js'
import { checkCanary } from './canary.js'
import { checkCompatible, type InstalledParts } from './compatibility.js'
import { adapterOf, createKeptPublications, type KeptPublicationsParts } from './kept-publications.js'
import { cacheTypeFor, runtimeFor } from './policy-runtime.js'

/** The policy in the engine. */
export interface LoadedPolicy {
  readonly manifestId: string
  readonly manifest: PolicyManifest
  readonly limits: EpisodeLimits
  /** The episode runtime, with the tool-call format and the reward of the policy. */
  readonly runtime: EpisodeRuntime
}

/** Keeps the engine on the newest policy. */
export interface PolicyKeeper {
  readonly loaded: LoadedPolicy | null
  /**
   * Loads the newest manifest that a peer has: fetches and checks the adapter, and checks the canary. Another round of the same policy
   * needs neither.
   * @throws NodeError; TransportError if no peer answers
   */
  update(signal: AbortSignal): Promise<LoadedPolicy>
  /**
   * Fetches the adapter of the newest manifest for a later `update`, while the engine works under another. Not during an `update`.
   * @throws what `update` throws
   */
  fetchAhead(signal: AbortSignal): Promise<void>
  /** Fetches the other published files of the current policy, so that other nodes can fetch them here. @throws TransportError; NodeError `unwritable` */
  fetchRest(signal: AbortSignal): Promise<void>
}

export interface PolicyKeeperParts extends InstalledParts, KeptPublicationsParts {
  readonly engine: Engine
  /**
   * Reloads the engine if rollouts of this length, in caches of this type, do not fit.
   * @throws NodeError `incompatible` if the owner does not allow this length; EngineError `model_refused`
   */
  readonly refit: (rollouts: Required<EngineSlots>, signal: AbortSignal) => Promise<void>
  readonly snapshots: SnapshotExchange
  readonly clock: Clock
}

/** The policy in the engine after its canary passed. */
interface TriedPolicy {
  readonly policyId: string
  /** Another backend rounds differently. */
  readonly backend: string
}

/** Time without data before a fetch ahead asks the coordinator: a chunk needs as long to reach thousands of nodes over some steps. */
export const AHEAD_PATIENCE_MS = 30_000

export function createPolicyKeeper(parts: PolicyKeeperParts): PolicyKeeper {
  const { engine, refit, tokenizer, catalogue, snapshots, peers, clock } = parts
  const publications = createKeptPublications(parts)
  let loaded: LoadedPolicy | null = null
  let inForce: TriedPolicy | null = null

  /** Reuses the current runtime for the same rules, because it caches prompts and environments. */
  const runtimeOf = ({ policy }: PolicyManifest): EpisodeRuntime => {
    if (loaded?.runtime.toolCallFormat.name === policy.toolCallFormat && loaded.runtime.reward.name === policy.reward)
      return loaded.runtime
    return runtimeFor(policy, catalogue.values(), tokenizer)
  }

  const isInForce = ({ policyId }: PolicyManifest): boolean =>
    inForce?.policyId === policyId && inForce.backend === engine.build.backend

  const applyAdapter = async (manifest: PolicyManifest, shape: AdapterShape, signal: AbortSignal): Promise<void> => {
    const blob = adapterOf(manifest)!
    const apply = async (): Promise<void> => {
      const path = await publications.fetchAdapter(manifest, signal)
      await engine.usePolicy({ path, sha256: blob.sha256, shape }, signal)
    }
    try {
      await apply()
    } catch (error) {
      if (!(error instanceof EngineError) || error.code !== 'adapter_refused') throw error
      if (await publications.isWhole(blob, signal)) throw error
      // The disk changed the file since its check. Without the removal, the file would stop the node at every start.
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
    await refit({ contextSize: maxRolloutTokens, cacheType: cacheTypeFor(manifest.policy) }, signal)
    if (!isInForce(manifest)) await apply(manifest, signal)
    loaded = { manifestId, manifest, limits, runtime }
    return loaded
  }

  const apply = async (manifest: PolicyManifest, signal: AbortSignal): Promise<void> => {
    // If a later step fails, the policy in the engine is unknown.
    inForce = null
    if (manifest.policy.adapter) {
      await publications.prune(manifest)
      await applyAdapter(manifest, manifest.policy.adapter, signal)
    } else {
      await engine.usePolicy(null, signal)
    }
    await checkCanary(engine, manifest, signal)
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
      if (!adapterOf(manifest) || isInForce(manifest)) return
      checkSuccession(manifest, loaded?.manifest.round ?? null, clock.now())
      checkCompatible(manifest, parts)
      await publications.prune(manifest)
      await publications.fetchAdapter(manifest, signal, { originPatienceMs: AHEAD_PATIENCE_MS })
    },
    async fetchRest(signal) {
      if (!loaded) return
      for (const file of publications.filesOf(loaded.manifest)) await publications.fetch(file, signal)
    },
  }
}
