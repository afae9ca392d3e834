import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { PrivateKey } from '@libp2p/interface'
import pLimit from 'p-limit'
import writeFileAtomic from 'write-file-atomic'
import { packageVersion } from '../../cli/index.js'
import { newRoundSecret, roundSecretHash } from '../../judging/lease-seed.js'
import {
  announcementOf,
  type BlobDescription,
  type BlobRole,
  type Demand,
  LIMITS,
  openManifest,
  type PeerAddresses,
  type PolicyManifest,
  PUBLISHED_FILES,
  policyIdOf,
  type SealedManifest,
  SwarmRefusal,
  sealManifest,
  sealPolicyAnnouncement,
  signerOf,
} from '../../proto/index.js'
import { type BlobStore, channelsOf, type SnapshotExchange, type SwarmHost } from '../../swarm/index.js'
import { namesOthers, restingTasks } from '../leases/withheld-tasks.js'
import { DataFolderError, type DiskLosses } from '../ledger/disk-losses.js'
import type { EventOf } from '../ledger/events.js'
import type { Recorder } from '../ledger/recorder.js'
import type { Publication, RunState } from '../ledger/run-state.js'
import { type RunTerms, termsIdOf } from '../ledger/terms.js'
import type { RunConfig } from '../settings/config.js'
import { manifestFile } from '../settings/data-folder.js'
import type { TaskSet } from '../settings/task-set.js'
import { unlessMissing } from '../spool/spool-folder.js'
import { readStep, type TrainerStep } from '../spool/step-folder.js'
import { canariesOf } from './canary.js'
import { modelSignature } from './model-signature.js'
import type { PolicyFrame } from './policy-frame.js'
import { provenanceOf } from './provenance.js'
import type { PublishedFiles } from './published-files.js'
import { mendStep } from './spool-check.js'

export interface Publisher {
  /** Publishes the adapter of a trainer step as `version`; does nothing if that version is out already. */
  publish(version: number, step: TrainerStep): Promise<void>
  /** Opens a further round of the version in force when one is due; does nothing otherwise. */
  openRound(): Promise<void>
  /** Gossips the policy in force again, for nodes that came late or wait for work. */
  announce(): Promise<void>
  /**
   * Puts the manifests of earlier rounds back into service after a restart. One that the disk has lost is done without; for the
   * newest a further round is opened.
   * @throws DataFolderError
   */
  restore(): Promise<void>
}

export interface PublisherParts {
  readonly config: RunConfig
  readonly taskSet: TaskSet
  /** By the newest terms. */
  readonly frame: () => PolicyFrame
  readonly recorder: Recorder
  readonly blobs: BlobStore
  readonly files: Pick<PublishedFiles, 'check'>
  readonly losses: DiskLosses
  /** Of the trainer. */
  readonly spool: string
  readonly snapshots: SnapshotExchange
  readonly host: SwarmHost
  readonly key: PrivateKey
  /** Folder of the sealed manifests. */
  readonly manifests: string
  /** How much work there is now, which announcements tell. */
  readonly demand: () => Demand
  /** Nodes that may pass its adapter on, which announcements name. */
  readonly providers: () => readonly PeerAddresses[]
  readonly signal: AbortSignal
}

/** The parts of a manifest that all rounds of a version share. */
type VersionPart = Omit<PolicyManifest, keyof RoundPart | 'policyId'>
type RoundPart = Pick<
  PolicyManifest,
  'round' | 'taskSpec' | 'roundSecretHash' | 'closedRounds' | 'createdAtMs' | 'expiresAtMs' | 'limits' | 'termsId'
>
/** What the event of a round's opening says, whichever kind it is. */
type OpenedRound = Pick<Publication, 'atMs' | 'round' | 'policyId' | 'manifestId' | 'roundSecret' | 'resting'>

/** Paper, section 4.1. */
const MAX_USER_TURNS = 5

/** Whether the coordinator writes a file itself. */
const isOwn = (role: BlobRole): boolean => PUBLISHED_FILES.some((file) => file.role === role && file.inStep === null)

/** What a manifest says of the terms, for nodes to work by. */
const limitsOf = ({ groupSize, maxStaleness, limits }: RunTerms): PolicyManifest['limits'] => ({
  groupSize,
  maxTurnTokens: limits.maxTurnTokens,
  maxRolloutTokens: limits.maxRolloutTokens,
  maxAssistantTurns: limits.maxAssistantTurns,
  maxUserTurns: MAX_USER_TURNS,
  maxStaleness,
})

export function createPublisher(parts: PublisherParts): Publisher {
  const { config, taskSet, frame, recorder, blobs, files, losses, spool } = parts
  const { snapshots, host, key, manifests, demand, providers, signal } = parts
  const { clock } = host
  const channel = channelsOf(host.runId).policy
  const fileOf = (round: number): string => manifestFile(manifests, round)
  /** One round is opened after the other, also when a publication and a waiting key ask at once. */
  const opening = pLimit(1)

  const announceSealed = async (sealed: SealedManifest): Promise<void> => {
    const announcement = announcementOf(sealed, demand(), providers())
    await host.gossip.publish(channel, await sealPolicyAnnouncement(key, host.runId, announcement))
  }

  const describeProvenance = (version: number, step: TrainerStep): Uint8Array => {
    const { state } = recorder
    const program = packageVersion()
    const provenance = provenanceOf(version, step, { runId: host.runId, state, base: frame().base, taskSet, program })
    return new TextEncoder().encode(`${JSON.stringify(provenance, null, 2)}\n`)
  }

  const signModel = (version: number, described: readonly BlobDescription[]): Uint8Array => {
    const nameOf = (role: BlobRole): string => PUBLISHED_FILES.find((file) => file.role === role)!.name
    const signed = described.map(({ role, sha256 }) => ({ name: nameOf(role), sha256 }))
    return modelSignature(key, { name: `${frame().base.name}-v${version}`, version, atMs: clock.now(), files: signed })
  }

  const describeBlob = async (stored: Promise<string>, role: BlobRole): Promise<BlobDescription> =>
    blobs.describe(await stored, role)

  /** What sets the manifest of a round apart from others of its version. */
  const roundPart = (secret: Uint8Array, resting: string, withdrawn: readonly number[]): RoundPart => {
    const { rounds, terms } = recorder.state
    const now = clock.now()
    return {
      round: (rounds.at(-1)?.round ?? -1) + 1,
      taskSpec: {
        dataset: taskSet.datasetSha256,
        count: String(taskSet.tasks.length),
        servers: taskSet.servers.map(({ name }) => name).join(','),
        versions: String(terms!.versions),
        leaseMs: String(terms!.leases.durationMs),
        ...(resting === '' ? {} : { resting }),
        ...(withdrawn.length === 0 ? {} : { withdrawn: withdrawn.join(',') }),
      },
      roundSecretHash: roundSecretHash(secret),
      closedRounds: rounds
        .slice(-LIMITS.closedRounds.value)
        .map(({ round, roundSecret }) => ({ round, secret: roundSecret })),
      createdAtMs: now,
      expiresAtMs: now + config.manifestLifetimeMs,
      limits: limitsOf(terms!),
      termsId: termsIdOf(terms!),
    }
  }

  const describe = async (version: number, step: TrainerStep): Promise<VersionPart> => {
    const described = await Promise.all([
      ...PUBLISHED_FILES.flatMap(({ role, inStep, optional }) => {
        if (inStep === null || (optional && !Object.hasOwn(step.files, inStep))) return []
        return [describeBlob(blobs.putFile(join(step.folder, inStep)), role)]
      }),
      describeBlob(blobs.put(describeProvenance(version, step)), 'provenance'),
    ])
    const signature = await describeBlob(blobs.put(signModel(version, described)), 'model-signature')
    const adapter = described[0]!
    const { rank, alpha, targetModules } = step.lora
    const policy = {
      ...frame(),
      adapter: { sha256: adapter.sha256, sizeBytes: adapter.sizeBytes, rank, alpha, targetModules },
    }
    return {
      version,
      policy,
      blobs: [...described, signature],
      canary: canariesOf(step.canaries),
    }
  }

  /**
   * Seals a round's manifest and puts it into service.
   * @param withdrawn  versions that have given way to an earlier one
   * @param eventOf  the event that refers to it
   */
  const open = async (
    part: VersionPart,
    withdrawn: readonly number[],
    eventOf: (sealed: SealedManifest, opened: OpenedRound) => EventOf<'published'> | EventOf<'reopened'>,
  ): Promise<void> => {
    const secret = newRoundSecret()
    const resting = restingTasks(recorder.state, taskSet.tasks, part.version)
    const termsSoFar = recorder.state.termsHistory.length
    // Terms may name another reward, and with it another policy of the same adapter.
    const policy = { ...part.policy, ...frame() }
    const manifest = { ...part, policy, policyId: policyIdOf(policy), ...roundPart(secret, resting, withdrawn) }
    const sealed = await sealManifest(key, host.runId, manifest)
    const { round, policyId } = sealed.manifest
    // On disk before the event that refers to it.
    await writeFileAtomic(fileOf(round), Buffer.from(sealed.envelope))
    const { manifestId } = sealed
    const event = eventOf(sealed, {
      ...{ atMs: clock.now(), round, policyId, manifestId, roundSecret: secret.toString('hex'), resting },
    })
    // A round is under the newest terms: if these changed meanwhile, its manifest has to say the new ones.
    const isOpen = await recorder.record<typeof event>(({ termsHistory }) =>
      termsHistory.length === termsSoFar ? event : null,
    )
    if (!isOpen) return open(part, withdrawn, eventOf)
    snapshots.offer(sealed)
    // Nobody is served it any more, and strangers that come one by one open a round every few seconds.
    await rm(fileOf(round - LIMITS.manifestsServed.value), { force: true })
    // The round stands, whether gossip takes it now or at the next announcement.
    await announceSealed(sealed).catch((error: unknown) => {
      host.logger.warn({ round, error }, 'a round could not be announced yet')
    })
  }

  /** @returns  the manifest, or why there is none. @throws DataFolderError `wrong_key` */
  const readManifest = async (file: string, manifestId: string): Promise<SealedManifest | string> => {
    const bytes = await unlessMissing(readFile(file))
    if (!bytes) return 'it is missing'
    try {
      const sealed = await openManifest(bytes, host.runId)
      return sealed.manifestId === manifestId ? sealed : 'it is another one than the log names'
    } catch (why) {
      if (!(why instanceof SwarmRefusal)) throw why
      const signer = await signerOf(bytes, 'manifestBytes', 'policy-manifest')
      if (signer === null || signer === host.runId) return why.message
      throw new DataFolderError('wrong_key', `${file} is signed by ${signer}, and the key here is ${host.runId}`)
    }
  }

  const withdrawnNow = (): number[] => [...recorder.state.withdrawn].sort((a, b) => a - b)

  /** Opens a round in place of one whose manifest, or part of whose publication, is lost: nodes cannot take that one up. */
  const replaceNewest = async (): Promise<void> => {
    const { version, step, adapterSha256 } = recorder.state.current!
    const lost = fileOf(recorder.state.round!.round)
    const why = await mendStep(step, parts, signal)
    if (why !== null)
      throw new DataFolderError('step_lost', `${lost} is lost, and of the trainer's step ${step}: ${why}`)
    const part = await describe(version, await readStep(spool, step))
    if (part.policy.adapter!.sha256 !== adapterSha256)
      throw new DataFolderError('step_lost', `${lost} is lost, and the adapter of step ${step} is another one`)
    await open(part, withdrawnNow(), (_, opened) => ({ type: 'reopened', ...opened, version }))
    losses.note('manifest', lost, 'replaced', `round ${recorder.state.round!.round} is open in its place`)
  }

  /** Whether a new round is due: for changed terms, for keys that registered in this one, or because other tasks are given now. */
  const isDue = (state: RunState): boolean => {
    if (!state.round) return false
    if (state.round.terms !== state.terms) return true
    if (namesOthers(state, taskSet.tasks)) return true
    const ageMs = clock.now() - state.round.openedAtMs
    // Negative when the clock was set back: nobody shall wait until it has caught up.
    return state.keysWaiting > 0 && (ageMs >= config.rounds.registrationMs || ageMs < 0)
  }

  return {
    publish: (version, step) =>
      opening(async () => {
        if (version <= (recorder.state.current?.version ?? -1)) return
        const { publications, withdrawn } = recorder.state
        const without = publications.filter((one) => one.adapterStep > step.adapterStep || withdrawn.has(one.version))
        const gone = without.map((one) => one.version)
        await open(await describe(version, step), gone, ({ manifest }, opened) => ({
          type: 'published',
          ...opened,
          version,
          step: step.step,
          adapterStep: step.adapterStep,
          adapterSha256: manifest.policy.adapter!.sha256,
          recipe: step.recipe,
        }))
      }),
    openRound: () =>
      opening(async () => {
        const newest = snapshots.newest()
        if (!newest || !isDue(recorder.state)) return
        const { version } = newest.manifest
        await open(newest.manifest, withdrawnNow(), (_, opened) => ({ type: 'reopened', ...opened, version }))
      }),
    async announce() {
      const sealed = snapshots.newest()
      if (sealed) await announceSealed(sealed)
    },
    async restore() {
      const { rounds } = recorder.state
      const newest = rounds.at(-1)
      let isLost = newest !== undefined
      for (const { round, manifestId } of rounds.slice(-LIMITS.manifestsServed.value)) {
        const file = fileOf(round)
        const sealed = await readManifest(file, manifestId)
        if (typeof sealed === 'string') {
          if (round !== newest?.round) losses.note('manifest', file, 'lost', `${sealed}; a newer one is in service`)
          continue
        }
        const missing = await files.check(sealed)
        // Nobody else keeps what the coordinator writes itself.
        if (round === newest?.round) isLost = missing.some(({ role }) => isOwn(role))
        snapshots.offer(sealed)
      }
      if (isLost) await opening(replaceNewest)
    },
  }
}
