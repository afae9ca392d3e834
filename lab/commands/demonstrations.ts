import { once } from 'node:events'
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Command, Option } from 'commander'
import writeFileAtomic from 'write-file-atomic'
import { integerOption } from '../../common/cli/index.js'
import { type Demonstration, encodeDemonstrations } from '../../coordinator/jobs/demonstration-file.js'
import { readTaskSet } from '../../coordinator/settings/task-set.js'
import { openTokenizer } from '../../rollout/engine/tokenizer.js'
import { type Task, toolCallFormatNamed } from '../../rollout/episode/index.js'
import { environmentNames, environmentsNamed } from '../../servers/catalogue.js'
import { environmentsOption } from '../../servers/environment-option.js'
import { createSeedStateCache, type Environment } from '../../servers/kernel/index.js'
import { withSpeech } from '../../servers/load-speech.js'
import { PROFILES, SPLITS, type Split } from '../../tasks/dataset/index.js'
import { contextFor, streamExamples } from '../../tasks/synthesis/index.js'
import { codePointTokenizer, demonstrations } from '../demonstrations.js'
import { toolCallFormatOption } from '../options.js'

interface DemonstrationsOptions {
  count: number
  dataset?: string
  profile: string
  seed: number
  environments: string[]
  split: Split
  corpus?: string
  chatTemplate?: string
  shards?: string
  model?: string
  toolCallFormat: string
  shardSize: number
}

export function addDemonstrationsCommand(program: Command): void {
  program
    .command('demonstrations')
    .description(
      'Write reference solutions of tasks for supervised training: text for a tokenizer, or token shards for a model',
    )
    .requiredOption('--count <number>', 'number of demonstrations', integerOption(1, 10_000_000))
    .addOption(
      new Option('--dataset <folder>', 'data set, whose tasks are played instead of new ones').conflicts([
        ...['profile', 'environments', 'seed'],
      ]),
    )
    .addOption(new Option('--profile <name>', 'profile of the tasks').choices([...PROFILES.keys()]).default('demo'))
    .option('--seed <number>', 'seed of random choices, of the tasks', integerOption(0, 0xffffffff), 0)
    .addOption(environmentsOption(environmentNames(), 'all'))
    .addOption(new Option('--split <name>', 'split of the data set').choices(SPLITS).default('train'))
    .option('--corpus <file>', 'write text as JSON lines {"text": …}; needs --chat-template')
    .option('--chat-template <file>', 'chat template, a Jinja file for --corpus')
    .option('--shards <folder>', 'write token shards (safetensors); needs --model')
    .option('--model <gguf>', 'base model, with the vocabulary and chat template of --shards')
    .addOption(toolCallFormatOption())
    .option('--shard-size <number>', 'demonstrations per shard', integerOption(1, 1_000_000), 4000)
    .action(play)
}

async function play(options: DemonstrationsOptions, command: Command): Promise<void> {
  const seedStates = createSeedStateCache()
  const { environments, tasks } = await tasksOf(options)
  const toolCallFormat = toolCallFormatNamed(options.toolCallFormat)
  if (options.corpus !== undefined) {
    if (options.chatTemplate === undefined) command.error('--corpus needs a chat template: give --chat-template')
    const tokenizer = codePointTokenizer(readFileSync(options.chatTemplate, 'utf8'))
    const language = { tokenizer, toolCallFormat }
    const rollouts = demonstrations(tasks(), environments, seedStates, language)
    await writeLines(options.corpus, rollouts, ({ tokens }) => ({ text: tokenizer.detokenize(tokens) }))
  }
  if (options.shards !== undefined) {
    if (options.model === undefined) command.error('--shards needs a model: give --model')
    const tokenizer = await openTokenizer(options.model)
    const language = { tokenizer, toolCallFormat }
    try {
      const rollouts = demonstrations(tasks(), environments, seedStates, language)
      await writeShards(options.shards, options.shardSize, rollouts)
    } finally {
      await tokenizer.close()
    }
  }
}

/** Returns the tasks to play, and the environments with their tools. @throws ConfigError for a faulty data set */
async function tasksOf(
  options: DemonstrationsOptions,
): Promise<{ readonly environments: readonly Environment[]; tasks(): Iterable<Task> }> {
  const { dataset, profile, seed, split, count } = options
  if (dataset !== undefined) {
    const { environments, tasks } = await readTaskSet([resolve(dataset)], split, count)
    return { environments, tasks: () => tasks }
  }
  const environments = await environmentsNamed(options.environments)
  return {
    environments,
    *tasks() {
      const context = contextFor(environments.map(withSpeech), PROFILES.get(profile)!, seed, createSeedStateCache())
      for (const { task } of streamExamples(context, split, count)) yield task
    },
  }
}

async function writeLines<T>(
  file: string,
  items: Iterable<T> | AsyncIterable<T>,
  line: (item: T) => unknown,
): Promise<void> {
  const out = createWriteStream(file)
  for await (const item of items) {
    if (!out.write(`${JSON.stringify(line(item))}\n`)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'finish')
}

async function writeShards(folder: string, size: number, rollouts: AsyncIterable<Demonstration>): Promise<void> {
  mkdirSync(folder, { recursive: true })
  let shard: Demonstration[] = []
  let written = 0
  const flush = async (): Promise<void> => {
    if (shard.length === 0) return
    const bytes = encodeDemonstrations(shard)
    await writeFileAtomic(join(folder, `shard-${String(written++).padStart(5, '0')}.safetensors`), Buffer.from(bytes))
    shard = []
  }
  for await (const rollout of rollouts) {
    shard.push(rollout)
    if (shard.length === size) await flush()
  }
  await flush()
}
