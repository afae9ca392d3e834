import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import writeFileAtomic from 'write-file-atomic'
import { integerOption } from '../../common/cli/index.js'
import { CodedError } from '../../common/errors/index.js'
import { offerAdapter } from '../../coordinator/jobs/audit-folder.js'
import { createAuditProcess } from '../../coordinator/jobs/audit-process.js'
import { defaultPython, trainerFolder } from '../../coordinator/jobs/python.js'
import { referenceScores } from '../../coordinator/jobs/reference-scores.js'
import { readTaskSet } from '../../coordinator/settings/task-set.js'
import { canaryPrompts } from '../../coordinator/versions/canary.js'
import {
  type AdapterFile,
  type CacheType,
  DRAW,
  type EngineProcess,
  hashFile,
  openEngine,
  openTokenizer,
} from '../../rollout/engine/index.js'
import { createEpisodeRuntime, DEFAULT_RULES, rulesNamed } from '../../rollout/episode/index.js'
import { type Calibration, sumLimit } from '../../rollout/verification/thresholds.js'
import { withEnvironmentFolders } from '../../servers/environment-option.js'
import { createStderrLogger } from '../../swarm/index.js'
import { calibrate } from '../calibrate.js'
import { calibratedRun } from '../calibrated-run.js'
import { fittingTasks, type LimitOptions, limitsOf } from '../fitting-tasks.js'
import { cacheTypeOption, toolCallFormatOption, withLimitOptions } from '../options.js'
import { createProgress } from '../progress.js'
import { resumable } from '../resumable.js'

interface CalibrateOptions extends LimitOptions {
  model?: string
  adapter: readonly string[]
  quantisation?: string
  toolCallFormat?: string
  dataset?: string
  groups: number
  groupSize?: number
  cacheType?: CacheType
  seed: number
  workers: number
  threads: number
  out: string
}

/** The engines of this machine have different backends. */
class SeveralBackends extends CodedError<'several_backends'> {}

/** Largest acceptable share of falsely rejected honest groups, and the confidence of the reported interval. */
const GOAL = 0.005
const CONFIDENCE = 0.95
const AUDIT_TIMEOUT_MS = 10 * 60_000
const MAX_FAILURES = 3
/** Most tasks of a calibration. Groups reuse tasks when there are fewer. The limit does not depend on --groups, so a later run can add groups. */
const MAX_TASKS = 2000
/** Canaries that are measured under each policy; a publication has three. */
const CANARIES = 32

export function addCalibrateCommand(program: Command): void {
  withEnvironmentFolders(withLimitOptions(program.command('calibrate'), 'gives the settings to calibrate for'))
    .description('Measure the deviations of honest work, and write the thresholds for audits')
    .option('--model <gguf>', "base model, as volunteers run it; default: the run's")
    .option(
      '--adapter <gguf...>',
      'LoRA adapters over the base model, to alternate with it, such as versions of an earlier run',
      [],
    )
    .option('--quantisation <name>', "quantisation of the model, recorded in the result; default: the run's, or f16")
    .addOption(toolCallFormatOption("the run's, or hermes"))
    .option('--dataset <folder>', "data set, with the training tasks; default: the run's")
    .option('--groups <number>', 'number of honest groups', integerOption(2, 100_000), 800)
    .option('--group-size <number>', "rollouts per group; default: the run's, or 8", integerOption(2, 64))
    .addOption(cacheTypeOption())
    .option('--seed <number>', 'seed of random choices, of all groups', integerOption(0, 0xffffffff), 0)
    .option(
      '--workers <number>',
      'workers that share the work, each an engine with the model in memory',
      integerOption(1, 64),
      1,
    )
    .option('--threads <number>', 'CPU threads of each engine', integerOption(1, 256), 1)
    .requiredOption(
      '--out <file>',
      'where to write the result, such as calibration.json; the same command resumes from <file>.groups.jsonl',
    )
    .action(run)
}

const run = (options: CalibrateOptions): Promise<void> =>
  resumable(async (signal) => {
    const calibration = await calibrateModel(options, signal)
    await writeFileAtomic(resolve(options.out), `${JSON.stringify(calibration, null, 2)}\n`)
    return summary(calibration)
  })

async function calibrateModel(options: CalibrateOptions, signal: AbortSignal): Promise<Calibration> {
  const own = calibratedRun(options)
  const { modelPath } = own
  const out = resolve(options.out)
  const jobs = `${out}.jobs`
  const baseSha256 = await hashFile(modelPath)
  const { tasks: drawn, environments } = await readTaskSet(own.dataset, 'train', MAX_TASKS)
  await mkdir(jobs, { recursive: true })
  const adapters: AdapterFile[] = []
  for (const file of options.adapter) {
    const sha256 = await offerAdapter(jobs, await readFile(resolve(file)))
    // Audits read this copy too, whose name is the hash of its content.
    adapters.push({ path: join(jobs, 'adapters', `${sha256}.gguf`), sha256 })
  }
  const config = join(jobs, 'trainer.json')
  await writeFile(config, JSON.stringify({ schema: 1, baseSha256, ...own.auditing }))

  const limits = limitsOf(options)
  const tokenizer = await openTokenizer(modelPath)
  const logger = createStderrLogger('warn')
  const python = own.python ?? defaultPython()
  const auditor = createAuditProcess(
    {
      python,
      packageFolder: trainerFolder,
      jobs,
      base: modelPath,
      config,
      processes: own.processes,
      maxFailures: MAX_FAILURES,
      timeoutMs: AUDIT_TIMEOUT_MS,
    },
    logger,
  )
  try {
    // The reward does not affect a calibration.
    const rules = rulesNamed({ toolCallFormat: own.toolCallFormat, reward: DEFAULT_RULES.reward })
    const runtime = createEpisodeRuntime(environments, tokenizer, rules)
    const { tasks, tooLong } = fittingTasks(drawn, runtime, limits)
    if (tooLong > 0)
      process.stderr.write(
        `${tooLong} of ${drawn.length} tasks are omitted: their prompts leave no capacity for an answer\n`,
      )
    const { threads, workers } = options
    const { groupSize } = own
    const sampled = createProgress('groups sampled')
    const audited = createProgress('groups')
    let isFirst = true
    const machine = { modelPath, threads, contextSize: limits.maxRolloutTokens, slots: groupSize } as const
    const engines: EngineProcess[] = []
    try {
      for (let i = 0; i < workers; i++)
        engines.push(await openEngine({ ...machine, gpu: 'auto', cacheType: own.cacheType }))
      const build = buildOf(engines)
      const calibration = await calibrate(
        {
          subject: {
            baseSha256,
            adapters: adapters.map(({ sha256 }) => sha256),
            quantisation: own.quantisation,
            backend: build.backend,
            draw: DRAW,
            nodeLlamaCpp: build.nodeLlamaCpp,
          },
          adapters,
          engines,
          runtime,
          auditing: own.auditing,
          service: { process: auditor, jobs, baseSha256, reader: runtime, limits },
          tasks,
          canaries: {
            canaries: canaryPrompts(tasks, runtime, limits, CANARIES),
            reference: (canaries, until) =>
              referenceScores(
                {
                  ...{ python, packageFolder: trainerFolder, base: modelPath, baseSha256, canaries },
                  adapters: adapters.map(({ path }) => path),
                  threads: options.threads * options.workers,
                },
                until,
              ),
          },
          onCanary: createProgress('canaries'),
          journal: `${out}.groups.jsonl`,
          // Reports sampled groups until the first audit ends, which can take hours.
          onSampled: (done, wanted) => {
            if (isFirst) sampled(done, wanted)
          },
          onProgress(done, wanted) {
            if (done > 0) isFirst = false
            audited(done, wanted)
          },
        },
        {
          groups: options.groups,
          groupSize,
          seed: options.seed,
          goal: GOAL,
          confidence: CONFIDENCE,
        },
        signal,
      )
      await auditor.close()
      await rm(jobs, { recursive: true, force: true })
      return calibration
    } finally {
      await Promise.all(engines.map((engine) => engine.close()))
    }
  } finally {
    await auditor.close()
    await tokenizer.close()
  }
}

/** Returns the common build of all engines. @throws SeveralBackends */
function buildOf(engines: readonly EngineProcess[]): EngineProcess['build'] {
  const names = new Set(engines.map(({ build }) => build.backend))
  if (names.size > 1)
    throw new SeveralBackends(
      'several_backends',
      `the engines have the backends ${[...names].join(' and ')}, and a calibration needs a single one: lower --workers`,
    )
  return engines[0]!.build
}

function summary({ groups, sampledTokens, thresholds, canary, honest, falseRefusals }: Calibration): string {
  const { measured, goal, confidence } = falseRefusals
  const { all, level } = thresholds
  const usual = honest.sensitivity!['0.5']!
  const limit = sumLimit(all.deviation, usual, all.farClaim, level) / usual
  const percent = (value: number): string => `${(100 * value).toFixed(2)} %`
  return [
    `${groups} honest groups, ${sampledTokens} sampled tokens`,
    `largest mean deviation ${honest['mean deviation, nats']!.max!.toPrecision(2)} nats; limit for a group of median length ${limit.toPrecision(2)}`,
    `largest logit error ${honest['largest logit error, nats']!.max!.toPrecision(2)} nats; misses per group: median ${honest.misses!['0.5']}, maximum ${honest.misses!.max}`,
    canary === null
      ? 'no task fits a canary, so nodes have the usual wide tolerance'
      : `${canary.canaries} canaries under ${canary.policies} policies: at most ${canary.worstMean.toPrecision(2)} nats off on average, ${canary.worstToken.toPrecision(2)} for a token`,
    `false rejections: ${measured.count} of ${measured.of} = ${percent(measured.share)}, ${100 * confidence} % interval ${percent(measured.low)} to ${percent(measured.high)}; goal ${percent(goal)}`,
  ].join('\n')
}
