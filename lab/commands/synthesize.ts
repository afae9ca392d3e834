import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { createLogUpdate } from 'log-update'
import { integerOption, type Price, priceOption, saidTokens } from '../../common/cli/index.js'
import { countOf } from '../../common/errors/index.js'
import type { Source } from '../../rollout/chat/index.js'
import { environmentNames, environmentsNamed, isEnvironmentFolder, outsideFolder } from '../../servers/catalogue.js'
import { environmentsOption } from '../../servers/environment-option.js'
import { createTaskRuntime } from '../../servers/episodes/index.js'
import { type Environment, SESSION_START } from '../../servers/kernel/index.js'
import { speechSha256 } from '../../servers/load-speech.js'
import {
  createBaselineCheck,
  DatasetError,
  type Drops,
  type Example,
  PROFILES,
  writeDataset,
} from '../../tasks/dataset/index.js'
import {
  type Composition,
  compositionOf,
  createParaphraser,
  createSanityCheck,
  createWorkers,
  diversity,
  type Missing,
  openFinishedBatches,
  type Paraphraser,
  type ParaphraserReport,
  type Plan,
  produce,
  programHash,
  type Recipe,
  rephraseAll,
  SPLIT_SHARES,
  SynthesisError,
} from '../../tasks/synthesis/index.js'
import { shareOption } from '../options.js'
import { probe } from '../probe.js'
import { tables } from './probe.js'

interface SynthesizeOptions {
  examples: number
  out: string
  seed: number
  environments: string[]
  heldOutEnvironments: string[]
  profile: string
  validation: number
  heldOut: number
  domainRules: number
  workers: number
  paraphraser?: string
  paraphraserName?: string
  paraphraserModel?: string
  paraphraserRequests: number
  paraphraserTokens: number
  paraphraserPrice?: Price
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
    .addOption(environmentsOption(environmentNames(), 'all'))
    .option('--held-out-environments <names...>', 'worlds that only the held-out split may use', [])
    .addOption(
      new Option('--profile <name>', 'paper: everything; demo: short tasks in the words of the demo model')
        .choices([...PROFILES.keys()])
        .default('paper'),
    )
    .option('--validation <share>', 'share of the examples for validation', shareOption, SPLIT_SHARES.validation)
    .option('--held-out <share>', 'share of the examples that is held out', shareOption, SPLIT_SHARES['held-out'])
    .option(
      '--domain-rules <share>',
      'share of the tasks with a policy per world that the assistant must keep to',
      shareOption,
      0,
    )
    .addOption(
      new Option('--workers <number>', 'threads')
        .argParser(integerOption(1, 256))
        .default(availableParallelism(), 'the cores'),
    )
    .addOption(
      new Option('--paraphraser <url>', 'a server with OpenAI’s chat completions puts the words').conflicts(
        'teacherModel',
      ),
    )
    .option('--paraphraser-name <model>', 'model of that server; default: the first that it lists')
    .option('--paraphraser-model <gguf>', 'a model file puts the words, in this process')
    .option('--paraphraser-requests <number>', 'requests it may take', integerOption(1, 100_000_000), 50_000)
    .option(
      '--paraphraser-tokens <number>',
      'tokens it may take, prompts included',
      integerOption(1, 2 ** 40),
      100_000_000,
    )
    .option('--paraphraser-price <prompt,reply>', 'what a million tokens cost, to show what was spent', priceOption)
    .action(synthesize)
}

async function synthesize(options: SynthesizeOptions, command: Command): Promise<void> {
  const environments = await environmentsNamed(options.environments)
  const unknown = options.heldOutEnvironments.find(
    (name) => !environments.some((environment) => environment.name === name),
  )
  if (unknown !== undefined) command.error(`--held-out-environments: ${unknown} is not one of the worlds in use`)
  checkDomainRules(options, environments)
  const out = resolve(options.out)
  if (existsSync(out)) throw new DatasetError('already_there', `${out} exists. Remove it, or name another folder.`)
  const plan = planOf(options, environments)
  const finished = await openFinishedBatches(`${out}.parts`, { ...plan, program: await programHash() })
  const stop = new AbortController()
  const interrupt = (): void =>
    stop.abort(
      new SynthesisError(
        'stopped',
        `what is finished is in ${out}.parts, and ${out} was not begun. The same command goes on where this one was.`,
      ),
    )
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, interrupt)
  const progress = createProgress()
  const workers = createWorkers(options.workers)
  let paraphraser: Paraphraser | undefined
  try {
    // Before hours of work, not after: a teacher that is away is noticed here.
    paraphraser = await paraphraserFor(options, environments, plan, `${out}.teacher`, stop.signal)
    const { examples, drops, missing } = await produce(plan, {
      workers,
      threads: options.workers,
      finished,
      signal: stop.signal,
      onProgress: progress.show,
    })
    progress.say('writing the data set …')
    const lacking = missing.reduce((sum, { count }) => sum + count, 0)
    const wanted = options.examples - lacking
    const words = paraphraser && {
      paraphraser,
      onWords: (report: ParaphraserReport) => progress.showWords(report, wanted, options.paraphraserPrice),
    }
    await write(out, plan, environments, examples(), { drops, missing }, words, stop.signal)
    await finished.remove()
    progress.say(
      `${countOf(options.examples - lacking, 'example')} ${options.examples - lacking === 1 ? 'is' : 'are'} in ${out}; its README.md describes them`,
    )
    if (lacking > 0) {
      progress.say(
        `${lacking} ${lacking === 1 ? 'is' : 'are'} missing: ${saidMissing(missing)}. These worlds give no more that differ; use more worlds.`,
      )
      process.exitCode = FEWER_THAN_ASKED
    }
  } catch (error) {
    // Whatever was going on reports the stop in its own way.
    throw stop.signal.aborted ? stop.signal.reason : error
  } finally {
    progress.close()
    await paraphraser?.close()
    await workers.close()
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, interrupt)
  }
}

/** Held-out examples that the card's table of hacks is made of: each is played in all ways. */
const PROBED = 100

/** Exit status of a synthesis that wrote a whole data set of fewer examples than were asked for. */
const FEWER_THAN_ASKED = 3

const saidMissing = (missing: readonly Missing[]): string =>
  missing.map(({ kind, split, count }) => `${count} ${kind} of ${split}`).join(', ')

function planOf(
  {
    environments: named,
    heldOutEnvironments,
    profile,
    seed,
    examples,
    validation,
    heldOut,
    domainRules,
  }: SynthesizeOptions,
  environments: readonly Environment[],
): Plan {
  const composition: Composition =
    profile === 'paper' ? compositionOf(examples) : { 'multi-turn': examples, clarification: 0, abstention: 0 }
  return {
    recipe: {
      environments: environments.map(({ name }) => name),
      heldOutEnvironments,
      profile,
      seed,
      ...(domainRules > 0 ? { domainRules } : {}),
      ...outsideOf(named, environments),
    },
    composition,
    shares: { validation, 'held-out': heldOut },
  }
}

/** @throws SynthesisError `no_domain_rules` where tasks are to have policies and cannot */
function checkDomainRules({ domainRules, profile }: SynthesizeOptions, environments: readonly Environment[]): void {
  if (domainRules === 0) return
  if (PROFILES.get(profile)!.speech === 'plain')
    throw new SynthesisError(
      'no_domain_rules',
      `the ${profile} profile has no system message that could hold policies: leave --domain-rules out`,
    )
  if (environments.every(({ domainRules }) => domainRules === undefined))
    throw new SynthesisError(
      'no_domain_rules',
      'none of these worlds has a policy: use others, or leave --domain-rules out',
    )
}

/** `4 of the 20 worlds of the project, and the world library from outside it (code 1a2b…)`. */
function partOfProject(environments: readonly Environment[]): string {
  const own = (environment: Environment): boolean => environment.codeSha256 === undefined
  const all = environmentNames().filter((name) => outsideFolder(name) === undefined).length
  const outside = environments
    .filter((environment) => !own(environment))
    .map(({ name, codeSha256 }) => `, and the world ${name} from outside it (code ${codeSha256})`)
  return `${environments.filter(own).length} of the ${all} worlds of the project${outside.join('')}`
}

/** What worker threads have to know of worlds from outside the project; nothing where there are none. */
function outsideOf(named: readonly string[], environments: readonly Environment[]): Pick<Recipe, 'outside'> {
  const folders = named.filter(isEnvironmentFolder).map((folder) => resolve(folder))
  if (folders.length === 0) return {}
  const outside = environments.filter(({ codeSha256 }) => codeSha256 !== undefined)
  return {
    outside: {
      folders,
      codeSha256: outside.map(({ codeSha256 }) => codeSha256!),
      speechSha256: outside.map(speechSha256),
    },
  }
}

async function write(
  out: string,
  { recipe, composition, shares }: Plan,
  environments: readonly Environment[],
  examples: AsyncIterable<Example>,
  { drops, missing }: { readonly drops: Drops; readonly missing: readonly Missing[] },
  words: Words | undefined,
  signal: AbortSignal,
): Promise<void> {
  const paraphraser = words?.paraphraser
  const catalogue = new Map(environments.map((environment) => [environment.name, environment]))
  const sanity = createSanityCheck(catalogue)
  const baselines = createBaselineCheck(catalogue)
  const heldOut: Example[] = []
  async function* checked(): AsyncGenerator<Example> {
    for await (const example of inWordsOf(words, examples, signal)) {
      signal.throwIfAborted()
      sanity.add(example)
      baselines.add(example)
      if (example.split === 'held-out' && heldOut.length < PROBED) heldOut.push(example)
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
      settings: {
        composition,
        shares,
        heldOutEnvironments: recipe.heldOutEnvironments,
        ...(recipe.domainRules === undefined ? {} : { domainRules: recipe.domainRules }),
        ...(paraphraser ? { paraphraser: paraphraser.name } : {}),
      },
      ...(paraphraser ? { wordsBy: paraphraser.name } : {}),
      provenance: [
        `Made by \`prove-lab synthesize\` with the profile \`${recipe.profile}\` and the seed ${recipe.seed}.`,
        `${partOfProject(environments)} took part; every call was executed in them.`,
        paraphraser
          ? `The language model ${paraphraser.name} put the words of those examples whose \`speech\` is \`teacher\`; the embedded speaker those of the others.`
          : 'The words are those of the embedded speaker: no language model took part.',
        ...(missing.length === 0
          ? []
          : [`Fewer examples than were asked for: ${saidMissing(missing)} could not be made of these worlds.`]),
      ],
      diversity: (texts) => ({ ...diversity(texts) }),
      outcome: async () => ({
        drops,
        sanity: sanity.finish(),
        baselines: baselines.finish(),
        ...(heldOut.length === 0 ? {} : { probes: tables(await probe(heldOut, createTaskRuntime(catalogue), signal)) }),
      }),
    },
    catalogue,
  )
}

/** The language model that puts the words, if one was named. Its replies are kept when the data set is complete: without them its bytes cannot be made again. */
async function paraphraserFor(
  {
    paraphraser,
    paraphraserName,
    paraphraserModel,
    paraphraserRequests,
    paraphraserTokens,
    workers,
  }: SynthesizeOptions,
  environments: readonly Environment[],
  { recipe }: Plan,
  cacheFolder: string,
  signal: AbortSignal,
): Promise<Paraphraser | undefined> {
  const apiKey = process.env.OPENAI_API_KEY
  const source: Source | undefined =
    paraphraser !== undefined
      ? {
          kind: 'server',
          url: paraphraser,
          ...(paraphraserName === undefined ? {} : { model: paraphraserName }),
          ...(apiKey === undefined ? {} : { apiKey }),
        }
      : paraphraserModel !== undefined
        ? { kind: 'file', modelPath: resolve(paraphraserModel), threads: workers, gpu: 'auto', contextSize: 8192 }
        : undefined
  if (!source) return undefined
  if (PROFILES.get(recipe.profile)!.speech === 'plain') {
    throw new SynthesisError(
      'no_paraphraser',
      'the demo profile speaks in the words of the demo model: leave the teacher out',
    )
  }
  return createParaphraser(
    {
      source,
      catalogue: new Map(environments.map((environment) => [environment.name, environment])),
      cacheFolder,
      budget: { requests: paraphraserRequests, tokens: paraphraserTokens },
    },
    signal,
  )
}

/** Examples in flight at a teacher: a server batches them. */
const PARAPHRASER_CONCURRENCY = 8

/** A teacher, and who hears how far it is. */
interface Words {
  readonly paraphraser: Paraphraser
  onWords(report: ParaphraserReport): void
}

async function* inWordsOf(
  words: Words | undefined,
  examples: AsyncIterable<Example>,
  signal: AbortSignal,
): AsyncGenerator<Example> {
  if (!words) {
    yield* examples
    return
  }
  const { paraphraser, onWords } = words
  const context = { today: SESSION_START.slice(0, 10), signal }
  for await (const { example } of rephraseAll(examples, paraphraser, context, PARAPHRASER_CONCURRENCY)) {
    onWords(paraphraser.report())
    yield example
  }
  const { rephrased, kept, requests, problems } = paraphraser.report()
  process.stderr.write(
    `the teacher put the words of ${rephrased} examples, ${kept} kept theirs, ${requests} requests ${JSON.stringify(problems)}\n`,
  )
}

/** A line that is drawn anew on a terminal, and one line per tenth elsewhere. */
function createProgress() {
  const screen = process.stderr.isTTY ? createLogUpdate(process.stderr) : undefined
  const started = performance.now()
  let tenths = -1
  let since: number | undefined
  const draw = (line: string, share: number): void => {
    if (screen) screen(line)
    else if (Math.floor(10 * share) > tenths) {
      tenths = Math.floor(10 * share)
      process.stderr.write(`${line}\n`)
    }
  }
  return {
    show({ kept, wanted, drops }: { readonly kept: number; readonly wanted: number; readonly drops: Drops }): void {
      const dropped = Object.values(drops).reduce((sum, count) => sum + count, 0)
      const seconds = (performance.now() - started) / 1000
      const line = `${bar(kept / wanted)} ${kept} of ${wanted} examples, ${dropped} candidates dropped, ${seconds.toFixed(0)} s`
      draw(line, kept / wanted)
    },
    /** How far a teacher is, what it has taken and, where its price is known, cost, and when it will be done. */
    showWords(report: ParaphraserReport, wanted: number, price: Price | undefined): void {
      if (since === undefined) [since, tenths] = [performance.now(), -1]
      draw(saidWords(report, wanted, price, (performance.now() - since) / 1000), report.examples / wanted)
    },
    say(text: string): void {
      screen?.done()
      process.stderr.write(`${text}\n`)
    },
    close: () => screen?.done(),
  }
}

/** `######## 120 of 500 examples in the teacher's words (96 put, 24 kept), 310 requests, 402,000 + 61,000 tokens, 0.24, 12 min left`. */
export function saidWords(
  { examples, rephrased, kept, fromCache, requests, ...tokens }: ParaphraserReport,
  wanted: number,
  price: Price | undefined,
  seconds: number,
): string {
  const count = (value: number): string => value.toLocaleString('en-US')
  // What is taken from the cache takes no time, so it says nothing of what is to come.
  const asked = examples - fromCache
  const left = asked === 0 ? '' : `, ${count(Math.ceil(((seconds / asked) * (wanted - examples)) / 60))} min left`
  return `${bar(examples / wanted)} ${examples} of ${wanted} examples at the teacher (${rephrased} reworded, ${kept} kept), ${count(requests)} requests, ${saidTokens(tokens, price)}${left}`
}

const WIDTH = 24
const bar = (share: number): string => '█'.repeat(Math.floor(WIDTH * share)).padEnd(WIDTH, '░')
