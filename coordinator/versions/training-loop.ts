import { createHash } from 'node:crypto'
import { detailForWire, SwarmRefusal } from '../../proto/index.js'
import type { Clock } from '../../swarm/index.js'
import type { Intake } from '../intake/intake.js'
import { chooseBatch } from '../leases/batch-shares.js'
import type { Recorder } from '../ledger/recorder.js'
import type { BatchRecord } from '../ledger/run-state.js'
import type { RunConfig } from '../settings/config.js'
import { writeBatch } from '../spool/batch-folder.js'
import { TrainerError } from '../spool/errors.js'
import { readStep } from '../spool/step-folder.js'
import type { TrainEngine } from '../spool/trainer-process.js'
import type { Publisher } from './publisher.js'

export interface TrainingLoopParts {
  readonly config: RunConfig
  readonly baseSha256: string
  /** Directory shared with the trainer. */
  readonly spool: string
  readonly recorder: Recorder
  readonly intake: Intake
  readonly publisher: Publisher
  readonly trainer: TrainEngine
  readonly clock: Clock
}

const TICK_MS = 200

/**
 * Turns accepted groups into versions until the run is complete. Whatever was begun before a stop is finished first:
 * the log says which batch is pending, the spool whether the trainer has already made its step.
 * @throws TrainerError, and the signal's reason
 */
export async function runTraining(parts: TrainingLoopParts, signal: AbortSignal): Promise<void> {
  const { config, spool, recorder, publisher, trainer, clock } = parts
  const { state } = recorder
  const { step } = await trainer.start(signal)
  checkSpool(parts, step)
  if (!state.current) await publisher.publish(0, await readStep(spool, 0))
  while (state.pendingBatch || state.current!.version < config.versions) {
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
function formBatch({ config, recorder, clock }: TrainingLoopParts): Promise<BatchRecord | null> {
  return recorder.record((state): BatchRecord | null => {
    const chosen = state.pendingBatch
      ? null
      : chooseBatch(config, state.trainable(config.maxStaleness), state.suppliers)
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
  const { baseSha256, spool, recorder, intake, publisher, trainer, clock } = parts
  const { batchId, step } = batch
  const refuse = (code: string, detail: string) =>
    recorder.record(() => ({ type: 'batch-refused', atMs: clock.now(), batchId, code, detail }))
  const groups = []
  for (const leaseId of batch.leaseIds) {
    const { version, backend } = recorder.state.leases.get(leaseId)!
    try {
      const rollouts = await intake.replayAccepted(leaseId, signal)
      groups.push({ leaseId, policyVersion: version, sampler: backend, rollouts })
    } catch (why) {
      if (!(why instanceof SwarmRefusal)) throw why
      // Its world has changed its mind since the group was judged. The next batch comes without it.
      await refuse(why.code, detailForWire(`group ${leaseId}: ${why.detail}`))
      return
    }
  }
  await writeBatch(spool, { batchId, roundId: `round-${step}`, baseSha256, parentStep: step - 1, groups })
  const outcome = await trainer.outcome(batchId, signal)
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
