import { relative, resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { configOption, integerOption, interruptible, RUN_FILE } from '../../common/cli/index.js'
import { PRIVATE_UMASK } from '../../common/control/index.js'
import { defaultPython, trainerFolder } from '../jobs/python.js'
import { readConfig } from '../settings/config.js'
import type { DemonstratedEnvironment } from '../warm-start/choose-tasks.js'
import { adoptStart, type WarmStartOptions, warmStart } from '../warm-start/warm-start.js'
import { createWarmStartLines } from './warm-start-lines.js'

interface WarmStartCommandOptions {
  readonly config: string
  readonly dataset?: string
  readonly environments?: readonly DemonstratedEnvironment[]
  readonly count: number
  readonly steps?: number
  readonly tokensPerStep: number
  readonly lr: number
  readonly out?: string
  readonly reuse?: string
  readonly full?: string
  readonly json: boolean
}

export function addWarmStartCommand(program: Command): void {
  program
    .command('warm-start')
    .description('Train version 0 of a run on reference solutions, before its start')
    .addOption(configOption())
    .option('--dataset <folder>', "data set, whose training tasks are demonstrated; default: the run's")
    .option(
      '--environments <names>',
      'environments by name, each with an optional largest number of demonstrations, such as banking,crm=20; default: all of the data set',
      environments,
    )
    .option('--count <number>', 'number of demonstrations, at most', integerOption(1, 1_000_000), 4000)
    .option(
      '--steps <number>',
      'optimizer steps; default: one pass over the demonstrations',
      integerOption(1, 1_000_000),
    )
    .option('--tokens-per-step <number>', 'tokens of the demonstrations of a step', integerOption(1, 2 ** 22), 3072)
    .option('--lr <number>', 'learning rate, at its highest: it rises at first, then falls linearly', rate, 1e-3)
    .option('--out <folder>', 'where to write the result, for --reuse of other runs over the same base')
    .addOption(
      new Option('--reuse <folder>', 'take a result that --out has saved, instead of training').conflicts([
        ...['dataset', 'environments', 'count', 'steps', 'tokensPerStep', 'lr', 'out', 'full'],
      ]),
    )
    .addOption(
      new Option(
        '--full <gguf>',
        'train the matrices of the base itself, and write them as a new base for another run, which volunteers have to fetch',
      ).conflicts(['out']),
    )
    .option('--json', 'print JSON on stdout, one object per line', false)
    .action(run)
}

function environments(text: string): DemonstratedEnvironment[] {
  return text.split(',').map((part) => {
    const [name = '', most] = part.split('=')
    if (!/^[a-z][a-z0-9_]*$/.test(name) || (most !== undefined && !/^[1-9]\d{0,6}$/.test(most)))
      throw new InvalidArgumentError(
        `"${part}" is not an environment with an optional number, such as banking or crm=20.`,
      )
    return { name, most: most === undefined ? Number.POSITIVE_INFINITY : Number(most) }
  })
}

function rate(text: string): number {
  const value = Number(text)
  if (!(value > 0 && value <= 10)) throw new InvalidArgumentError('Give a number above 0, at most 10.')
  return value
}

async function run(options: WarmStartCommandOptions): Promise<void> {
  const config = readConfig(options.config)
  process.umask(PRIVATE_UMASK)
  const lines = createWarmStartLines()
  await interruptible('run the same command again to resume', async (signal) => {
    const { environments, count, steps, tokensPerStep, lr } = options
    const dataset = options.dataset === undefined ? undefined : resolve(options.dataset)
    const whole: WarmStartOptions = {
      ...{ config, python: defaultPython(), trainerFolder },
      out: options.out === undefined ? undefined : resolve(options.out),
      merged: options.full === undefined ? undefined : resolve(options.full),
      onProgress(progress) {
        const line = options.json ? JSON.stringify(progress) : lines(progress)
        if (line !== null) process.stdout.write(`${line}\n`)
      },
    }
    if (options.reuse !== undefined) await adoptStart(whole, resolve(options.reuse), signal)
    else await warmStart(whole, { dataset, environments, count, steps, tokensPerStep, lr }, signal)
    if (!options.json) process.stdout.write(`${nextStep(options)}\n`)
  })
}

function nextStep({ config, full }: WarmStartCommandOptions): string {
  if (full !== undefined)
    return `${full} is written, with a record of its training in ${full}.json. Name it as base.path in the run.yaml of a new run.`
  const named = config === RUN_FILE ? '' : ` --config ${relative(process.cwd(), resolve(config))}`
  return `Version 0 is ready. prove-coordinator start${named} publishes it.`
}
