import { once } from 'node:events'
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import writeFileAtomic from 'write-file-atomic'
import { openTokenizer } from '../engine/tokenizer.js'
import { createWorldCache, type ServerDefinition } from '../servers/kernel/index.js'
import { type Split, synthesise } from '../synthesis/index.js'
import { codePointTokenizer, type Demonstrators, demonstrations } from './demonstrations.js'
import { integerOption, shareOption, worldsOption } from './options.js'
import { encodeSafetensors } from './safetensors.js'

interface SynthesizeOptions {
  count: number
  seed: number
  worlds: ServerDefinition[]
  split: Split
  tasks?: string
  corpus?: string
  chatTemplate?: string
  shards?: string
  model?: string
  shardSize: number
  experts: number
}

/** Flaw rates of the non-expert demonstrators of the demo model's supervised data (models/demo/README.md). */
const DEMO_FLAWS = { stopEarly: 0.22, strayCall: 0.3, repeat: 0.1, malformed: 0.15 }

export function addSynthesizeCommand(program: Command): void {
  program
    .command('synthesize')
    .description(
      'Make tasks from the worlds: as JSON lines, as text for a tokenizer, or as token shards for supervised training',
    )
    .requiredOption('--count <number>', 'tasks to make', integerOption(1, 10_000_000))
    .option('--seed <number>', 'seed of the data set', integerOption(0, 0xffffffff), 0)
    .addOption(worldsOption())
    .option('--split <split>', 'train or held-out', 'train')
    .option('--tasks <file>', 'write the tasks as JSON lines')
    .option('--corpus <file>', 'write whole demonstrations as text, JSON lines {"text": ...}; needs --chat-template')
    .option('--chat-template <file>', 'Jinja chat template for --corpus')
    .option('--shards <folder>', 'write demonstrations as token shards (safetensors); needs --model')
    .option('--model <gguf>', 'model whose vocabulary and chat template --shards uses')
    .option('--shard-size <number>', 'demonstrations per shard', integerOption(1, 1_000_000), 4000)
    .option('--experts <share>', 'share of demonstrations without flaws', shareOption, 0.15)
    .action(synthesize)
}

async function synthesize(options: SynthesizeOptions, command: Command): Promise<void> {
  if (options.split !== 'train' && options.split !== 'held-out') command.error(`--split must be train or held-out`)
  const servers = options.worlds
  const worlds = createWorldCache(64)
  const demonstrators: Demonstrators = { expertShare: options.experts, flaws: DEMO_FLAWS }
  const tasks = () => synthesise(servers, worlds, { seed: options.seed, split: options.split, count: options.count })

  if (options.tasks !== undefined) {
    await writeLines(options.tasks, tasks(), (task) => task)
  }
  if (options.corpus !== undefined) {
    if (options.chatTemplate === undefined) command.error('--corpus needs --chat-template')
    const tokenizer = codePointTokenizer(readFileSync(options.chatTemplate, 'utf8'))
    const rollouts = demonstrations(tasks(), servers, worlds, tokenizer, demonstrators, options.seed)
    await writeLines(options.corpus, rollouts, ({ tokens }) => ({ text: tokenizer.detokenize(tokens) }))
  }
  if (options.shards !== undefined) {
    if (options.model === undefined) command.error('--shards needs --model')
    const tokenizer = await openTokenizer(options.model)
    try {
      const rollouts = demonstrations(tasks(), servers, worlds, tokenizer, demonstrators, options.seed)
      await writeShards(options.shards, options.shardSize, rollouts)
    } finally {
      await tokenizer.close()
    }
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

interface Demonstration {
  readonly tokens: readonly number[]
  readonly mask: Uint8Array
}

async function writeShards(folder: string, size: number, rollouts: AsyncIterable<Demonstration>): Promise<void> {
  mkdirSync(folder, { recursive: true })
  let shard: Demonstration[] = []
  let written = 0
  const flush = async (): Promise<void> => {
    if (shard.length === 0) return
    const starts = [0]
    for (const { tokens } of shard) starts.push(starts.at(-1)! + tokens.length)
    const bytes = encodeSafetensors({
      ids: Int32Array.from(shard.flatMap(({ tokens }) => tokens)),
      loss_mask: Uint8Array.from(shard.flatMap(({ mask }) => [...mask])),
      cu_seqlens: Int32Array.from(starts),
    })
    await writeFileAtomic(join(folder, `shard-${String(written++).padStart(5, '0')}.safetensors`), Buffer.from(bytes))
    shard = []
  }
  for await (const rollout of rollouts) {
    shard.push(rollout)
    if (shard.length === size) await flush()
  }
  await flush()
}
