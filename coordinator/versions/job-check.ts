import { copyFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { PUBLISHED_FILES } from '../../proto/index.js'
import type { BlobStore } from '../../swarm/index.js'
import type { GroupBodies } from '../intake/group-bodies.js'
import { type BatchContent, hasBatch, isBatchWhole, removeBatch } from '../jobs/batch-folder.js'
import { TrainerError } from '../jobs/errors.js'
import { exists } from '../jobs/job-directory.js'
import { stepFolder } from '../jobs/layout.js'
import { damagedFiles, readStep, type TrainerStep } from '../jobs/step-folder.js'
import { DataFolderError, type DiskLosses } from '../ledger/disk-losses.js'
import type { Recorder } from '../ledger/recorder.js'
import type { BatchRecord, RunState } from '../ledger/run-state.js'
import { type BatchAuditParts, isUnaudited } from './batch-audit.js'
import { readBatchGroups } from './batch-groups.js'

export interface JobCheckParts {
  readonly jobs: string
  readonly recorder: Pick<Recorder, 'state'>
  readonly bodies: Pick<GroupBodies, 'read'>
  readonly judge: BatchAuditParts['judge']
  /** Published files, including those of a step. */
  readonly blobs: Pick<BlobStore, 'isWhole' | 'path'>
  readonly losses: DiskLosses
}

/** Returns the content of a formed batch. */
export const contentOf = (
  { batchId, step, backTo }: BatchRecord,
  { configuration }: Pick<RunState, 'configuration'>,
  groups: BatchContent['groups'],
): BatchContent => ({
  batchId,
  roundId: `round-${step}`,
  baseSha256: configuration!.base.ggufSha256,
  parentStep: step - 1,
  ...(backTo === undefined ? {} : { backTo }),
  groups,
})

/**
 * Checks the job directory before the trainer starts, because the trainer works on all that it finds there. Repairs the step in force
 * from its published files. Removes a damaged unpublished step, and a damaged batch, so that they are made again.
 * @throws DataFolderError `step_lost`; the signal's reason
 */
export async function checkJobs(parts: JobCheckParts, signal: AbortSignal): Promise<void> {
  const { jobs, recorder, losses } = parts
  const { current, pendingBatch } = recorder.state
  const inForce = current?.step ?? 0
  const made = pendingBatch && pendingBatch.step > inForce ? pendingBatch.step : null
  const isMade = made !== null && (await exists(stepFolder(jobs, made)))
  const fault = isMade ? await repairStep(made, parts, signal) : null
  // The step in force may have been pruned.
  if (isMade && fault === null) return
  if (current || (await exists(stepFolder(jobs, inForce)))) {
    const why = await repairStep(inForce, parts, signal)
    if (why !== null && current)
      throw new DataFolderError(
        'step_lost',
        `${stepFolder(jobs, inForce)}, which the trainer has to continue from: ${why}`,
      )
    if (why !== null) await removeStep(inForce, why, parts)
  }
  if (fault !== null) await removeStep(made!, fault, parts)
  if (
    !pendingBatch ||
    !(await hasBatch(jobs, pendingBatch.batchId)) ||
    (await isAsVerified(pendingBatch, parts, signal))
  )
    return
  await removeBatch(jobs, pendingBatch.batchId)
  losses.note('batch', pendingBatch.batchId, 'replaced', 'it is written again from the bodies of its groups')
}

/** Whether the batch in the job directory has the content that was verified. */
async function isAsVerified(batch: BatchRecord, parts: JobCheckParts, signal: AbortSignal): Promise<boolean> {
  const { jobs, recorder, bodies, judge } = parts
  const { state } = recorder
  const { groups, lost } = await readBatchGroups(batch.leaseIds, state, bodies, isUnaudited({ state, judge }), signal)
  return lost.size === 0 && isBatchWhole(jobs, contentOf(batch, state, groups))
}

async function removeStep(step: number, why: string, { jobs, losses }: JobCheckParts): Promise<void> {
  await rm(stepFolder(jobs, step), { recursive: true, force: true })
  losses.note('step', `step-${step}`, 'replaced', `the trainer makes it again: ${why}`)
}

/** Restores the published files of a step. @returns  the remaining fault; null: none */
export async function repairStep(
  step: number,
  parts: Pick<JobCheckParts, 'jobs' | 'blobs' | 'losses'>,
  signal: AbortSignal,
): Promise<string | null> {
  const { jobs, blobs, losses } = parts
  let record: TrainerStep
  try {
    record = await readStep(jobs, step)
  } catch (why) {
    if (why instanceof TrainerError) return why.detail
    throw why
  }
  for (const name of await damagedFiles(record, signal)) {
    const sha256 = record.files[name]!
    const published = PUBLISHED_FILES.some(({ inStep }) => inStep === name)
    if (!published || !(await blobs.isWhole(sha256, signal))) return `${name} is missing or damaged`
    await rm(join(record.folder, name), { force: true })
    await copyFile(blobs.path(sha256), join(record.folder, name))
    losses.note('step', `step-${step}/${name}`, 'recovered', 'from the published file')
  }
  return null
}
