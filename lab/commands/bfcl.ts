import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { type Command, Option } from 'commander'
import writeFileAtomic from 'write-file-atomic'
import { integerOption } from '../../common/cli/index.js'
import { BFCL, CATEGORIES } from '../bfcl/bfcl-eval.js'
import { renderBfcl } from '../bfcl/report.js'
import { type BfclOptions, defaultEnvironment, runBfcl } from '../bfcl/run-bfcl.js'
import { toolCallFormatOption } from '../options.js'
import { resumable } from '../resumable.js'

const DEFAULT_CATEGORIES = ['simple_python', 'multiple', 'irrelevance', 'multi_turn_base']

interface CommandOptions extends Omit<BfclOptions, 'adapter' | 'environment'> {
  readonly venv: string
  readonly adapter?: readonly string[]
  readonly json: boolean
}

/** Adds `prove-lab bfcl`: the Berkeley Function-Calling Leaderboard before and after training. */
export function addBfclCommand(program: Command): void {
  const category = new Option('--category <name...>', 'categories of BFCL').choices(CATEGORIES)
  const threads = Math.min(8, availableParallelism())
  program
    .command('bfcl')
    .description(
      `Measure a base model and its adapters with the Berkeley Function-Calling Leaderboard (${BFCL.package} ${BFCL.version})`,
    )
    .requiredOption('--model <gguf>', 'base model')
    .option('--adapter <gguf...>', 'LoRA adapters over the base model, each compared with the base model')
    .option('--no-base', 'omit the base model without an adapter')
    .addOption(category.default(DEFAULT_CATEGORIES, DEFAULT_CATEGORIES.join(', ')))
    .option('--cases <number>', 'cases of each category, chosen by --seed; default: all', integerOption(1, 100_000))
    .option('--seed <number>', 'seed of random choices, of the cases', integerOption(0, 0xffffffff), 0)
    .option(
      '--context <tokens>',
      'longest rollout or conversation, prompt included',
      integerOption(256, 1_048_576),
      8192,
    )
    .option('--max-tokens <number>', 'longest answer', integerOption(1, 1_048_576), 512)
    .addOption(toolCallFormatOption())
    .option('--threads <number>', 'CPU threads of each engine', integerOption(1, 512), threads)
    .option('--cpu', 'do not use a GPU', false)
    .option('--case-minutes <number>', 'longest time without a finished case', integerOption(1, 10_000), 60)
    .option(
      '--out <folder>',
      'where to write the result, a folder for answers, scores and summary.json; the same command resumes from it',
      'bfcl',
    )
    .option('--python <command>', 'Python to use, 3.11 or 3.12; default: the first that is found')
    .addOption(
      new Option('--venv <folder>', 'virtual environment for the Python packages').default(
        defaultEnvironment,
        'in the cache folder',
      ),
    )
    .option('--json', 'print JSON on stdout', false)
    .action(measure)
}

function measure({ json, adapter = [], model, out: folder, venv, ...options }: CommandOptions): Promise<void> {
  const out = resolve(folder)
  return resumable(async (signal) => {
    const summary = await runBfcl(
      {
        ...{ ...options, out, model: resolve(model), adapter: adapter.map((path) => resolve(path)) },
        environment: resolve(venv),
      },
      signal,
    )
    await writeFileAtomic(join(out, 'summary.json'), `${JSON.stringify(summary, null, 2)}\n`)
    return json ? JSON.stringify(summary) : renderBfcl(summary)
  })
}
