import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import {
  type BatchContent,
  readBatchTokenScores,
  writeBatch,
  writeFindings,
} from '../../coordinator/jobs/batch-folder.js'
import { FILES, stepFolder } from '../../coordinator/jobs/layout.js'
import { readStep, type TrainerStep } from '../../coordinator/jobs/step-folder.js'
import { createTrainerProcess } from '../../coordinator/jobs/trainer-process.js'
import { hashFile } from '../../rollout/engine/index.js'
import type { SampledToken, TokenReader } from '../../rollout/verification/index.js'
import type { ReplayedGroup } from './check-groups.js'
import type { DerivedVersions } from './check-record.js'
import { DoesNotFollow } from './verdict.js'

/** Where and how the real trainer runs. */
export interface TrainerParts {
  readonly python: string
  /** Folder of the `prove_trainer` package. */
  readonly packageFolder: string
  /** Path of the base model. */
  readonly base: string
  readonly device: 'cpu' | 'cuda'
  /** An empty folder for the job directory. */
  readonly folder: string
}

/** A step that was made again. */
export interface MadeStep {
  readonly step: TrainerStep
  /** Token scores of the groups that were written with their draws, by lease. */
  readonly scores: ReadonlyMap<string, readonly SampledToken[]>
}

/** Settings that this machine determines. */
const ownSettings = (device: TrainerParts['device']): object => ({ device, sharding: 'none', memoryGiB: 0 })

/** Everything that a step is made of. */
export interface StepInput {
  /** The batch, with draws of the groups to check. */
  readonly batch: BatchContent
  /** Groups that the published step left out. */
  readonly leftOut: readonly string[]
  readonly versions: DerivedVersions
  readonly groups: readonly ReplayedGroup[]
  readonly reader: TokenReader
}

/**
 * Makes a step with the real trainer, from the published state of the parent.
 * @throws DoesNotFollow `update` if the trainer refuses the batch; TrainerError if it cannot run
 */
export async function makeStep(
  { batch, leftOut, versions, groups, reader }: StepInput,
  parts: TrainerParts,
  signal: AbortSignal,
): Promise<MadeStep> {
  const { python, packageFolder, base, device, folder } = parts
  const { derivation } = versions
  const jobs = join(folder, 'jobs')
  const config = join(folder, 'trainer.json')
  const { settings } = derivation.recipe!
  const content = { schema: 1, baseSha256: batch.baseSha256, ...settings, ...ownSettings(device) }
  await mkdir(jobs, { recursive: true })
  await writeFile(config, JSON.stringify(content))
  await writeParents(jobs, versions, groups)
  const trainer = createTrainerProcess(
    {
      ...{ python, packageFolder, jobs, base, config, processes: 1, maxFailures: 1 },
      logFile: join(folder, 'trainer.log'),
      onEvent: () => undefined,
    },
    pino({ enabled: false }),
  )
  try {
    await writeBatch(jobs, batch)
    await trainer.start(signal)
    const scores = new Map<string, readonly SampledToken[]>()
    let outcome = await trainer.outcome(batch.batchId, signal)
    if (outcome.kind === 'measured') {
      const drawn = batch.groups.filter(({ draws }) => draws !== null)
      const measured = await readBatchTokenScores(
        jobs,
        batch.batchId,
        drawn.map(({ rollouts }) => ({ rollouts })),
        reader,
      )
      for (const [i, { leaseId }] of drawn.entries()) scores.set(leaseId, measured[i]!)
      await writeFindings(jobs, batch.batchId, leftOut)
      outcome = await trainer.outcome(batch.batchId, signal)
    }
    if (outcome.kind === 'refused')
      throw new DoesNotFollow('update', `the trainer refuses the batch: ${outcome.code}: ${outcome.detail}`)
    return { step: await readStep(jobs, batch.parentStep + 1), scores }
  } finally {
    await trainer.close()
  }
}

/** Writes the steps that the trainer continues from, as it left them. */
async function writeParents(
  jobs: string,
  { parent, earlier, derivation }: DerivedVersions,
  groups: readonly ReplayedGroup[],
): Promise<void> {
  const number = parent.sealed.manifest.version
  const needed = new Set([number, ...groups.map(({ group }) => group.version)])
  if (derivation.recipe && parent.provenance.warmStart) needed.add(0)
  for (const version of needed) {
    const published = earlier.get(version)
    if (published) await writeParent(jobs, published, derivation.recipe!.settings.lora)
  }
}

/** Files of a step by their names in the published folder. Steps that are only sampled under need no optimizer. */
const PUBLISHED: readonly (readonly [inStep: string, published: string | null])[] = [
  ['adapter/README.md', null],
  ['adapter/adapter_config.json', 'adapter_config.json'],
  ['adapter/adapter_model.safetensors', 'adapter_model.safetensors'],
  ['adapter.gguf', 'adapter.gguf'],
  ['optimizer.safetensors', 'optimizer.safetensors'],
  ['rng.json', 'rng.json'],
]

async function writeParent(
  jobs: string,
  { folder, files, sealed, provenance }: DerivedVersions['parent'],
  lora: unknown,
): Promise<void> {
  const { version, policy } = sealed.manifest
  const target = stepFolder(jobs, version)
  await mkdir(join(target, 'adapter'), { recursive: true })
  const hashes: Record<string, string> = {}
  for (const [inStep, published] of PUBLISHED) {
    const path = join(target, inStep)
    if (published !== null && files.has(published)) await copyFile(join(folder, published), path)
    else await writeFile(path, '')
    hashes[inStep] = await hashFile(path)
  }
  const content = {
    ...{ schema: 1, step: version, batchId: null, skipped: null, adapterStep: provenance.step, consumed: {} },
    ...{ consecutiveSkips: 0, baseSha256: policy.base.ggufSha256, lora, files: hashes },
    warmStart: provenance.warmStart ?? null,
  }
  await writeFile(join(target, FILES.step), JSON.stringify(content))
}
