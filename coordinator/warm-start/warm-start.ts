import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { hashFile, openTokenizer, readModelFacts } from '../../rollout/engine/index.js'
import {
  createEpisodeRuntime,
  type EpisodeRuntime,
  playReference,
  rulesNamed,
  type Task,
} from '../../rollout/episode/index.js'
import { admitEnvironments } from '../../servers/catalogue.js'
import { type Demonstration, writeDemonstrations } from '../jobs/demonstration-file.js'
import { exists } from '../jobs/job-directory.js'
import { SCHEMA, stepFolder } from '../jobs/layout.js'
import {
  runWarmStart,
  type WarmStartEvent,
  type WarmStartProcessOptions,
  type WarmStartResult,
} from '../jobs/warm-start-process.js'
import { trainingOf } from '../ledger/agree-run-configuration.js'
import { ConfigError, episodeLimits, type RunConfig } from '../settings/config.js'
import { openDataFolder } from '../settings/data-folder.js'
import { checkPromptCapacity } from '../settings/first-prompts.js'
import { readTaskSet, type TaskSet } from '../settings/task-set.js'
import { trainerConfig } from '../versions/run-trainer.js'
import { chooseTasks, type DemonstratedEnvironment } from './choose-tasks.js'
import { checkFinishedStart, checkTarget, saveFinishedStart, saveMergedRecord } from './finished-start.js'

/** Demonstrations and settings of a warm start. */
export interface WarmStartPlan {
  /** Data set of the demonstrated tasks; undefined: those of the run. */
  readonly dataset: string | undefined
  /** undefined: all environments of the data set. */
  readonly environments: readonly DemonstratedEnvironment[] | undefined
  /** Largest number of demonstrations. */
  readonly count: number
  /** Optimizer steps; undefined: as many as one pass over the demonstrations takes. */
  readonly steps: number | undefined
  readonly tokensPerStep: number
  readonly lr: number
}

export type WarmStartProgress =
  | WarmStartEvent
  /** Reference solutions that were played; `omitted`: longer than the run's limits. */
  | { readonly event: 'demonstrated'; readonly done: number; readonly wanted: number; readonly omitted: number }

export interface WarmStartOptions {
  readonly config: RunConfig
  readonly python: string
  /** Folder of the `prove_trainer` package. */
  readonly trainerFolder: string
  /** Folder for a copy of the result, from which other runs over the same base can start. */
  readonly out?: string | undefined
  /** File for a merged base: the base's own matrices are trained, for another run. undefined: the run's adapter is trained. */
  readonly merged?: string | undefined
  readonly onProgress: (progress: WarmStartProgress) => void
}

/** Share of the demonstrations that only measure the loss, and their largest number. */
const HELD_OUT = { share: 0.05, most: 64 }
const WARMUP_SHARE = 0.04
const FINAL_SHARE = 0.1
/** Demonstrations that are needed at least: fewer measure nothing. */
const FEWEST = 20

/**
 * Makes step 0 of a run from demonstrations: plays the reference solutions of tasks, and trains the run's adapter on the tokens of the
 * assistant. `start` publishes the result as version 0. An interrupted warm start resumes where it stopped.
 * @throws ConfigError, TrainerError, the signal's reason
 */
export const warmStart = (
  options: WarmStartOptions,
  plan: WarmStartPlan,
  signal: AbortSignal,
): Promise<WarmStartResult> =>
  makeFirstStep(
    options,
    async ({ config, taskSet, runtime, folder }) => {
      const shown = plan.dataset === undefined ? taskSet : await readTaskSet([plan.dataset], 'train')
      checkEnvironments(shown, taskSet, plan)
      const limits = episodeLimits(config)
      const chosen = chooseTasks(shown.tasks, plan.environments, plan.count, config.trainer.settings.seed ?? 0)
      checkPromptCapacity(chosen, runtime, limits)
      const played = await demonstrate(chosen, { runtime, limits, onProgress: options.onProgress }, signal)
      if (played.length < FEWEST)
        throw new ConfigError(
          `${played.length} demonstrations are too few: a warm start needs ${FEWEST}. Raise --count, or name further environments or another data set.`,
        )
      const demonstrationsSha256 = await writeDemonstrations(join(folder, 'demonstrations.safetensors'), played)
      const settings = settingsOf(plan, played, shown.datasetSha256, options.merged)
      await writeFileAtomic(join(folder, 'warm-start.json'), JSON.stringify({ ...settings, demonstrationsSha256 }))
      return { kind: 'warm-start', folder }
    },
    signal,
  )

/** Makes step 0 of a run from a finished warm start over the same base. @throws ConfigError, TrainerError, the signal's reason */
export const adoptStart = (options: WarmStartOptions, folder: string, signal: AbortSignal): Promise<WarmStartResult> =>
  makeFirstStep(
    options,
    async () => {
      await checkFinishedStart(folder)
      return { kind: 'adopt', folder }
    },
    signal,
  )

interface FirstStepContext {
  readonly config: RunConfig
  readonly taskSet: TaskSet
  readonly runtime: EpisodeRuntime
  /** The run's own folder for warm starts. */
  readonly folder: string
}

/** Writes `trainer.json` as `start` will, and runs the trainer on the prepared work. */
async function makeFirstStep(
  { config, python, trainerFolder, onProgress, out, merged }: WarmStartOptions,
  prepare: (context: FirstStepContext) => Promise<WarmStartProcessOptions['work']>,
  signal: AbortSignal,
): Promise<WarmStartResult> {
  const { jobs, warmStart: folder, trainerLog } = await openDataFolder(config.dataDir)
  if (merged !== undefined && (await exists(merged)))
    throw new ConfigError(`--full: ${merged} exists already and was not changed: remove it, or name another file`)
  if (merged === undefined && (await exists(stepFolder(jobs, 0))))
    throw new ConfigError(
      `${config.dataDir}: the run has its version 0 already, and a warm start makes version 0. Name another dataDir for a new run.`,
    )
  if (out !== undefined) await checkTarget(out)
  await admitEnvironments(config.tasks.environments)
  await mkdir(folder, { recursive: true })
  const taskSet = await readTaskSet(config.tasks.dataset, 'train')
  const tokenizer = await openTokenizer(config.base.path)
  try {
    const { toolCallFormat } = config.base
    const rules = rulesNamed({ toolCallFormat, reward: config.reward })
    const runtime = createEpisodeRuntime(taskSet.environments, tokenizer, rules)
    const work = await prepare({ config, taskSet, runtime, folder })
    const trainerFile = join(folder, 'trainer.json')
    const baseSha256 = await hashFile(config.base.path, signal)
    const configuration = {
      base: { name: config.base.name, ggufSha256: baseSha256 },
      limits: episodeLimits(config),
      training: trainingOf(config, readModelFacts(config.base.path).parameters),
    }
    await writeFileAtomic(trainerFile, trainerConfig(configuration, taskSet.tasks, runtime))
    const result = await runWarmStart(
      {
        ...{ python: config.trainer.python ?? python, packageFolder: trainerFolder, jobs, base: config.base.path },
        ...{ config: trainerFile, work, logFile: trainerLog, onEvent: onProgress },
      },
      signal,
    )
    if (out !== undefined) await saveFinishedStart(jobs, baseSha256, out)
    if (merged !== undefined) await saveMergedRecord(merged, result, baseSha256)
    return result
  } finally {
    await tokenizer.close()
  }
}

/** Returns the content of `warm-start.json`, without the hash of the demonstrations. */
function settingsOf(
  plan: WarmStartPlan,
  played: readonly Played[],
  dataset: string,
  merged: string | undefined,
): object {
  const { tokensPerStep, lr } = plan
  const heldOut = Math.max(1, Math.min(HELD_OUT.most, Math.floor(played.length * HELD_OUT.share)))
  const tokens = played.slice(0, -heldOut).reduce((sum, one) => sum + one.tokens.length, 0)
  const steps = plan.steps ?? Math.max(1, Math.floor(tokens / tokensPerStep))
  return {
    ...{ schema: SCHEMA, steps, tokensPerStep, heldOut, lr },
    ...{ warmupSteps: Math.ceil(steps * WARMUP_SHARE), finalShare: FINAL_SHARE },
    ...(merged === undefined ? {} : { merged }),
    source: { dataset, environments: countByEnvironment(played.map(({ task }) => task)) },
  }
}

/** @throws ConfigError if demonstrations would need environments that the run lacks */
function checkEnvironments(shown: TaskSet, own: TaskSet, { dataset }: WarmStartPlan): void {
  const names = new Set(own.environments.map(({ name }) => name))
  const foreign = shown.environments.map(({ name }) => name).filter((name) => !names.has(name))
  if (foreign.length > 0)
    throw new ConfigError(
      `${dataset ?? 'the demonstrations'}: the run's data set lacks the environments ${foreign.join(', ')}, and its adapter would be taught tools that no volunteer has. Name only the run's environments with --environments in prove-lab synthesize.`,
    )
}

type Played = Demonstration & { readonly task: Task }

/** Plays the reference solutions. Those that the run's limits cut are omitted: they would teach to stop early. */
async function demonstrate(
  tasks: readonly Task[],
  {
    runtime,
    limits,
    onProgress,
  }: {
    readonly runtime: EpisodeRuntime
    readonly limits: ReturnType<typeof episodeLimits>
    readonly onProgress: WarmStartOptions['onProgress']
  },
  signal: AbortSignal,
): Promise<Played[]> {
  const played: Played[] = []
  let omitted = 0
  for (const [i, task] of tasks.entries()) {
    signal.throwIfAborted()
    const { tokens, mask, end } = await playReference(task, runtime, limits, signal)
    if (end === 'finished') played.push({ task, tokens, mask })
    else omitted++
    onProgress({ event: 'demonstrated', done: i + 1, wanted: tasks.length, omitted })
  }
  return played
}

function countByEnvironment(tasks: readonly Task[]): Record<string, number> {
  const counts = new Map<string, number>()
  for (const { environments } of tasks)
    for (const { environment } of environments) counts.set(environment, (counts.get(environment) ?? 0) + 1)
  return Object.fromEntries([...counts].sort(([a], [b]) => a.localeCompare(b)))
}
