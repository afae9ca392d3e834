import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { integerOption } from '../../common/cli/index.js'
import { defaultPython, trainerFolder } from '../../coordinator/jobs/python.js'
import { createTrainerProcess } from '../../coordinator/jobs/trainer-process.js'
import { readTaskSet } from '../../coordinator/settings/task-set.js'
import { canaryPrompts } from '../../coordinator/versions/canary.js'
import { type EngineProcess, hashFile, openEngine, openTokenizer } from '../../rollout/engine/index.js'
import {
  createEpisodeRuntime,
  type EpisodeRuntime,
  evaluatePolicy,
  type Task,
  toolCallFormatNamed,
} from '../../rollout/episode/index.js'
import { withEnvironmentFolders } from '../../servers/environment-option.js'
import { createStderrLogger } from '../../swarm/index.js'
import { ablate, type Cell, type CellResult, cellResult } from '../ablation/ablate.js'
import { summarise } from '../ablation/summarise.js'
import { ablationTables } from '../ablation/tables.js'
import { trainPolicy } from '../ablation/train-policy.js'
import { VARIANTS, WHOLE } from '../ablation/variants.js'
import { fittingTasks, type LimitOptions, limitsOf } from '../fitting-tasks.js'
import { openJournal } from '../journal.js'
import { toolCallFormatOption, withLimitOptions } from '../options.js'
import { createProgress } from '../progress.js'
import { resumable } from '../resumable.js'

interface AblateOptions extends LimitOptions {
  model: string
  dataset: string
  out: string
  variants: string[]
  seeds: number
  steps: number
  batchGroups: number
  groupSize: number
  lr: number
  tasks: number
  samples: number
  workers: number
  threads: number
  toolCallFormat: string
  json: boolean
}

const MAX_FAILURES = 2
/** Wait for busy slots, as in `prove-lab eval`. */
const SLOT_WAIT_MS = 60_000
/** Slots of an engine in an evaluation. */
const EVALUATED_SLOTS = 32

export function addAblateCommand(program: Command): void {
  withEnvironmentFolders(withLimitOptions(program.command('ablate')))
    .description("Train with variants of the paper's reward and other presets, and compare the solved tasks")
    .requiredOption('--model <gguf>', 'base model')
    .requiredOption('--dataset <folder>', 'data set, with training tasks and held-out tasks')
    .requiredOption(
      '--out <folder>',
      'where to write the result, a folder for reports and adapters; the same command resumes from it',
    )
    .option('--variants <names>', `comma-separated: ${[...VARIANTS.keys()].join(', ')}`, variantsOption, [
      ...VARIANTS.keys(),
    ])
    .option('--seeds <number>', 'trainings per variant, with the seeds 0, 1, …', integerOption(1, 64), 3)
    .option('--steps <number>', 'optimizer steps', integerOption(1, 100_000), 16)
    .option('--batch-groups <number>', 'groups per step', integerOption(1, 1024), 12)
    .option('--group-size <number>', 'rollouts per group', integerOption(2, 64), 8)
    .option('--lr <number>', 'learning rate', rateOption, 1e-3)
    .option('--tasks <number>', 'largest number of tasks, all held-out', integerOption(2, 100_000), 200)
    .option('--samples <number>', 'rollouts per held-out task', integerOption(1, 64), 2)
    .option(
      '--workers <number>',
      'workers that share the work, each an engine with the model in memory',
      integerOption(1, 64),
      2,
    )
    .option('--threads <number>', 'CPU threads of each engine', integerOption(1, 256), 1)
    .addOption(toolCallFormatOption())
    .option('--json', 'print JSON on stdout', false)
    .action(run)
}

function variantsOption(text: string): string[] {
  const names = [...new Set(text.split(','))]
  for (const name of names)
    if (!VARIANTS.has(name))
      throw new InvalidArgumentError(`No variant "${name}". Choose from ${[...VARIANTS.keys()].join(', ')}.`)
  return names
}

function rateOption(text: string): number {
  const value = Number(text)
  if (!(value > 0 && value <= 10)) throw new InvalidArgumentError('Give a number above 0, at most 10.')
  return value
}

const run = (options: AblateOptions): Promise<void> =>
  resumable(async (signal) => {
    const summaries = summarise(await ablateModel(options, signal))
    return options.json ? JSON.stringify(summaries) : ablationTables(summaries, options)
  })

async function ablateModel(options: AblateOptions, signal: AbortSignal): Promise<CellResult[]> {
  const { groupSize, batchGroups, steps, samples: samplesPerTask, workers, threads, toolCallFormat, lr } = options
  const [modelPath, dataset, out] = [resolve(options.model), resolve(options.dataset), resolve(options.out)]
  await mkdir(join(out, 'adapters'), { recursive: true })
  const limits = limitsOf(options)
  const baseSha256 = await hashFile(modelPath, signal)
  const training = await readTaskSet([dataset], 'train')
  const heldOut = await readTaskSet([dataset], 'held-out', options.tasks)
  const work = { schema: 1, baseSha256, dataset: training.datasetSha256, toolCallFormat, limits }
  const making = { steps, batchGroups, groupSize, lr, tasks: options.tasks, samplesPerTask }
  const journal = await openJournal(join(out, 'results.jsonl'), { ...work, ...making }, cellResult)
  const tokenizer = await openTokenizer(modelPath)
  const engines: EngineProcess[] = []
  const runtimeFor = (reward: string): EpisodeRuntime =>
    createEpisodeRuntime(training.environments, tokenizer, {
      toolCallFormat: toolCallFormatNamed(toolCallFormat),
      reward: VARIANTS.get(reward)!.reward,
    })
  try {
    const runtime = runtimeFor(WHOLE)
    const { tasks, tooLong } = fittingTasks(training.tasks, runtime, limits)
    const { tasks: evaluated, tooLong: notEvaluated } = fittingTasks(heldOut.tasks, runtime, limits)
    if (tooLong + notEvaluated > 0)
      process.stderr.write(
        `${tooLong + notEvaluated} of ${training.tasks.length + heldOut.tasks.length} tasks are omitted: their prompts leave no capacity for an answer\n`,
      )
    const slots = Math.max(groupSize, EVALUATED_SLOTS)
    const engine = { modelPath, threads, contextSize: limits.maxRolloutTokens, slots, gpu: 'auto' } as const
    for (let i = 0; i < workers; i++) engines.push(await openEngine(engine, { slotWaitMs: SLOT_WAIT_MS }))
    const train = async (cell: Cell, inner: AbortSignal) => {
      const folder = join(out, 'training', cellName(cell))
      const trainer = await openTrainer(folder, {
        cell,
        modelPath,
        baseSha256,
        lr,
        canaries: { tasks, runtime, limits },
      })
      try {
        const parts = {
          tasks,
          runtime: runtimeFor(cell.variant),
          engines,
          trainer,
          jobs: join(folder, 'jobs'),
          baseSha256,
        }
        const adapter = await trainPolicy(
          { ...parts, onProgress: createProgress(`steps of ${cellName(cell)}`) },
          { steps, batchGroups, groupSize, seed: cell.seed, limits },
          inner,
        )
        const kept = join(out, 'adapters', `${cellName(cell)}.gguf`)
        await copyFile(adapter.path, kept)
        return { ...adapter, path: kept }
      } finally {
        await trainer.close()
      }
    }
    return await ablate(
      {
        ...{ variants: options.variants, seeds: Array.from({ length: options.seeds }, (_, seed) => seed), journal },
        train,
        async evaluate(adapter, seed, inner) {
          const settings = { samplesPerTask, slots: EVALUATED_SLOTS, seed, temperature: 1, limits }
          return evaluatePolicy(evaluated, adapter, engines, runtime, settings, inner)
        },
        async onCell({ variant, seed, tasks: solved }, done, wanted) {
          const share = solved.reduce((sum, task) => sum + task.solved, 0) / solved.length
          process.stderr.write(
            `${done} of ${wanted}: ${variant ?? 'base'}, seed ${seed}: ${(100 * share).toFixed(1)} % solved\n`,
          )
          if (variant !== null)
            await rm(join(out, 'training', cellName({ variant, seed })), { recursive: true, force: true })
        },
      },
      signal,
    )
  } finally {
    await Promise.all(engines.map((one) => one.close()))
    await tokenizer.close()
  }
}

const cellName = ({ variant, seed }: Cell): string => `${variant}-seed-${seed}`

interface TrainerParts {
  readonly cell: Cell
  readonly modelPath: string
  readonly baseSha256: string
  readonly lr: number
  readonly canaries: {
    readonly tasks: readonly Task[]
    readonly runtime: EpisodeRuntime
    readonly limits: ReturnType<typeof limitsOf>
  }
}

/** Starts a trainer with its own job directory in `folder`. */
async function openTrainer(folder: string, { cell, modelPath, baseSha256, lr, canaries }: TrainerParts) {
  const [jobs, config] = [join(folder, 'jobs'), join(folder, 'trainer.json')]
  await mkdir(join(jobs, 'batches'), { recursive: true })
  const { tasks, runtime, limits } = canaries
  await writeFile(
    config,
    JSON.stringify({
      ...{ schema: 1, baseSha256, baseModel: { name: 'ablation' }, canaries: canaryPrompts(tasks, runtime, limits) },
      ...{ seed: cell.seed, optimizer: { lr } },
    }),
  )
  return createTrainerProcess(
    {
      ...{ python: defaultPython(), packageFolder: trainerFolder, jobs, base: modelPath, config, processes: 1 },
      ...{ logFile: join(folder, 'trainer.log'), maxFailures: MAX_FAILURES, onEvent: () => undefined },
    },
    createStderrLogger('warn'),
  )
}
