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
  /** Fixes the order of the tasks and every draw: two rewards meet the same tasks and the same noise. */
  readonly seed: number
  readonly limits: EpisodeLimits
}

export interface TrainingParts {
  readonly tasks: readonly Task[]
  /** Its reward is what is trained for. */
  readonly runtime: EpisodeRuntime
  /** They share the groups of a step; how many there are changes nothing. */
  readonly engines: readonly Pick<Engine, 'usePolicy' | 'openSlots' | 'build'>[]
  readonly trainer: TrainEngine
  readonly jobs: string
  readonly baseSha256: string
  onProgress(done: number, wanted: number): void
}

/** Times that a step looks for groups with differing rewards: where all are alike there is nothing to learn. */
const WAVES = 3

/**
 * GRPO in one process: groups of the policy in force, a step by the coordinator's own trainer, and again. Goes on from the newest step in
 * the spool.
 * @returns  the adapter of the last step
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

/** The groups of a step. Which tasks they are of depends on the step and on what earlier groups of the same step earned. */
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
  // A step of flat groups alone is skipped by the trainer, and is a step for all that.
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

/** The tasks by the hash of their ids and the seed. */
function shuffled(tasks: readonly Task[], seed: number): Task[] {
  const keyed = tasks.map((task) => ({ task, key: digest(['prove/ablation/1', seed, task.id]).toString('hex') }))
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ task }) => task)
}
