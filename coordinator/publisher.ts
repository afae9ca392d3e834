import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { PrivateKey } from '@libp2p/interface'
import writeFileAtomic from 'write-file-atomic'
import type { EpisodeLimits } from '../episode/index.js'
import {
  announcementOf,
  type BlobRole,
  LIMITS,
  openManifest,
  type PolicyManifest,
  policyIdOf,
  type SealedManifest,
  sealManifest,
  sealPolicyAnnouncement,
} from '../proto/index.js'
import { type BlobStore, type Clock, channelsOf, type SnapshotExchange, type SwarmHost } from '../swarm/index.js'
import type { RunConfig } from './config.js'
import { newRoundSecret, roundSecretHash } from './lease-seed.js'
import type { PolicyFrame } from './policy-description.js'
import type { Recorder } from './recorder.js'
import type { TaskSet } from './task-set.js'
import type { TrainerStep } from './trainer-steps.js'

export interface Publisher {
  /** Publishes the adapter of a trainer step as `version`; does nothing if that version is out already. */
  publish(version: number, step: TrainerStep): Promise<void>
  /** Gossips the policy in force again, for nodes that came late. */
  announce(): Promise<void>
  /** Puts the manifests of earlier publications back into service after a restart. */
  restore(): Promise<void>
}

export interface PublisherParts {
  readonly config: RunConfig
  readonly taskSet: TaskSet
  readonly frame: PolicyFrame
  readonly limits: EpisodeLimits
  readonly recorder: Recorder
  readonly blobs: BlobStore
  readonly snapshots: SnapshotExchange
  readonly host: SwarmHost
  readonly key: PrivateKey
  readonly clock: Clock
  /** Folder of the sealed manifests. */
  readonly manifests: string
}

/** Files of a step that are published, with their roles. */
const PUBLISHED: readonly (readonly [BlobRole, string])[] = [
  ['adapter', 'adapter.gguf'],
  ['peft-weights', 'adapter/adapter_model.safetensors'],
  ['peft-config', 'adapter/adapter_config.json'],
]
/** Paper, section 4.1. */
const MAX_USER_TURNS = 5

export function createPublisher(parts: PublisherParts): Publisher {
  const { config, taskSet, frame, limits, recorder, blobs, snapshots, host, key, clock, manifests } = parts
  const channel = channelsOf(host.runId).policy
  const fileOf = (version: number): string => join(manifests, `${String(version).padStart(6, '0')}.manifest`)

  const announceSealed = async (sealed: SealedManifest): Promise<void> => {
    await host.gossip.publish(channel, await sealPolicyAnnouncement(key, host.runId, announcementOf(sealed)))
  }

  const provenanceOf = (version: number, step: TrainerStep): Uint8Array => {
    const { state } = recorder
    const trained = [...state.batches.values()].filter(
      (batch) => batch.step <= step.step && state.trained.has(batch.batchId),
    )
    const provenance = {
      schema: 1,
      run: host.runId,
      version,
      step: step.step,
      base: frame.base,
      files: step.files,
      batches: trained.map(({ batchId, leaseIds }) => ({ batchId, groups: leaseIds.length })),
      volunteers: state.nodes.size,
      tasks: { dataset: taskSet.datasetSha256, examples: taskSet.tasks.length },
      training: config.trainer.settings,
    }
    return new TextEncoder().encode(`${JSON.stringify(provenance, null, 2)}\n`)
  }

  const seal = async (version: number, step: TrainerStep, secret: Uint8Array): Promise<SealedManifest> => {
    const described = await Promise.all(
      PUBLISHED.map(async ([role, name]) => blobs.describe(await blobs.putFile(join(step.folder, name)), role)),
    )
    const provenance = await blobs.describe(await blobs.put(provenanceOf(version, step)), 'provenance')
    const adapter = described[0]!
    const { rank, alpha, targetModules } = step.lora
    const policy = {
      ...frame,
      adapter: { sha256: adapter.sha256, sizeBytes: adapter.sizeBytes, rank, alpha, targetModules },
    }
    const now = clock.now()
    const manifest: PolicyManifest = {
      round: version,
      version,
      policyId: policyIdOf(policy),
      policy,
      blobs: [...described, provenance],
      canary: step.probes.map(({ prompt, continuation, base, adapter: trained }) => ({
        promptTokens: prompt,
        continuationTokens: continuation,
        baseLogprobs: base,
        policyLogprobs: trained,
        draws: [],
      })),
      limits: {
        groupSize: config.groupSize,
        maxTurnTokens: limits.maxTurnTokens,
        maxRolloutTokens: limits.maxRolloutTokens,
        maxAssistantTurns: limits.maxAssistantTurns,
        maxUserTurns: MAX_USER_TURNS,
        maxStaleness: config.maxStaleness,
      },
      taskSpec: {
        dataset: taskSet.datasetSha256,
        count: String(taskSet.tasks.length),
        servers: taskSet.servers.map(({ name }) => name).join(','),
      },
      roundSecretHash: roundSecretHash(secret),
      closedRounds: recorder.state.publications
        .slice(-LIMITS.closedRounds.value)
        .map(({ version: round, roundSecret }) => ({ round, secret: roundSecret })),
      createdAtMs: now,
      expiresAtMs: now + config.manifestLifetimeMs,
    }
    return sealManifest(key, host.runId, manifest)
  }

  return {
    async publish(version, step) {
      if (recorder.state.publications.some((publication) => publication.version === version)) return
      const secret = newRoundSecret()
      const sealed = await seal(version, step, secret)
      // On disk before the event that refers to it.
      await writeFileAtomic(fileOf(version), Buffer.from(sealed.envelope))
      await recorder.record(() => ({
        type: 'published',
        atMs: clock.now(),
        version,
        step: step.step,
        policyId: sealed.manifest.policyId,
        manifestId: sealed.manifestId,
        adapterSha256: sealed.manifest.policy.adapter!.sha256,
        roundSecret: secret.toString('hex'),
      }))
      snapshots.offer(sealed)
      // The publication stands, whether gossip takes it now or at the next announcement.
      await announceSealed(sealed).catch((error: unknown) => {
        host.logger.warn({ version, error }, 'a publication could not be announced yet')
      })
    },
    async announce() {
      const sealed = snapshots.newest()
      if (sealed) await announceSealed(sealed)
    },
    async restore() {
      for (const { version } of recorder.state.publications.slice(-LIMITS.closedRounds.value)) {
        const file = fileOf(version)
        await stat(file)
        snapshots.offer(await openManifest(await readFile(file), host.runId))
      }
    },
  }
}
