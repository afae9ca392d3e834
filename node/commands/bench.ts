import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { integerOption, stopSignal } from '../../common/cli/index.js'
import { countOf } from '../../common/errors/index.js'
import { LIMITS } from '../../proto/index.js'
import { residentBytes } from '../../rollout/engine/index.js'
import { readBaseModel } from '../base/find-base.js'
import { modelFolder, openModelCache } from '../base/model-cache.js'
import { withEngine } from '../doctor/examination.js'
import { changed, readLimits } from '../limits/limits-file.js'
import { DEFAULTS, type LimitSettings } from '../limits/settings.js'
import { NodeError } from '../report/errors.js'
import { inBytes } from '../report/in-bytes.js'
import { contextFor, groupSeconds, measureSpeed } from '../work/engine-speed.js'
import { dataFolder, demoModel } from './defaults.js'
import { addLimitOptions, givenLimits } from './limit-options.js'

interface BenchOptions {
  readonly dataDir: string
  readonly model?: string
  readonly groupSize: number
  readonly prompt: number
  readonly tokens: number
  readonly json: boolean
}

/** Adds `prove-node bench`: the speed of this machine. */
export function addBenchCommand(program: Command): void {
  const bench = program
    .command('bench')
    .description('Measure how fast this machine generates rollouts, within its limits')
    .option('--data-dir <folder>', 'data folder of the program', dataFolder)
    .option('--model <gguf>', 'base model; default: the fetched one that was used last')
    .option('--group-size <number>', 'rollouts per group', integerOption(1, LIMITS.maxGroupSize.value), 8)
    .option('--prompt <tokens>', 'length of the prompt', integerOption(1, LIMITS.rolloutTokens.value), 1000)
    .option('--tokens <tokens>', 'tokens that each rollout samples', integerOption(1, LIMITS.turnTokens.value), 128)
    .option('--json', 'print JSON on stdout', false)
  addLimitOptions(bench).action(runBench)
}

async function runBench(options: BenchOptions & LimitSettings & { cpu: boolean }): Promise<void> {
  const { dataDir, json } = options
  const { signal } = stopSignal()
  const limits = changed(changed(DEFAULTS, await readLimits(dataDir)), givenLimits(options))
  const trial = { slots: options.groupSize, promptTokens: options.prompt, sampledTokens: options.tokens }
  const model = await modelOf(options, signal)
  try {
    const measured = await withEngine(
      { modelPath: model.path, contextSize: contextFor(trial), slots: trial.slots },
      limits,
      async (parts) => {
        // The first tokens wait for the system to read the file.
        await measureSpeed(parts, { ...trial, promptTokens: 1, sampledTokens: 1 }, signal)
        const speed = await measureSpeed(parts, trial, signal)
        return { ...speed, memoryBytes: await residentBytes(parts.engine.pid!), backend: parts.engine.build.backend }
      },
    )
    const seconds = groupSeconds(measured, trial)
    const report = { model: model.name, ...trial, ...measured, groupSeconds: seconds, groupsPerHour: 3600 / seconds }
    process.stdout.write(json ? `${JSON.stringify(report)}\n` : text(report, limits))
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  }
}

/** @throws NodeError `no_model`, `wrong_base` */
async function modelOf(
  { dataDir, model }: BenchOptions,
  signal: AbortSignal,
): Promise<{ readonly path: string; readonly name: string }> {
  if (model !== undefined) return { path: (await readBaseModel(model, signal)).path, name: model }
  if (existsSync(modelFolder(dataDir))) {
    const cache = await openModelCache(dataDir)
    const last = (await cache.list()).find(({ whole }) => whole)
    if (last) return { path: cache.store.path(last.sha256), name: last.name }
  }
  throw new NodeError(
    'no_model',
    `${modelFolder(dataDir)} contains no base model: join a run to fetch one, or give a GGUF file with --model (for example ${demoModel})`,
  )
}

interface BenchReport {
  readonly model: string
  readonly slots: number
  readonly promptTokens: number
  readonly sampledTokens: number
  readonly promptPerSecond: number
  readonly sampledPerSecond: number
  readonly memoryBytes: number
  readonly backend: string
  readonly groupSeconds: number
  readonly groupsPerHour: number
}

const text = (report: BenchReport, { threads }: LimitSettings): string =>
  [
    `model     ${report.model}`,
    `engine    ${report.backend}, ${countOf(threads ?? DEFAULTS.threads, 'CPU thread')}`,
    `group     ${report.slots} rollouts, ${report.promptTokens} prompt tokens, ${report.sampledTokens} sampled in each`,
    `prompt    ${report.promptPerSecond.toFixed(0)} tokens/s`,
    `sampling  ${report.sampledPerSecond.toFixed(1)} tokens/s in all rollouts together`,
    `memory    ${inBytes(report.memoryBytes)} in the engine's process`,
    `groups    ${report.groupsPerHour.toFixed(1)} an hour, ${report.groupSeconds.toFixed(1)} s each, without tool calls and network`,
    '',
  ].join('\n')
