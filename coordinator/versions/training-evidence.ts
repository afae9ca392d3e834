import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import canonicalize from 'canonicalize'
import {
  parseVerdictLeaf,
  SwarmRefusal,
  type TrainingGroup,
  type TrainingRecord,
  trainingBatch,
} from '../../proto/index.js'
import type { SwarmLogger } from '../../swarm/index.js'
import { BodyError, type GroupBodies } from '../intake/group-bodies.js'
import { readWrittenBatch, type WrittenBatch } from '../jobs/batch-folder.js'
import { readStep, type TrainerStep } from '../jobs/step-folder.js'
import type { BatchRecord, RunState } from '../ledger/run-state.js'
import type { TaskSet } from '../settings/task-set.js'

export interface EvidenceParts {
  readonly runId: string
  readonly state: RunState
  readonly taskSet: Pick<TaskSet, 'tasks'>
  readonly jobs: string
  /** Folder with a copy of every calibration that a run configuration has named. */
  readonly calibrations: string
  /** Bodies of accepted groups. */
  readonly bodies: Pick<GroupBodies, 'read'>
  readonly logger: Pick<SwarmLogger, 'error'>
  readonly signal: AbortSignal
}

/** Hashes of everything that a step was made from, for its provenance. */
export interface Derivation {
  readonly batchId: string
  readonly parent: { readonly step: number; readonly files: Readonly<Record<string, string>> }
  readonly batch: Pick<WrittenBatch, 'manifestSha256' | 'tokensSha256'> & {
    readonly leftOut: readonly { readonly group: string; readonly reason: string }[]
  }
  readonly ranks: number
  /** Why the trainer left the policy unchanged; null: it updated the policy. */
  readonly skipped: string | null
  /** Settings and program of the trainer. */
  readonly recipe: TrainerStep['recipe']
  /** Merkle roots over the verdicts for the last steps. */
  readonly verdicts: readonly { readonly step: number; readonly count: number; readonly root: string }[]
}

/** Evidence with which a stranger can make a step again. */
export interface TrainingEvidence {
  readonly derivation: Derivation
  /** The encoded `TrainingBatch`. */
  readonly batch: Uint8Array
}

/** Files of the parent step from which the trainer continues. */
const STATE_FILES = ['adapter/adapter_model.safetensors', 'optimizer.safetensors', 'rng.json']

/** Reason why a group was left out whose own verdict names none: its key was held back or in quarantine. */
export const KEY_IN_DOUBT = 'key_in_doubt'

/**
 * Collects the evidence of a step from the log, the job directory and the bodies of its groups.
 * @returns null for a step without a batch. Also if a part is lost, which is logged: the version is published without evidence
 * @throws the signal's reason
 */
export async function trainingEvidence(step: TrainerStep, parts: EvidenceParts): Promise<TrainingEvidence | null> {
  const { state, jobs, logger, signal } = parts
  const batch = step.batchId === null ? undefined : state.batches.get(step.batchId)
  if (!batch) return null
  const fail = (why: unknown): null => {
    logger.error({ step: step.step, error: why }, 'nobody can make this step again, because a part of it is lost')
    return null
  }
  const written = await readWrittenBatch(jobs, batch.batchId)
  if (!written) return fail(`the job directory does not have the batch ${batch.batchId}`)
  try {
    const record = await recordOf(batch, written, parts)
    const bodies = await Promise.all(record.groups.map((group) => parts.bodies.read(group, signal)))
    const parent = await readStep(jobs, batch.step - 1)
    const derivation: Derivation = {
      batchId: batch.batchId,
      parent: {
        step: parent.step,
        files: Object.fromEntries(
          STATE_FILES.flatMap((name) => (parent.files[name] ? [[name, parent.files[name]]] : [])),
        ),
      },
      batch: {
        manifestSha256: written.manifestSha256,
        tokensSha256: written.tokensSha256,
        leftOut: record.groups.flatMap(({ leaseId, leftOut }) =>
          leftOut === null ? [] : [{ group: leaseId, reason: leftOut }],
        ),
      },
      ranks: step.worldSize,
      skipped: step.skipped,
      recipe: step.recipe,
      verdicts: state.verdictTrees.roots().filter((root) => root.step <= batch.step),
    }
    return { derivation, batch: trainingBatch.encode({ record, bodies }) }
  } catch (why) {
    signal.throwIfAborted()
    if (why instanceof BodyError || why instanceof SwarmRefusal || isMissing(why)) return fail(why)
    throw why
  }
}

const isMissing = (why: unknown): boolean => (why as NodeJS.ErrnoException).code === 'ENOENT'

async function recordOf(batch: BatchRecord, written: WrittenBatch, parts: EvidenceParts): Promise<TrainingRecord> {
  const { runId, state, taskSet, calibrations: folder } = parts
  const leases = batch.leaseIds.map((leaseId) => state.leases.get(leaseId)!)
  const rounds = new Map(leases.map((lease) => [lease.round, state.roundOf(lease)]))
  const inForce = [...state.configurationHistory.slice(-2), ...rounds.values()]
  const configurations = new Map(inForce.map((one) => [one.configurationId, one.configuration]))
  const calibrations = new Set([...configurations.values()].flatMap(({ audit }) => Object.values(audit.calibrations)))
  const texts = [...calibrations].map(async (hash) => [hash, await readFile(join(folder, `${hash}.json`), 'utf8')])
  const groups = leases.map((lease): TrainingGroup => {
    const { leaseId, node, round, index, version, backend, taskIndex } = lease
    const { leaf, ...place } = state.verdictTrees.proveAccepted(leaseId)!
    return {
      ...{ leaseId, node, round, index, version, backend, taskIndex },
      bodySha256: state.judged.get(leaseId)!.bodySha256,
      unaudited: written.unaudited.has(leaseId),
      leftOut: written.leftOut.has(leaseId) ? reasonOf(leaseId, state) : null,
      leaf,
      place: { ...place, path: [...place.path] },
    }
  })
  return {
    schema: 1,
    run: runId,
    step: batch.step,
    batchId: batch.batchId,
    backTo: batch.backTo ?? null,
    configurations: Object.fromEntries(configurations),
    calibrations: Object.fromEntries(await Promise.all(texts)),
    rounds: [...rounds.values()].map(({ round, version, policyId, roundSecret, configurationId, skippedTasks }) => ({
      ...{ round, version, policyId, secret: roundSecret, configurationId, skippedTasks },
    })),
    tasks: Object.fromEntries(leases.map(({ taskIndex }) => [taskIndex, canonicalize(taskSet.tasks[taskIndex])!])),
    // A change while the step was made could be either.
    trainingConfigurations: state.configurationHistory.slice(-2).map(({ configurationId }) => configurationId),
    groups,
    verdicts: [...state.verdictTrees.of(batch.step)],
  }
}

/** Returns why a group of a batch was left out: the code of its newest verdict, or that its key was in doubt. */
function reasonOf(leaseId: string, { verdictTrees }: RunState): string {
  const newest = verdictTrees.prove(leaseId)
  return (newest && parseVerdictLeaf(newest.leaf)?.code) ?? KEY_IN_DOUBT
}
