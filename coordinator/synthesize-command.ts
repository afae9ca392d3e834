import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { createLogUpdate } from 'log-update'
import { CATALOGUE } from '../servers/catalogue.js'
import type { ServerDefinition } from '../servers/kernel/index.js'
import {
  type Composition,
  compositionOf,
  createSanityCheck,
  createWorkers,
  type Drops,
  diversity,
  type Example,
  openParts,
  type Plan,
  PROFILES,
  produce,
  SPLIT_SHARES,
  writeDataset,
} from '../synthesis/index.js'
import { integerOption, shareOption, worldsOption } from './options.js'

interface SynthesizeOptions {
  examples: number
  out: string
  seed: number
  worlds: ServerDefinition[]
  heldOutWorlds: string[]
  profile: string
  validation: number
  heldOut: number
  workers: number
}

/** The size of the paper's data set (section 3.2). */
const PAPER_SIZE = 13_517

export function addSynthesizeCommand(program: Command): void {
  program
    .command('synthesize')
    .description('Make a data set of tasks from the live worlds. A run that was stopped goes on where it was.')
    .requiredOption('--out <folder>', 'where the data set goes; must not exist yet')
    .option('--examples <number>', 'how many', integerOption(1, 1_000_000), PAPER_SIZE)
    .option('--seed <number>', 'the same seed gives the same bytes', integerOption(0, 0xffffffff), 0)
    .addOption(worldsOption())
    .option('--held-out-worlds <names...>', 'worlds that only the held-out split may use', [])
    .addOption(
      new Option('--profile <name>', 'paper: everything; demo: short tasks in the words of the demo model')
        .choices([...PROFILES.keys()])
        .default('paper'),
    )
    .option('--validation <share>', 'share of the examples for validation', shareOption, SPLIT_SHARES.validation)
    .option('--held-out <share>', 'share of the examples that is held out', shareOption, SPLIT_SHARES['held-out'])
    .option('--workers <number>', 'threads', integerOption(1, 256), availableParallelism())
    .action(synthesize)
}

async function synthesize(options: SynthesizeOptions, command: Command): Promise<void> {
  const unknown = options.heldOutWorlds.find((name) => !options.worlds.some((world) => world.name === name))
  if (unknown !== undefined) command.error(`--held-out-worlds: ${unknown} is not one of the worlds in use`)
  const out = resolve(options.out)
  const plan = planOf(options)
  const parts = await openParts(`${out}.parts`, plan)
  const stop = new AbortController()
  const interrupt = (): void => stop.abort(new Error('stopped; the same command goes on where it was'))
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, interrupt)
  const progress = createProgress()
  const workers = createWorkers(options.workers)
  try {
    const { examples, drops } = await produce(plan, {
      workers,
      threads: options.workers,
      parts,
      signal: stop.signal,
      onProgress: progress.show,
    })
    progress.say('writing the data set …')
    await write(out, plan, options, examples(), drops)
    await parts.remove()
    progress.say(`${options.examples} examples are in ${out}; its README.md describes them`)
  } finally {
    progress.close()
    await workers.close()
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, interrupt)
  }
}

function planOf({ worlds, heldOutWorlds, profile, seed, examples, validation, heldOut }: SynthesizeOptions): Plan {
  const composition: Composition =
    profile === 'paper' ? compositionOf(examples) : { 'multi-turn': examples, clarification: 0, abstention: 0 }
  return {
    recipe: { worlds: worlds.map(({ name }) => name), heldOutWorlds, profile, seed },
    composition,
    shares: { validation, 'held-out': heldOut },
  }
}

async function write(
  out: string,
  { recipe, composition, shares }: Plan,
  { worlds }: SynthesizeOptions,
  examples: AsyncIterable<Example>,
  drops: Drops,
): Promise<void> {
  const catalogue = new Map(worlds.map((server) => [server.name, server]))
  const sanity = createSanityCheck(catalogue)
  async function* checked(): AsyncGenerator<Example> {
    for await (const example of examples) {
      sanity.add(example)
      yield example
    }
  }
  await writeDataset(
    out,
    checked(),
    {
      title: 'PROVE tool-use tasks',
      profile: PROFILES.get(recipe.profile)!,
      seed: recipe.seed,
      settings: { composition, shares, heldOutWorlds: recipe.heldOutWorlds },
      provenance: [
        `Made by \`prove-coordinator synthesize\` with the profile \`${recipe.profile}\` and the seed ${recipe.seed}.`,
        `${worlds.length} of the ${CATALOGUE.size} worlds of the project took part; every call was executed in them.`,
        'The words are those of the embedded speaker: no language model took part.',
      ],
      diversity: (texts) => ({ ...diversity(texts) }),
      outcome: () => ({ drops, sanity: sanity.finish() }),
    },
    catalogue,
  )
}

/** A line that is drawn anew on a terminal, and one line per tenth elsewhere. */
function createProgress() {
  const screen = process.stderr.isTTY ? createLogUpdate(process.stderr) : undefined
  const started = performance.now()
  let tenths = -1
  return {
    show({ kept, wanted, drops }: { readonly kept: number; readonly wanted: number; readonly drops: Drops }): void {
      const dropped = Object.values(drops).reduce((sum, count) => sum + count, 0)
      const seconds = (performance.now() - started) / 1000
      const line = `${bar(kept / wanted)} ${kept} of ${wanted} examples, ${dropped} candidates dropped, ${seconds.toFixed(0)} s`
      if (screen) screen(line)
      else if (Math.floor((10 * kept) / wanted) > tenths) {
        tenths = Math.floor((10 * kept) / wanted)
        process.stderr.write(`${line}\n`)
      }
    },
    say(text: string): void {
      screen?.done()
      process.stderr.write(`${text}\n`)
    },
    close: () => screen?.done(),
  }
}

const WIDTH = 24
const bar = (share: number): string => '█'.repeat(Math.floor(WIDTH * share)).padEnd(WIDTH, '░')
