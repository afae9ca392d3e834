import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { type BatchGroup, writeBatch } from '../../coordinator/jobs/batch-folder.js'
import { TrainerError } from '../../coordinator/jobs/errors.js'
import { stepFolder } from '../../coordinator/jobs/layout.js'
import { readStep } from '../../coordinator/jobs/step-folder.js'
import type { TrainEngine } from '../../coordinator/jobs/train-engine.js'
import type { AdapterFile, Engine } from '../../rollout/engine/index.js'
import {
  type EpisodeLimits,
  type EpisodeRuntime,
  type Rollout,
  runAll,
  runGroup,
  type Task,
} from '../../rollout/episode/index.js'

export interface TrainingSettings {
  readonly steps: number
  readonly batchGroups: number
  /** Rollouts per group. */
  readonly groupSize: number
  /** Seed of the task order and of sampling. Two rewards get the same tasks and the same random numbers. */
  readonly seed: number
  readonly limits: EpisodeLimits
}

export interface TrainingParts {
  readonly tasks: readonly Task[]
  /** Runtime whose reward is the training objective. */
  readonly runtime: EpisodeRuntime
  /** Engines that share the groups of a step. Their number does not affect the results. */
  readonly engines: readonly Pick<Engine, 'usePolicy' | 'openSlots' | 'build'>[]
  readonly trainer: TrainEngine
  readonly jobs: string
  readonly baseSha256: string
  onProgress(done: number, wanted: number): void
}

/** Attempts of a step to find groups with reward variance. */
const WAVES = 3

/**
 * Trains a policy with GRPO in one process: samples groups of the current policy, and takes a step with the coordinator's trainer. Resumes
 * from the newest step in the job directory.
 * @returns  adapter of the last step
 * @throws TrainerError; EngineError; the signal's reason
 */
export async function trainPolicy(
  parts: TrainingParts,
  settings: TrainingSettings,
  signal: AbortSignal,
): Promise<AdapterFile> {
  const { trainer, jobs, baseSha256, engines, onProgress } = parts
  let { step } = await trainer.start(signal)
  for (onProgress(step, settings.steps); step < settings.steps; onProgress(step, settings.steps)) {
    const adapter = await adapterOf(jobs, step)
    await Promise.all(engines.map((engine) => engine.usePolicy(step === 0 ? null : adapter, signal)))
    const groups = await groupsOf(step, parts, settings, signal)
    const batchId = `step-${step + 1}`
    await writeBatch(jobs, { batchId, roundId: batchId, baseSha256, parentStep: step, groups })
    const outcome = await trainer.outcome(batchId, signal)
    if (outcome.kind !== 'trained')
      throw new TrainerError('trainer_failed', `${batchId}: ${'detail' in outcome ? outcome.detail : outcome.kind}`)
    step = outcome.step
  }
  return adapterOf(jobs, step)
}

async function adapterOf(jobs: string, step: number): Promise<AdapterFile> {
  const { files, lora } = await readStep(jobs, step)
  const { rank, alpha, targetModules } = lora
  return {
    path: join(stepFolder(jobs, step), 'adapter.gguf'),
    sha256: files['adapter.gguf']!,
    shape: { rank, alpha, targetModules },
  }
}

/** Samples the groups of a step. Their tasks depend on the step and on the rewards of earlier groups of the step. */
async function groupsOf(
  step: number,
  parts: TrainingParts,
  settings: TrainingSettings,
  signal: AbortSignal,
): Promise<BatchGroup[]> {
  const { batchGroups, seed } = settings
  const order = shuffled(parts.tasks, seed)
  let next = step * WAVES * batchGroups
  const found: BatchGroup[] = []
  const zeroVariance: BatchGroup[] = []
  for (let wave = 0; wave < WAVES && found.length < batchGroups; wave++) {
    const wanted = Array.from({ length: batchGroups - found.length }, () => next++)
    for (const group of await playAll(wanted, order, step, parts, settings, signal))
      (isZeroVariance(group) ? zeroVariance : found).push(group)
  }
  // The trainer skips a step with zero-variance groups only, and the step still counts.
  return found.length > 0 ? found : zeroVariance.slice(0, batchGroups)
}

const isZeroVariance = ({ rollouts }: BatchGroup): boolean =>
  rollouts.every(({ reward }) => reward === rollouts[0]!.reward)

async function playAll(
  places: readonly number[],
  order: readonly Task[],
  step: number,
  { engines, runtime }: TrainingParts,
  { seed, groupSize, limits }: TrainingSettings,
  signal: AbortSignal,
): Promise<BatchGroup[]> {
  const groups: BatchGroup[] = []
  let at = 0
  await runAll(
    engines.map((engine) => async (inner) => {
      for (let i = at++; i < places.length; i = at++) {
        const place = places[i]!
        const rollouts = await runGroup(
          order[place % order.length]!,
          groupSize,
          digest(['prove/ablation/1', seed, place]),
          engine,
          runtime,
          limits,
          inner,
        )
        groups[i] = {
          ...{ leaseId: `group-${place}`, supplier: 'lab', policyVersion: step, sampler: engine.build.backend },
          ...{ rollouts: rollouts.map(trainedOn), draws: null },
        }
      }
    }),
    signal,
  )
  return groups
}

const trainedOn = ({ tokens, mask, logprobs, reward }: Rollout): BatchGroup['rollouts'][number] => ({
  ...{ tokens, mask, logprobs, reward: reward.total },
})

const digest = (value: unknown): Buffer => createHash('sha256').update(JSON.stringify(value)).digest()

/** Sorts the tasks by a hash of the seed and their ids. */
function shuffled(tasks: readonly Task[], seed: number): Task[] {
  const keyed = tasks.map((task) => ({ task, key: digest(['prove/ablation/1', seed, task.id]).toString('hex') }))
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ task }) => task)
}
