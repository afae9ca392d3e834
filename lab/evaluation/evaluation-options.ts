import { type Command, Option } from 'commander'
import { integerOption } from '../../common/cli/index.js'
import { type CacheType, MAX_TEMPERATURE } from '../../rollout/engine/index.js'
import { environmentsNamed } from '../../servers/catalogue.js'
import { environmentsOption } from '../../servers/environment-option.js'
import { type UserOptions, withUserOptions } from '../../servers/episodes/user-simulator/options.js'
import { SPLITS } from '../../tasks/dataset/index.js'
import type { LimitOptions } from '../fitting-tasks.js'
import { cacheTypeOption, numberOption, toolCallFormatOption, withLimitOptions } from '../options.js'
import type { PolicyOptions } from './policy-specs.js'

/** Options of `prove-lab eval` and `prove-lab profile`. */
export interface EvaluationOptions extends PolicyOptions, LimitOptions, UserOptions {
  readonly dataset: string
  readonly split: string
  /** Names of environments, and folders of own ones. Empty: all. */
  readonly environments: readonly string[]
  /** Names of `environments`, once their folders are loaded. */
  readonly chosenEnvironments?: readonly string[]
  readonly tasks: number
  readonly greedy: boolean
  readonly samples: number
  readonly temperature: number
  readonly seed: number
  readonly slots: number
  readonly threads: number
  readonly workers: number
  readonly toolCallFormat: string
  readonly cacheType?: CacheType
  readonly urlMaxTokens: number
  readonly urlRequests: number
  readonly out?: string
}

/** Adds the options that choose policies, tasks and sampling. */
export function withEvaluationOptions(command: Command): Command {
  command
    .optionsGroup('Policies:')
    .option('--model <gguf>', 'base model; any policy can have a label, as in --model smollm2=base.gguf')
    .option('--adapter <gguf...>', 'LoRA adapters over the base model, each one policy')
    .option('--no-base', 'omit the base model without an adapter')
    .option('--merged <gguf...>', 'merged model files, each one policy')
    .option('--url <url>', 'OpenAI-compatible server, such as http://127.0.0.1:8000/v1')
    .option('--url-model <name...>', 'models of the server, each one policy; default: the first that it lists')
    .option('--url-requests <number>', 'requests to the server at the same time', integerOption(1, 1024), 8)
    .option('--url-timeout <seconds>', 'time limit of one request to the server', integerOption(1, 86_400), 600)
    .option('--url-max-tokens <number>', "most tokens of a server's reply", integerOption(1, 1_000_000), 2048)
    .option('--api-key-var <name>', "environment variable with the server's API key", 'OPENAI_API_KEY')
    .optionsGroup('Tasks and sampling:')
    .requiredOption('--dataset <folder>', 'data set, with the tasks')
    .addOption(new Option('--split <name>', 'split of the data set').choices(SPLITS).default('held-out'))
    .addOption(environmentsOption([], 'all environments of the data set'))
    .option(
      '--tasks <number>',
      'largest number of tasks, spread evenly over environments',
      integerOption(1, 100_000),
      200,
    )
    .option('--no-greedy', 'no rollouts at temperature 0')
    .option('--samples <number>', 'rollouts per held-out task, at --temperature; 0: none', integerOption(0, 256), 4)
    .option('--temperature <number>', 'sampling temperature, of --samples', numberOption(0, MAX_TEMPERATURE), 1)
    .option('--seed <number>', 'seed of random choices, of the sampler', integerOption(0, 0xffffffff), 0)
    .option('--slots <number>', 'sequences that an engine generates in parallel', integerOption(1, 256), 32)
    .option('--threads <number>', 'CPU threads of each engine', integerOption(1, 256), 1)
    .option(
      '--workers <number>',
      'workers that share the work, each an engine with the model in memory',
      integerOption(1, 64),
      2,
    )
    .addOption(toolCallFormatOption())
    .addOption(cacheTypeOption())
  withUserOptions(withLimitOptions(command, 'gives the limits and the cache type of rollouts'))
  return command.hook('preAction', async (_, acting) => {
    const { environments, temperature, samples } = acting.opts<EvaluationOptions>()
    if (temperature === 0 && samples > 0)
      acting.error(
        '--temperature 0 gives the same rollout for every sample: give --samples 0, the greedy rollout is played anyway',
      )
    const named = await environmentsNamed(environments)
    if (named.length > 0)
      acting.setOptionValue(
        'chosenEnvironments',
        named.map(({ name }) => name),
      )
  })
}
