import { createHash } from 'node:crypto'
import type { Clock, SwarmLogger } from '../../swarm/index.js'
import type { GroupBodies } from '../intake/group-bodies.js'
import { hasBatch, writeBatch } from '../jobs/batch-folder.js'
import { TrainerError } from '../jobs/errors.js'
import { readStep } from '../jobs/step-folder.js'
import { chooseBatch } from '../leases/batch-shares.js'
import type { Recorder } from '../ledger/recorder.js'
import type { BatchRecord } from '../ledger/run-state.js'
import { auditBatch, type BatchAuditParts, isUnaudited } from './batch-audit.js'
import { readBatchGroups } from './batch-groups.js'
import { checkJobs, contentOf, type JobCheckParts } from './job-check.js'
import type { Publisher } from './publisher.js'
import type { RunTrainer } from './run-trainer.js'

export interface TrainingLoopParts extends JobCheckParts {
  readonly recorder: Recorder
  /** Bodies of accepted groups. */
  readonly bodies: GroupBodies
  readonly publisher: Publisher
  readonly trainer: RunTrainer
  readonly judge: BatchAuditParts['judge']
  readonly intake: BatchAuditParts['intake']
  readonly logger: SwarmLogger
  readonly clock: Clock
}

const TICK_MS = 200

/**
 * Turns accepted groups into versions until the run is complete. Work from before a stop is finished first. The log contains the pending
 * batch, and the job directory shows whether the trainer has already made its step.
 * @throws TrainerError, DataFolderError, and the signal's reason
 */
export async function runTraining(parts: TrainingLoopParts, signal: AbortSignal): Promise<void> {
  const { jobs, recorder, publisher, trainer, clock } = parts
  const { state } = recorder
  await checkJobs(parts, signal)
  const { step } = await trainer.start(signal)
  checkResumed(parts, step)
  if (!state.current) await publisher.publish(0, await readStep(jobs, 0))
  // A rollback that was ordered during the last step follows it.
  while (state.pendingBatch || state.orders.rollback || state.current!.version < state.configuration!.versions) {
    const batch = state.pendingBatch ?? (await formBatch(parts))
    if (batch) await train(batch, parts, signal)
    else await clock.sleep(TICK_MS, signal)
  }
}

/** Checks that the job directory belongs to the log. Otherwise every batch would wait for a step that is never made. */
function checkResumed({ recorder: { state }, jobs }: TrainingLoopParts, step: number): void {
  const published = state.current?.step ?? 0
  const pending = state.pendingBatch?.step
  if (step === published || step === pending) return
  throw new TrainerError(
    'trainer_failed',
    `the log ends at step ${published}, but the trainer at step ${step}: ${jobs} is not the job directory of this log`,
  )
}

/**
 * Forms the next batch when enough groups are available: the first ones in log order that are fresh enough, within the suppliers'
 * shares. Orders take precedence: a rollback is a batch without groups, and a paused run forms no other batch.
 */
function formBatch({ recorder, clock }: TrainingLoopParts): Promise<BatchRecord | null> {
  return recorder.record((state): BatchRecord | null => {
    if (state.pendingBatch) return null
    const { pause, rollback } = state.orders
    if (rollback) return backTo(state.publication(rollback.version).step, state.current!.step + 1, clock.now())
    if (pause) return null
    const configuration = state.configuration!
    // Before the lists are made: this is asked five times a second.
    if (state.trainableCount(configuration.maxStaleness) < configuration.batchGroups) return null
    const chosen = chooseBatch(
      configuration,
      state.trainable(configuration.maxStaleness),
      [...state.suppliers.values()],
      (node) => state.reliabilityOf(node),
    )
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

const backTo = (earlier: number, step: number, atMs: number): BatchRecord => ({
  type: 'batched',
  atMs,
  batchId: `step-${step}-back-to-${earlier}`,
  step,
  leaseIds: [],
  backTo: earlier,
})

async function train(batch: BatchRecord, parts: TrainingLoopParts, signal: AbortSignal): Promise<void> {
  const { jobs, recorder, publisher, trainer, clock } = parts
  const { batchId, step } = batch
  await trainer.settle(recorder.state.configuration!, signal)
  if (!(await offerBatch(batch, parts, signal))) return
  const auditParts = { ...parts, state: recorder.state }
  let outcome = await trainer.outcome(batchId, signal)
  while (outcome.kind === 'measured') {
    await auditBatch(batch, auditParts, signal)
    outcome = await trainer.outcome(batchId, signal)
  }
  if (outcome.kind === 'refused') {
    const { code, detail } = outcome
    await recorder.record(() => ({ type: 'batch-refused', atMs: clock.now(), batchId, code, detail }))
    return
  }
  const made = await readStep(jobs, step)
  await publisher.publish(step, made)
  await recorder.record(() => ({
    type: 'trained',
    atMs: clock.now(),
    batchId,
    step,
    skipped: made.skipped !== null,
    ...(made.skipped === null ? {} : { reason: made.skipped }),
    stats: numbersOf(made.stats ?? {}),
  }))
}

const numbersOf = (stats: Readonly<Record<string, unknown>>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(stats).filter(
      (entry): entry is [string, number] => Number.isFinite(entry[1]) && entry[0].length <= 64,
    ),
  )

/**
 * Writes the batch for the trainer.
 * @returns  false when bodies of its groups are lost, which is recorded: the next batch is formed without them
 */
async function offerBatch(batch: BatchRecord, parts: TrainingLoopParts, signal: AbortSignal): Promise<boolean> {
  const { jobs, recorder, bodies, judge } = parts
  const { state } = recorder
  const { batchId, leaseIds } = batch
  // The trainer may already have used the batch, so a body that was lost since does not matter.
  if (await hasBatch(jobs, batchId)) return true
  const { groups, lost } = await readBatchGroups(leaseIds, state, bodies, isUnaudited({ state, judge }), signal)
  for (const [leaseId, why] of lost) await bodies.giveUp(leaseId, why)
  if (lost.size > 0) return false
  await writeBatch(jobs, contentOf(batch, state, groups))
  return true
}
