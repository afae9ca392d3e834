import pLimit from 'p-limit'
import { type BlobRole, LIMITS, PUBLISHED_FILES } from '../../proto/index.js'
import type { HeldOutSet } from '../../rollout/episode/index.js'
import type { BlobStore } from '../../swarm/index.js'
import { readStep, type TrainerStep } from '../jobs/step-folder.js'
import { hasOutdatedTasks } from '../leases/withheld-tasks.js'
import { DataFolderError, type DiskLosses } from '../ledger/disk-losses.js'
import type { RunState } from '../ledger/run-state.js'
import { manifestFile } from '../settings/data-folder.js'
import { repairStep } from './job-check.js'
import { readKeptManifest } from './kept-manifests.js'
import type { PublishedFiles } from './published-files.js'
import { RoundOpener, type RoundParts } from './round-opener.js'
import type { TrainingEvidence } from './training-evidence.js'
import type { VersionArchive } from './version-archive.js'
import { describeVersion, type VersionPart } from './version-part.js'

/** Publishes versions and opens rounds. */
export interface Publisher {
  /** Publishes the adapter of a trainer step as `version`, unless it is published already. */
  publish(version: number, step: TrainerStep): Promise<void>
  /** Opens a further round of the version in force, if one is due. */
  openRound(): Promise<void>
  /** Gossips the policy in force again, for nodes that joined late or wait for work. */
  announce(): Promise<void>
  /**
   * Puts the manifests of earlier rounds back into service after a restart. Continues without a lost manifest; if the newest is
   * lost, opens a further round.
   * @throws DataFolderError
   */
  restore(): Promise<void>
}

export interface PublisherParts extends RoundParts {
  readonly blobs: BlobStore
  readonly files: Pick<PublishedFiles, 'check'>
  readonly losses: DiskLosses
  /** Job directory of the trainer. */
  readonly jobs: string
  readonly archive: VersionArchive
  /** Returns how versions are scored; null: they are not. */
  readonly heldOut: () => HeldOutSet | null
  /** Collects what a stranger needs to make a step again. */
  readonly evidenceOf: (step: TrainerStep) => Promise<TrainingEvidence | null>
  readonly signal: AbortSignal
}

/** Whether the coordinator itself writes a file. */
const isOwn = (role: BlobRole): boolean => PUBLISHED_FILES.some((file) => file.role === role && file.inStep === null)

export function createPublisher(parts: PublisherParts): Publisher {
  const { config, taskSet, frame, recorder, blobs, files, losses, jobs, archive, evidenceOf, heldOut } = parts
  const { snapshots, host, key, manifests, signal } = parts
  const { clock, runId } = host
  const rounds = new RoundOpener(parts)
  /** Opens one round after the other, also when a publication and a waiting key ask at once. */
  const opening = pLimit(1)

  const publishesEvidence = config.rederivation.versions !== 0
  const describe = async (version: number, step: TrainerStep): Promise<VersionPart> =>
    describeVersion(version, step, {
      publishesEvidence,
      heldOut: heldOut(),
      adapterBefore:
        version > (recorder.state.current?.version ?? version) ? recorder.state.current!.adapterSha256 : null,
      signal,
      ...{ runId, state: recorder.state, frame: frame(), taskSet, blobs, key, nowMs: clock.now() },
      evidence: publishesEvidence ? await evidenceOf(step) : null,
    })

  const withdrawnNow = (): number[] => [...recorder.state.withdrawn].sort((a, b) => a - b)

  /** Opens a round in place of a round whose manifest, or a file of it, is lost, so that nodes could not load it. */
  const replaceNewest = async (): Promise<void> => {
    const { version, step, adapterSha256 } = recorder.state.current!
    const lost = manifestFile(manifests, recorder.state.round!.round)
    const why = await repairStep(step, parts, signal)
    if (why !== null)
      throw new DataFolderError('step_lost', `${lost} is lost, and step ${step} of the trainer is damaged: ${why}`)
    const part = await describe(version, await readStep(jobs, step))
    if (part.policy.adapter!.sha256 !== adapterSha256)
      throw new DataFolderError(
        'step_lost',
        `${lost} is lost, and the adapter of step ${step} is not the published one`,
      )
    await rounds.open(part, withdrawnNow(), (_, opened) => ({ type: 'reopened', ...opened, version }))
    losses.note('manifest', lost, 'replaced', `round ${recorder.state.round!.round} replaces it`)
  }

  /** Stores a manifest of the version in force, unless one is stored. */
  const keepNewest = async (): Promise<void> => {
    const newest = snapshots.newest()
    if (newest && !(await archive.read(newest.manifest.version))) await archive.keep(newest)
  }

  /** Removes differences that lead to an adapter before the newest two: nodes that are so late fetch the whole adapter. */
  const dropOldDifferences = async (): Promise<void> => {
    const newest = snapshots.newest()!.manifest.version
    for (const { manifest } of snapshots.inService())
      if (manifest.difference && manifest.version < newest - 1) await blobs.remove(manifest.difference.blob.sha256)
  }

  /** Whether a new round is due: for a changed run configuration, for new keys, or because other tasks are skipped now. */
  const isDue = (state: RunState): boolean => {
    if (!state.round) return false
    if (state.round.configuration !== state.configuration) return true
    if (hasOutdatedTasks(state, taskSet.tasks)) return true
    const ageMs = clock.now() - state.round.openedAtMs
    // Negative after the clock was set back: keys must not wait until it has caught up.
    return state.keysWaiting > 0 && (ageMs >= config.rounds.registrationMs || ageMs < 0)
  }

  return {
    publish: (version, step) =>
      opening(async () => {
        if (version <= (recorder.state.current?.version ?? -1)) return
        const { publications, withdrawn } = recorder.state
        const laterVersions = publications.filter(
          (one) => one.adapterStep > step.adapterStep || withdrawn.has(one.version),
        )
        const withdrawnVersions = laterVersions.map((one) => one.version)
        await rounds.open(await describe(version, step), withdrawnVersions, ({ manifest }, opened) => ({
          type: 'published',
          ...opened,
          version,
          step: step.step,
          adapterStep: step.adapterStep,
          adapterSha256: manifest.policy.adapter!.sha256,
          recipe: step.recipe,
        }))
        await dropOldDifferences()
        // Replaces the manifest of a lost history, after a repair or a restore.
        const newest = snapshots.newest()
        if (newest) await archive.keep(newest)
      }),
    openRound: () =>
      opening(async () => {
        const newest = snapshots.newest()
        if (!newest || !isDue(recorder.state)) return
        const { version } = newest.manifest
        await rounds.open(newest.manifest, withdrawnNow(), (_, opened) => ({ type: 'reopened', ...opened, version }))
      }),
    async announce() {
      const sealed = snapshots.newest()
      if (sealed) await rounds.announce(sealed)
    },
    async restore() {
      const { state } = recorder
      const newest = state.round
      let isLost = newest !== undefined
      for (const { round, manifestId } of state.rounds.slice(-LIMITS.manifestsServed.value)) {
        const file = manifestFile(manifests, round)
        const sealed = await readKeptManifest(file, manifestId, runId)
        if (typeof sealed === 'string') {
          if (round !== newest?.round) losses.note('manifest', file, 'lost', `${sealed}; a newer one is in service`)
          continue
        }
        const missing = await files.check(sealed)
        // Only the coordinator has the files that it writes itself.
        if (round === newest?.round) isLost = missing.some(({ role }) => isOwn(role))
        snapshots.offer(sealed)
      }
      const inForce = snapshots.newest()
      if (inForce) parts.shards.follow(inForce.manifest.shards)
      if (isLost) await opening(replaceNewest)
      await keepNewest()
    },
  }
}
