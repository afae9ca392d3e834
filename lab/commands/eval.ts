import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { z } from 'zod'
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
  createStage,
  type Estimate,
  type EvaluationSettings,
  evaluatePolicies,
  type Heard,
  heardSchema,
  type PlayedTogether,
  rulesNamed,
  type Task,
  type TaskResult,
} from '../../rollout/episode/index.js'
import { withWorldFolders } from '../../servers/environment-option.js'
import {
  saidUser,
  type UserOptions,
  userModelFor,
  withUserOptions,
} from '../../servers/episodes/user-simulator/options.js'
import type { UserModel } from '../../servers/episodes/user-simulator/user-simulator.js'
import { type Comparison, comparePolicies } from '../compare-policies.js'
import { cacheTypeFor, fittingTasks, type LimitOptions, limitsOf } from '../fitting-tasks.js'
import { type Journal, openJournal } from '../journal.js'
import { cacheTypeOption, dialectOption, numberOption, rewardOption, withLimitOptions } from '../options.js'
import { createProgress } from '../progress.js'

interface EvalOptions extends LimitOptions, UserOptions {
  model: string
  adapter: string
  tasks: number
  samples: number
  seed: number
  temperature: number
  dataset: string
  lanes: number
  threads: number
  workers: number
  dialect: string
  reward: string
  cacheType?: CacheType
  results?: string
  json: boolean
}

/** Worlds answer in this process, so no lane stays away; one left behind on a busy machine would change the numbers. */
const LANE_WAIT_MS = 60_000

/** Lanes of users that are asked something stay away until a model has heard it: at a file, 32 of them one after another with two requests of 30 s each take half an hour. */
const HEARD_LANE_WAIT_MS = 60 * 60_000

export function addEvalCommand(program: Command): void {
  const limited = withLimitOptions(program.command('eval'), 'a run.yaml, for the limits and the cache of its rollouts')
  withUserOptions(withWorldFolders(limited))
    .description('Compare a base model with and without an adapter on held-out tasks')
    .requiredOption('--model <gguf>', 'base model')
    .requiredOption('--adapter <gguf>', 'LoRA adapter')
    .option('--tasks <number>', 'held-out tasks', integerOption(2, 100_000), 200)
    .option('--samples <number>', 'rollouts per task', integerOption(1, 64), 1)
    .option('--seed <number>', 'seed of the sampler', integerOption(0, 0xffffffff), 0)
    .option(
      '--temperature <number>',
      'of the sampler; 0: always the likeliest token',
      numberOption(0, MAX_TEMPERATURE),
      1,
    )
    .requiredOption('--dataset <folder>', 'data set whose held-out tasks are used')
    .option('--lanes <number>', 'rollouts generated in parallel', integerOption(1, 256), 32)
    .option('--threads <number>', 'CPU threads of each engine', integerOption(1, 256), 1)
    .option('--workers <number>', 'engines that share the work, each with the model in memory', integerOption(1, 64), 2)
    .addOption(dialectOption())
    .addOption(rewardOption())
    .addOption(cacheTypeOption())
    .option('--results <file>', 'keeps results as they come: the same command goes on from there after a stop')
    .option('--json', 'print one JSON object', false)
    .action(evaluate)
}

async function evaluate(options: EvalOptions, command: Command): Promise<void> {
  if (options.temperature === 0 && options.samples > 1)
    command.error('At --temperature 0 every sample of a task is the same: leave --samples out.')
  const { servers, tasks: drawn } = await readTaskSet(resolve(options.dataset), 'held-out', options.tasks)
  const limits = limitsOf(options)
  const cacheType = cacheTypeFor(options)
  const modelPath = resolve(options.model)
  const adapter = adapterFile(options.adapter)
  const tokenizer = await openTokenizer(modelPath)
  const stage = createStage(servers, tokenizer, rulesNamed(options))
  const { lanes, threads, workers } = options
  const { samples: samplesPerTask, seed, temperature } = options
  const settings = { samplesPerTask, lanes, seed, temperature, limits }
  const contextSize = limits.maxRolloutTokens
  const engine = { modelPath, threads, contextSize, lanes, gpu: 'auto', cacheType } as const
  const engines: EngineProcess[] = []
  const { signal } = new AbortController()
  const say = (line: string): void => void process.stderr.write(`${line}\n`)
  let listener: UserModel | undefined
  try {
    listener = await userModelFor(options, say, signal)
    const { tasks, tooLong } = fittingTasks(drawn, stage, limits)
    const laneWaitMs = listener ? HEARD_LANE_WAIT_MS : LANE_WAIT_MS
    for (let i = 0; i < workers; i++) engines.push(await openEngine(engine, { laneWaitMs }))
    const backend = [...new Set(engines.map(({ build }) => calibratedName(build)))].join(' and ')
    const journal = await recordOf(options, { modelPath, adapter, cacheType, backend, tasks, settings, listener })
    const played = { ...settings, ...(listener ? { listener } : {}) }
    const [before, after] = await evaluatePolicies(tasks, [null, adapter], engines, stage, played, signal, {
      ...journal,
      onProgress: createProgress('rollouts'),
    })
    const measured = { reward: stage.reward.name, temperature, callsTeacher: meanCalls(tasks), tooLong, backend }
    const heard = listener ? { heard: { by: listener.name, ...heardIn([...before!, ...after!]) } } : {}
    const comparison = { ...comparePolicies(before!, after!), ...measured, ...heard }
    if (listener) say(saidUser(listener, options.userPrice))
    process.stdout.write(`${options.json ? JSON.stringify(comparison) : table(comparison)}\n`)
  } finally {
    await Promise.all([...engines.map((one) => one.close()), listener?.close()])
    await tokenizer.close()
  }
}

const played = z.strictObject({
  reward: z.number(),
  rewards: z.record(z.string(), z.number()),
  solved: z.number(),
  calls: z.number(),
  heard: z.array(heardSchema).exactOptional(),
})
const playedTogether = z.strictObject({ policy: z.int().min(0).max(1), from: z.int().min(0), played: z.array(played) })

interface EvaluatedWork {
  readonly modelPath: string
  readonly adapter: AdapterFile
  readonly cacheType: CacheType
  readonly backend: string
  readonly tasks: readonly Task[]
  readonly settings: EvaluationSettings
  readonly listener: UserModel | undefined
}

/** @throws JournalError */
async function recordOf(
  { results, dialect, reward }: EvalOptions,
  { modelPath, adapter, cacheType, backend, tasks, settings, listener }: EvaluatedWork,
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
      dialect,
      reward,
      cacheType,
      backend,
      settings,
      taskIds,
      ...(listener ? { user: listener.name } : {}),
    },
    playedTogether,
  )
}

const meanCalls = (tasks: readonly Task[]): number =>
  tasks.reduce((sum, { groundTruth }) => sum + groundTruth.length, 0) / tasks.length

function adapterFile(path: string): AdapterFile {
  return { path: resolve(path), sha256: createHash('sha256').update(readFileSync(path)).digest('hex') }
}

/** Messages that had to ask for something, under both policies. */
interface HeardCounts {
  readonly messages: number
  /** Those that were heard to ask for it. */
  readonly asked: number
  /** Those that the rules heard in the model's place. */
  readonly byRules: number
}

function heardIn(results: readonly TaskResult[]): HeardCounts {
  const heard = results.flatMap((result) => result.heard ?? [])
  const count = (fits: (one: Heard) => boolean): number => heard.filter(fits).length
  return {
    messages: heard.length,
    asked: count(({ asked }) => asked),
    byRules: count(({ problems }) => problems !== undefined),
  }
}

interface Evaluated extends Comparison {
  readonly temperature: number
  readonly callsTeacher: number
  readonly tooLong: number
  /** Of the engines, each with its build: the same seeds sample other tokens under another one. */
  readonly backend: string
  readonly heard?: HeardCounts & { readonly by: string }
}

function table(comparison: Evaluated): string {
  const { heard } = comparison
  // No spread was seen, which is not the same as none: an error of 0 would say that.
  const number = ({ mean, stderr }: Estimate): string =>
    `${mean.toFixed(3)} ${areAlike({ stderr }) ? `(all ${comparison.n} tasks alike)` : `± ${stderr.toFixed(3)}`}`
  return [
    `${comparison.n} held-out tasks, temperature ${comparison.temperature}, ${comparison.backend} (± standard error over tasks)`,
    ...Object.entries(comparison.rewards).map(
      ([name, { before, after, diff }]) =>
        `reward ${name.padEnd(7)} before ${number(before)}   after ${number(after)}   paired difference ${number(diff)}`,
    ),
    `solved exactly before ${number(comparison.solvedBefore)}   after ${number(comparison.solvedAfter)}   paired difference ${number(comparison.solvedDiff)}`,
    ...(comparison.tooLong > 0
      ? [`${comparison.tooLong} more were left out: their prompts leave no room for an answer`]
      : []),
    `calls per rollout before ${comparison.callsBefore.toFixed(2)}   after ${comparison.callsAfter.toFixed(2)}   (the teacher makes ${comparison.callsTeacher.toFixed(2)})`,
    ...(heard
      ? [
          `users with the ears of ${heard.by}: ${heard.asked} of ${heard.messages} messages asked what was due; the rules heard ${heard.byRules} of them in its place`,
        ]
      : []),
  ].join('\n')
}
