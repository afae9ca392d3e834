import { createHash } from 'node:crypto'
import { detailForWire } from '../../proto/index.js'
import type { BlobStore, Clock, SwarmLogger } from '../../swarm/index.js'
import { chooseBatch } from '../leases/batch-shares.js'
import type { Recorder } from '../ledger/recorder.js'
import type { BatchRecord } from '../ledger/run-state.js'
import { hasBatch, writeBatch } from '../spool/batch-folder.js'
import { TrainerError } from '../spool/errors.js'
import { readStep } from '../spool/step-folder.js'
import type { TrainEngine } from '../spool/trainer-process.js'
import { auditBatch, type BatchAuditParts, isUnaudited } from './batch-audit.js'
import { BodyError, readBatchGroups } from './batch-groups.js'
import type { Publisher } from './publisher.js'

export interface TrainingLoopParts {
  /** Directory shared with the trainer. */
  readonly spool: string
  readonly recorder: Recorder
  /** Bodies of accepted groups. */
  readonly bodies: Pick<BlobStore, 'read'>
  readonly publisher: Publisher
  readonly trainer: TrainEngine
  readonly judge: BatchAuditParts['judge']
  readonly intake: BatchAuditParts['intake']
  readonly logger: SwarmLogger
  readonly clock: Clock
}

const TICK_MS = 200
/** Of a batch, and at least one group: tokens whose draws cannot be replayed are judged by how likely they are, which shows gross cheating alone. */
const OTHER_DRAWS_SHARE = 0.1

/**
 * Turns accepted groups into versions until the run is complete. Whatever was begun before a stop is finished first:
 * the log says which batch is pending, the spool whether the trainer has already made its step.
 * @throws TrainerError, and the signal's reason
 */
export async function runTraining(parts: TrainingLoopParts, signal: AbortSignal): Promise<void> {
  const { spool, recorder, publisher, trainer, clock } = parts
  const { state } = recorder
  const { step } = await trainer.start(signal)
  checkSpool(parts, step)
  if (!state.current) await publisher.publish(0, await readStep(spool, 0))
  while (state.pendingBatch || state.current!.version < state.terms!.versions) {
    const batch = state.pendingBatch ?? (await formBatch(parts))
    if (batch) await train(batch, parts, signal)
    else await clock.sleep(TICK_MS, signal)
  }
}

/** A spool of another run, or one put back from a backup, would make every batch wait for a step that never comes. */
function checkSpool({ recorder: { state }, spool }: TrainingLoopParts, step: number): void {
  const published = state.current?.step ?? 0
  const pending = state.pendingBatch?.step
  if (step === published || step === pending) return
  throw new TrainerError(
    'trainer_failed',
    `the log ends at step ${published}, the trainer at step ${step}: ${spool} is not the spool of this log`,
  )
}

/** Forms the next batch when enough groups are there. The log decides which: the first that are fresh enough, within the suppliers' shares. */
function formBatch({ recorder, judge, clock }: TrainingLoopParts): Promise<BatchRecord | null> {
  return recorder.record((state): BatchRecord | null => {
    if (state.pendingBatch) return null
    const terms = state.terms!
    let room = Math.max(1, Math.floor(terms.batchGroups * OTHER_DRAWS_SHARE))
    const usable = state.trainable(terms.maxStaleness).filter(({ leaseId }) => {
      const lease = state.leases.get(leaseId)!
      return lease.drawsReplay || !judge.canAudit(lease) || room-- > 0
    })
    const chosen = chooseBatch(terms, usable, state.suppliers)
    if (!chosen) return null
    const leaseIds = chosen.map(({ leaseId }) => leaseId)
    const step = state.current!.step + 1
    const name = createHash('sha256')
      .update(JSON.stringify([step, leaseIds]))
      .digest('hex')
      .slice(0, 12)
    return { type: 'batched', atMs: clock.now(), batchId: `step-${step}-${name}`, step, leaseIds }
  })
}

async function train(batch: BatchRecord, parts: TrainingLoopParts, signal: AbortSignal): Promise<void> {
  const { spool, recorder, publisher, trainer, clock } = parts
  const { batchId, step } = batch
  const refuse = (code: string, detail: string) =>
    recorder.record(() => ({ type: 'batch-refused', atMs: clock.now(), batchId, code, detail }))
  try {
    await offerBatch(batch, parts, signal)
  } catch (why) {
    if (!(why instanceof BodyError)) throw why
    // None of its groups is used again, so the next batch comes without the one that is lost.
    await refuse(why.code, detailForWire(why.detail))
    return
  }
  const auditParts = { ...parts, state: recorder.state }
  let outcome = await trainer.outcome(batchId, signal)
  while (outcome.kind === 'measured') {
    await auditBatch(batch, auditParts, signal)
    outcome = await trainer.outcome(batchId, signal)
  }
  if (outcome.kind === 'refused') {
    await refuse(outcome.code, outcome.detail)
    return
  }
  const made = await readStep(spool, step)
  await publisher.publish(step, made)
  await recorder.record(() => ({
    type: 'trained',
    atMs: clock.now(),
    batchId,
    step,
    skipped: made.skipped !== null,
  }))
}

/** Puts the batch before the trainer. @throws BodyError when it can no longer be written */
async function offerBatch(batch: BatchRecord, parts: TrainingLoopParts, signal: AbortSignal): Promise<void> {
  const { spool, recorder, bodies, judge } = parts
  const { state } = recorder
  const baseSha256 = state.terms!.base.ggufSha256
  const { batchId, step, leaseIds } = batch
  // The trainer may have made its step of it: then it is too late to refuse the batch for a body that was lost since.
  if (await hasBatch(spool, batchId)) return
  const groups = await readBatchGroups(leaseIds, state, bodies, isUnaudited({ state, judge }), signal)
  await writeBatch(spool, { batchId, roundId: `round-${step}`, baseSha256, parentStep: step - 1, groups })
}
