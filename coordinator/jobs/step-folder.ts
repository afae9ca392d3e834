import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { hashFile } from '../../rollout/engine/hash-file.js'
import { TrainerError } from './errors.js'
import { exists, unlessMissing } from './job-directory.js'
import { FILES, stepFolder } from './layout.js'

/** A path below the folder of the step. */
const fileName = z.string().regex(/^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[A-Za-z0-9._-]+(?:\/[A-Za-z0-9._-]+)*$/)
const sha256 = z.string().regex(/^[0-9a-f]{64}$/)

/** Most entries per record; the trainer writes some twenty settings. */
const MAX_ENTRIES = 64
const setting = z.union([z.string().max(256), z.number(), z.boolean(), z.null(), z.array(z.string().max(64)).max(64)])
const few = (record: Readonly<Record<string, unknown>>): boolean => Object.keys(record).length <= MAX_ENTRIES

/** Settings and program of a step, as the trainer reports them, including defaults. */
export const recipeSchema = z.object({
  settings: z
    .record(z.string().max(64), z.union([setting, z.record(z.string().max(64), setting).refine(few)]))
    .refine(few),
  program: z.record(z.string().max(64), z.string().max(256)).refine(few),
})
export type Recipe = z.output<typeof recipeSchema>

/** Supervised training of a run's first adapter, see docs/reference/trainer.md, "Warm start". */
export const warmStartSchema = z.object({
  demonstrations: z.object({
    sha256,
    count: z.int().min(1),
    /** SHA-256 of the manifest of their data set. */
    dataset: sha256,
    /** Number of demonstrations by environment. */
    environments: z.record(z.string().max(64), z.int().min(0)),
  }),
  settings: z
    .record(z.string().max(64), z.union([setting, z.record(z.string().max(64), setting).refine(few)]))
    .refine(few),
  /** Tokens that were trained on, repeated ones included. */
  tokens: z.int().min(0),
  /** Loss on held-out demonstrations, in nats per token of the assistant. */
  losses: z.array(z.object({ step: z.int().min(0), tokens: z.int().min(0), heldOutLoss: z.number() })).max(64),
  program: z.record(z.string().max(64), z.string().max(256)).refine(few),
})

const stepSchema = z.object({
  step: z.int().min(0),
  batchId: z.string().nullable(),
  skipped: z.string().nullable(),
  /** Number of ranks. */
  worldSize: z.int().min(1).default(1),
  /** Step whose update made the adapter. */
  adapterStep: z.int().min(0),
  lora: z.object({ rank: z.int(), alpha: z.number(), targetModules: z.array(z.string()) }),
  /** Null: an earlier trainer made the step and did not report it. */
  recipe: recipeSchema.nullable().default(null),
  /** Training of step 0; null: the run began with the base model. */
  warmStart: warmStartSchema.nullable(),
  files: z.record(fileName, sha256),
  stats: z.record(z.string(), z.unknown()).nullable(),
  canaries: z.array(
    z.object({
      prompt: z.array(z.int().min(0)),
      continuation: z.array(z.int().min(0)),
      base: z.array(z.number()),
      adapter: z.array(z.number()),
    }),
  ),
})

/** The part of `step.json` of a complete step that the coordinator reads (docs/reference/trainer.md). */
export type TrainerStep = z.output<typeof stepSchema> & {
  /** Folder of the step's files. */
  readonly folder: string
}

/** Returns the files of a step that are missing, or do not match the hashes of its `step.json`. @throws the signal's reason */
export async function damagedFiles({ folder, files }: TrainerStep, signal: AbortSignal): Promise<string[]> {
  const damaged: string[] = []
  for (const [name, wanted] of Object.entries(files))
    if ((await unlessMissing(hashFile(join(folder, name), signal))) !== wanted) damaged.push(name)
  return damaged
}

/** Returns the adapter of step 0; null: the run has no step yet. @throws TrainerError for a damaged step */
export async function firstAdapter(jobs: string): Promise<{ readonly path: string; readonly sha256: string } | null> {
  if (!(await exists(stepFolder(jobs, 0)))) return null
  const { folder, files } = await readStep(jobs, 0)
  return { path: join(folder, 'adapter.gguf'), sha256: files['adapter.gguf']! }
}

/** Reads a complete step. @throws TrainerError when it is missing, damaged or another step */
export async function readStep(jobs: string, step: number): Promise<TrainerStep> {
  const folder = stepFolder(jobs, step)
  const file = join(folder, FILES.step)
  try {
    const content = stepSchema.parse(JSON.parse(await readFile(file, 'utf8')))
    if (content.step !== step) throw new Error(`it is step ${content.step}`)
    if (content.adapterStep > step) throw new Error(`its adapter is of step ${content.adapterStep}`)
    return { ...content, folder }
  } catch (cause) {
    const reason = cause instanceof z.ZodError ? z.prettifyError(cause) : (cause as Error).message
    throw new TrainerError('trainer_failed', `${file}: ${reason.slice(0, 400)}`, { cause })
  }
}
