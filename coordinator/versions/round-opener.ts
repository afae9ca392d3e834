import { rm } from 'node:fs/promises'
import type { PrivateKey } from '@libp2p/interface'
import writeFileAtomic from 'write-file-atomic'
import {
  announcementOf,
  type Demand,
  LIMITS,
  type PeerAddresses,
  type PolicyManifest,
  policyIdOf,
  type SealedManifest,
  sealManifest,
  sealPolicyAnnouncement,
  shardsFor,
} from '../../proto/index.js'
import { newRoundSecret, roundSecretHash } from '../../rollout/verification/lease-seed.js'
import { channelsOf, type ShardHub, type SnapshotExchange, type SwarmHost } from '../../swarm/index.js'
import { tasksToSkip } from '../leases/withheld-tasks.js'
import type { EventOf } from '../ledger/events.js'
import type { Recorder } from '../ledger/recorder.js'
import { configurationIdOf, type RunConfiguration } from '../ledger/run-configuration.js'
import type { Publication } from '../ledger/run-state.js'
import type { RunConfig } from '../settings/config.js'
import { manifestFile } from '../settings/data-folder.js'
import type { TaskSet } from '../settings/task-set.js'
import type { PolicyFrame } from './policy-frame.js'
import type { RoundPart, VersionPart } from './version-part.js'

/** The part of an opening event that both kinds share. */
type OpenedRound = Pick<Publication, 'atMs' | 'round' | 'policyId' | 'manifestId' | 'roundSecret' | 'skippedTasks'>
type OpeningEvent = EventOf<'published'> | EventOf<'reopened'>

/** Paper, section 4.1. */
const MAX_USER_TURNS = 5

/** Returns the limits that a manifest states for nodes. */
const limitsOf = ({ groupSize, maxStaleness, limits }: RunConfiguration): PolicyManifest['limits'] => ({
  groupSize,
  maxTurnTokens: limits.maxTurnTokens,
  maxRolloutTokens: limits.maxRolloutTokens,
  maxAssistantTurns: limits.maxAssistantTurns,
  maxUserTurns: MAX_USER_TURNS,
  maxStaleness,
})

export interface RoundParts {
  readonly config: RunConfig
  readonly taskSet: TaskSet
  /** Returns the policy frame of the newest run configuration. */
  readonly frame: () => PolicyFrame
  readonly recorder: Recorder
  readonly snapshots: SnapshotExchange
  readonly host: SwarmHost
  readonly key: PrivateKey
  /** Folder of the sealed manifests. */
  readonly manifests: string
  /** Gossip about groups, which follows the number of shards before a manifest names it. */
  readonly shards: ShardHub
  /** Connected peers. */
  readonly peers: ReadonlySet<string>
  /** Number of nodes that a gossip shard should have. */
  readonly shardNodes: number
  /** Returns the current amount of work, for announcements. */
  readonly demand: () => Demand
  /** Returns nodes that may pass on the adapter, for announcements. */
  readonly providers: () => readonly PeerAddresses[]
}

/** Seals the manifests of rounds and puts them into service, one after the other. */
export class RoundOpener {
  readonly #parts: RoundParts

  constructor(parts: RoundParts) {
    this.#parts = parts
  }

  /**
   * Seals a round's manifest and puts it into service.
   * @param withdrawn  versions that a rollback has withdrawn
   * @param eventOf  makes the event that refers to the manifest
   */
  async open(
    part: VersionPart,
    withdrawn: readonly number[],
    eventOf: (sealed: SealedManifest, opened: OpenedRound) => OpeningEvent,
  ): Promise<void> {
    const { recorder, taskSet, frame, key, manifests, snapshots, host, shards } = this.#parts
    const secret = newRoundSecret()
    const skippedTasks = tasksToSkip(recorder.state, taskSet.tasks, part.version)
    const configurationSoFar = recorder.state.configurationHistory.length
    // The run configuration may name another reward, which makes another policy of the same adapter.
    const policy = { ...part.policy, ...frame() }
    const ofRound = this.#roundPart(secret, skippedTasks, withdrawn, this.#shards(part.version))
    const sealed = await sealManifest(key, host.runId, { ...part, policy, policyId: policyIdOf(policy), ...ofRound })
    const { manifestId } = sealed
    const { round, policyId } = sealed.manifest
    // On disk before the event that refers to it.
    await writeFileAtomic(manifestFile(manifests, round), Buffer.from(sealed.envelope))
    const atMs = host.clock.now()
    const event = eventOf(sealed, {
      atMs,
      round,
      policyId,
      manifestId,
      roundSecret: secret.toString('hex'),
      skippedTasks,
    })
    // A round opens under the newest run configuration. If it has changed in the meantime, the manifest has to state the new one.
    const isOpen = await recorder.record<OpeningEvent>(({ configurationHistory }) =>
      configurationHistory.length === configurationSoFar ? event : null,
    )
    if (!isOpen) return this.open(part, withdrawn, eventOf)
    shards.follow(sealed.manifest.shards)
    snapshots.offer(sealed)
    // The old manifest is not served any more. New keys can cause a round every few seconds, so it is removed.
    await rm(manifestFile(manifests, round - LIMITS.manifestsServed.value), { force: true })
    // The round is open whether gossip announces it now or later.
    await this.announce(sealed).catch((error: unknown) => {
      host.logger.warn({ round, error }, 'a round could not be announced yet')
    })
  }

  async announce(sealed: SealedManifest): Promise<void> {
    const { host, key, demand, providers } = this.#parts
    const announcement = announcementOf(sealed, demand(), providers())
    const channel = channelsOf(host.runId).policy
    await host.gossip.publish(channel, await sealPolicyAnnouncement(key, host.runId, announcement))
  }

  /** Returns the part of a manifest that differs between rounds of a version. */
  #roundPart(secret: Uint8Array, skippedTasks: string, withdrawn: readonly number[], shards: number): RoundPart {
    const { config, taskSet, recorder, host } = this.#parts
    const { rounds } = recorder.state
    const configuration = recorder.state.configuration!
    const now = host.clock.now()
    return {
      round: (rounds.at(-1)?.round ?? -1) + 1,
      taskSpec: {
        dataset: taskSet.datasetSha256,
        count: String(taskSet.tasks.length),
        environments: taskSet.environments.map(({ name }) => name).join(','),
        versions: String(configuration.versions),
        leaseMs: String(configuration.leases.durationMs),
        ...(skippedTasks === '' ? {} : { skippedTasks }),
        ...(withdrawn.length === 0 ? {} : { withdrawn: withdrawn.join(',') }),
      },
      roundSecretHash: roundSecretHash(secret),
      closedRounds: rounds
        .slice(-LIMITS.closedRounds.value)
        .map(({ round, roundSecret }) => ({ round, secret: roundSecret })),
      createdAtMs: now,
      expiresAtMs: now + config.manifestLifetimeMs,
      limits: limitsOf(configuration),
      canaryTolerance: configuration.canaryTolerance,
      configurationId: configurationIdOf(configuration),
      head: recorder.head(),
      shards,
    }
  }

  /** Returns the number of shards for the connected nodes. Only a new version may name fewer than before. */
  #shards(version: number): number {
    const { recorder, snapshots, peers, shardNodes } = this.#parts
    const newest = snapshots.newest()?.manifest
    let nodes = 0
    for (const peer of peers) if (recorder.state.registered.has(peer)) nodes += 1
    return shardsFor(nodes, {
      current: newest?.shards ?? 1,
      mayShrink: newest !== undefined && version > newest.version,
      shardNodes,
    })
  }
}
