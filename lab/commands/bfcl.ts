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

interface CommandOptions extends Omit<BfclOptions, 'adapter'> {
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
      `Measure a base model and its adapters with the Berkeley Function-Calling Leaderboard (${BFCL.package} ${BFCL.version}), which asks "prove-node serve" on this machine. The first run installs the package; after that no network is needed. BFCL executes the calls of multi-turn cases with Python's eval: measure only adapters that you trust.`,
    )
    .requiredOption('--model <gguf>', 'base model')
    .option('--adapter <gguf...>', 'LoRA adapters over the base model; each is compared with the base model')
    .option('--no-base', 'do not measure the base model without an adapter')
    .addOption(category.default(DEFAULT_CATEGORIES, DEFAULT_CATEGORIES.join(', ')))
    .option('--cases <number>', 'cases of each category, chosen by --seed; default: all', integerOption(1, 100_000))
    .option('--seed <number>', 'seed of the choice of cases', integerOption(0, 0xffffffff), 0)
    .option('--context <tokens>', 'longest conversation', integerOption(256, 1_048_576), 8192)
    .option('--max-tokens <number>', 'longest answer, in tokens', integerOption(1, 1_048_576), 512)
    .addOption(toolCallFormatOption())
    .option('--threads <number>', 'CPU threads for inference', integerOption(1, 512), threads)
    .option('--cpu', 'do not use a GPU', false)
    .option('--case-minutes <number>', 'longest time without a finished case', integerOption(1, 10_000), 60)
    .option(
      '--out <folder>',
      'folder for answers, scores and summary.json; the same command resumes from it after a stop, and asks only for missing answers',
      'bfcl',
    )
    .option('--python <command>', 'Python 3.11 or 3.12 for the environment of BFCL; default: the first that is found')
    .addOption(
      new Option('--environment <folder>', 'folder of the Python environment of BFCL').default(
        defaultEnvironment,
        'in the cache folder',
      ),
    )
    .option('--json', 'print one JSON object', false)
    .action(measure)
}

function measure({ json, adapter = [], model, out: folder, environment, ...options }: CommandOptions): Promise<void> {
  const out = resolve(folder)
  return resumable(async (signal) => {
    const summary = await runBfcl(
      {
        ...{ ...options, out, model: resolve(model), adapter: adapter.map((path) => resolve(path)) },
        environment: resolve(environment),
      },
      signal,
    )
    await writeFileAtomic(join(out, 'summary.json'), `${JSON.stringify(summary, null, 2)}\n`)
    return json ? JSON.stringify(summary) : renderBfcl(summary)
  })
}
