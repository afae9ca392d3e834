import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { z } from 'zod'
import { createCleanUp } from '../../common/cleanup/index.js'
import { integerOption } from '../../common/cli/index.js'
import { readTaskSet } from '../../coordinator/settings/task-set.js'
import {
  type AdapterFile,
  type CacheType,
  calibratedName,
  type EngineProcess,
  hashFile,
  MAX_TEMPERATURE,
  openEngine,
  openTokenizer,
} from '../../rollout/engine/index.js'
import {
  areAlike,
  createEpisodeRuntime,
  type Estimate,
  type EvaluationSettings,
  evaluatePolicies,
  type PlayedTogether,
  rulesNamed,
  type Task,
  type TaskResult,
  type UnderstoodMessage,
  understoodSchema,
} from '../../rollout/episode/index.js'
import { withEnvironmentFolders } from '../../servers/environment-option.js'
import {
  type UserOptions,
  userSimulatorFor,
  userSimulatorSummary,
  withUserOptions,
} from '../../servers/episodes/user-simulator/options.js'
import type { UserSimulator } from '../../servers/episodes/user-simulator/user-simulator.js'
import { type Comparison, comparePolicies } from '../compare-policies.js'
import { cacheTypeFor, fittingTasks, type LimitOptions, limitsOf } from '../fitting-tasks.js'
import { type Journal, openJournal } from '../journal.js'
import { cacheTypeOption, numberOption, rewardOption, toolCallFormatOption, withLimitOptions } from '../options.js'
import { createProgress } from '../progress.js'

interface EvalOptions extends LimitOptions, UserOptions {
  model: string
  adapter: string
  tasks: number
  samples: number
  seed: number
  temperature: number
  dataset: string
  slots: number
  threads: number
  workers: number
  toolCallFormat: string
  reward: string
  cacheType?: CacheType
  results?: string
  json: boolean
}

/** Wait for slots that are busy with calls. Environments answer in this process, so a slot is never busy for long; a skipped slot would change the results. */
const SLOT_WAIT_MS = 60_000

/** The same with a user simulator: for a model file, 32 slots with two requests of 30 s each, one after another, take half an hour. */
const SIMULATED_SLOT_WAIT_MS = 60 * 60_000

export function addEvalCommand(program: Command): void {
  const limited = withLimitOptions(program.command('eval'), 'run.yaml with the limits and the cache type of rollouts')
  withUserOptions(withEnvironmentFolders(limited))
    .description('Compare a base model with and without an adapter on held-out tasks.')
    .requiredOption('--model <gguf>', 'base model')
    .requiredOption('--adapter <gguf>', 'LoRA adapter')
    .option('--tasks <number>', 'number of held-out tasks', integerOption(2, 100_000), 200)
    .option('--samples <number>', 'rollouts per task', integerOption(1, 64), 1)
    .option('--seed <number>', 'seed of the sampler', integerOption(0, 0xffffffff), 0)
    .option(
      '--temperature <number>',
      'sampling temperature; 0: always the most likely token',
      numberOption(0, MAX_TEMPERATURE),
      1,
    )
    .requiredOption('--dataset <folder>', 'data set with the held-out tasks')
    .option('--slots <number>', 'rollouts that each engine generates in parallel', integerOption(1, 256), 32)
    .option('--threads <number>', 'CPU threads of each engine', integerOption(1, 256), 1)
    .option('--workers <number>', 'engines that share the work, each with the model in memory', integerOption(1, 64), 2)
    .addOption(toolCallFormatOption())
    .addOption(rewardOption())
    .addOption(cacheTypeOption())
    .option('--results <file>', 'file for results so far; the same command resumes from it after a stop')
    .option('--json', 'print one JSON object', false)
    .action(evaluate)
}

async function evaluate(options: EvalOptions, command: Command): Promise<void> {
  if (options.temperature === 0 && options.samples > 1)
    command.error('--temperature 0 gives the same rollout for every sample: remove --samples.')
  const { environments, tasks: drawn } = await readTaskSet(resolve(options.dataset), 'held-out', options.tasks)
  const limits = limitsOf(options)
  const cacheType = cacheTypeFor(options)
  const modelPath = resolve(options.model)
  const adapter = adapterFile(options.adapter)
  const opened = createCleanUp()
  const tokenizer = await openTokenizer(modelPath)
  opened.add(() => tokenizer.close())
  const runtime = createEpisodeRuntime(environments, tokenizer, rulesNamed(options))
  const { slots, threads, workers } = options
  const { samples: samplesPerTask, seed, temperature } = options
  const settings = { samplesPerTask, slots, seed, temperature, limits }
  const contextSize = limits.maxRolloutTokens
  const engine = { modelPath, threads, contextSize, slots, gpu: 'auto', cacheType } as const
  const engines: EngineProcess[] = []
  opened.add(() => Promise.all(engines.map((one) => one.close())))
  const { signal } = new AbortController()
  const say = (line: string): void => void process.stderr.write(`${line}\n`)
  try {
    const simulator = await userSimulatorFor(options, say, signal)
    if (simulator) opened.add(() => simulator.close())
    const { tasks, tooLong } = fittingTasks(drawn, runtime, limits)
    const slotWaitMs = simulator ? SIMULATED_SLOT_WAIT_MS : SLOT_WAIT_MS
    for (let i = 0; i < workers; i++) engines.push(await openEngine(engine, { slotWaitMs }))
    const backend = [...new Set(engines.map(({ build }) => calibratedName(build)))].join(' and ')
    const journal = await openResults(options, { modelPath, adapter, cacheType, backend, tasks, settings, simulator })
    const played = { ...settings, ...(simulator ? { userSimulator: simulator } : {}) }
    const [before, after] = await evaluatePolicies(tasks, [null, adapter], engines, runtime, played, signal, {
      ...journal,
      onProgress: createProgress('rollouts'),
    })
    const measured = { reward: runtime.reward.name, temperature, callsReference: meanCalls(tasks), tooLong, backend }
    const understood = simulator ? { understood: { by: simulator.name, ...understoodIn([...before!, ...after!]) } } : {}
    const comparison = { ...comparePolicies(before!, after!), ...measured, ...understood }
    if (simulator) say(userSimulatorSummary(simulator, options.userSimulatorPrice))
    process.stdout.write(`${options.json ? JSON.stringify(comparison) : table(comparison)}\n`)
  } finally {
    await opened.close()
  }
}

const played = z.strictObject({
  reward: z.number(),
  rewards: z.record(z.string(), z.number()),
  solved: z.number(),
  calls: z.number(),
  understood: z.array(understoodSchema).exactOptional(),
})
const playedTogether = z.strictObject({ policy: z.int().min(0).max(1), from: z.int().min(0), played: z.array(played) })

interface EvaluatedWork {
  readonly modelPath: string
  readonly adapter: AdapterFile
  readonly cacheType: CacheType
  readonly backend: string
  readonly tasks: readonly Task[]
  readonly settings: EvaluationSettings
  readonly simulator: UserSimulator | undefined
}

/** Opens the journal of results; without `--results`, one that stores nothing. @throws JournalError */
async function openResults(
  { results, toolCallFormat, reward }: EvalOptions,
  { modelPath, adapter, cacheType, backend, tasks, settings, simulator }: EvaluatedWork,
): Promise<Journal<PlayedTogether>> {
  if (results === undefined) return { earlier: [], add: async () => undefined }
  const taskIds = createHash('sha256')
    .update(tasks.map(({ id }) => id).join())
    .digest('hex')
  const [baseSha256, adapterSha256] = [await hashFile(modelPath), adapter.sha256]
  return openJournal(
    resolve(results),
    {
      schema: 5,
      baseSha256,
      adapterSha256,
      toolCallFormat,
      reward,
      cacheType,
      backend,
      settings,
      taskIds,
      ...(simulator ? { user: simulator.name } : {}),
    },
    playedTogether,
  )
}

const meanCalls = (tasks: readonly Task[]): number =>
  tasks.reduce((sum, { groundTruth }) => sum + groundTruth.length, 0) / tasks.length

function adapterFile(path: string): AdapterFile {
  return { path: resolve(path), sha256: createHash('sha256').update(readFileSync(path)).digest('hex') }
}

/** Decisions of the user simulator, for both policies. */
interface UnderstoodCounts {
  /** Number of messages with a due question. */
  readonly messages: number
  /** Number of messages that ask for the missing value. */
  readonly asked: number
  /** Number of messages that the embedded rules decided. */
  readonly byRules: number
}

function understoodIn(results: readonly TaskResult[]): UnderstoodCounts {
  const understood = results.flatMap((result) => result.understood ?? [])
  const count = (fits: (one: UnderstoodMessage) => boolean): number => understood.filter(fits).length
  return {
    messages: understood.length,
    asked: count(({ asked }) => asked),
    byRules: count(({ problems }) => problems !== undefined),
  }
}

interface Evaluated extends Comparison {
  readonly temperature: number
  readonly callsReference: number
  readonly tooLong: number
  /** Backends of the engines with their builds. The same seeds sample other tokens on another backend. */
  readonly backend: string
  readonly understood?: UnderstoodCounts & { readonly by: string }
}

function table(comparison: Evaluated): string {
  const { understood } = comparison
  // Equal results show no spread. An error of 0 would claim that there is none.
  const number = ({ mean, stderr }: Estimate): string =>
    `${mean.toFixed(3)} ${areAlike({ stderr }) ? `(equal for all ${comparison.n} tasks)` : `± ${stderr.toFixed(3)}`}`
  return [
    `${comparison.n} held-out tasks, temperature ${comparison.temperature}, ${comparison.backend} (± standard error over tasks)`,
    ...Object.entries(comparison.rewards).map(
      ([name, { before, after, diff }]) =>
        `reward ${name.padEnd(7)} before ${number(before)}   after ${number(after)}   paired difference ${number(diff)}`,
    ),
    `solved exactly before ${number(comparison.solvedBefore)}   after ${number(comparison.solvedAfter)}   paired difference ${number(comparison.solvedDiff)}`,
    ...(comparison.tooLong > 0
      ? [`${comparison.tooLong} more tasks were omitted: their prompts leave no capacity for an answer`]
      : []),
    `calls per rollout before ${comparison.callsBefore.toFixed(2)}   after ${comparison.callsAfter.toFixed(2)}   (reference solution ${comparison.callsReference.toFixed(2)})`,
    ...(understood
      ? [
          `user simulator ${understood.by}: ${understood.asked} of ${understood.messages} messages have the due question; embedded rules decided ${understood.byRules}`,
        ]
      : []),
  ].join('\n')
}
