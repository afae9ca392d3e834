import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import writeFileAtomic from 'write-file-atomic'
import { createCleanUp } from '../../common/cleanup/index.js'
import { EXIT, integerOption, type Price, priceOption, stopSignal } from '../../common/cli/index.js'
import { countOf, InterruptedError } from '../../common/errors/index.js'
import type { Source } from '../../rollout/chat/index.js'
import { environmentNames, environmentsNamed, isEnvironmentFolder, outsideFolder } from '../../servers/catalogue.js'
import { environmentsOption } from '../../servers/environment-option.js'
import { createTaskRuntime } from '../../servers/episodes/index.js'
import { type Environment, SESSION_START } from '../../servers/kernel/index.js'
import { speechSha256 } from '../../servers/load-speech.js'
import {
  createBaselineCheck,
  DatasetError,
  diversity,
  type Example,
  PROFILES,
  type Profile,
  quotasOf,
  writeDataset,
} from '../../tasks/dataset/index.js'
import {
  type Composition,
  compositionOf,
  createParaphraser,
  createSanityCheck,
  createWorkers,
  type Missing,
  OBJECTIONS,
  openFinishedBatches,
  type Paraphraser,
  type ParaphraserReport,
  type Plan,
  type Production,
  planText,
  produce,
  programHash,
  type Recipe,
  rephraseAll,
  SPLIT_SHARES,
  SynthesisError,
} from '../../tasks/synthesis/index.js'
import { shareOption } from '../options.js'
import { probe } from '../probe.js'
import { rejectedLine } from '../rejected-candidates.js'
import { createSynthesisProgress } from '../synthesis-progress.js'
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
  rejected?: string
  json: boolean
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
    .description('Make a data set of tasks from live environments')
    .requiredOption(
      '--out <folder>',
      'where to write the result, a folder that must not exist; the same command resumes a stopped synthesis',
    )
    .option('--examples <number>', 'number of examples', integerOption(1, 1_000_000), PAPER_SIZE)
    .option(
      '--seed <number>',
      'seed of random choices; the same seed gives the same bytes',
      integerOption(0, 0xffffffff),
      0,
    )
    .addOption(environmentsOption(environmentNames(), 'all'))
    .option('--held-out-environments <names...>', 'environments for the held-out split only', [])
    .addOption(
      new Option(
        '--profile <name>',
        'profile of the tasks; paper: all kinds of conversations; demo: short tasks in the vocabulary of the demo model',
      )
        .choices([...PROFILES.keys()])
        .default('paper'),
    )
    .option(
      '--validation <share>',
      'share of the examples in the validation split',
      shareOption,
      SPLIT_SHARES.validation,
    )
    .option('--held-out <share>', 'share of the examples in the held-out split', shareOption, SPLIT_SHARES['held-out'])
    .option(
      '--domain-rules <share>',
      'share of the tasks with domain rules that the assistant must follow',
      shareOption,
      0,
    )
    .addOption(
      new Option('--workers <number>', 'workers that share the work, each a thread')
        .argParser(integerOption(1, 256))
        .default(availableParallelism(), 'the cores'),
    )
    .option('--rejected <file>', 'file of the dropped candidates, one JSON object a line, for `dataset explain`')
    .option('--json', 'print JSON on stdout', false)
    .optionsGroup('Paraphraser:')
    .addOption(
      new Option('--paraphraser <url>', 'OpenAI-compatible server whose model rephrases the requests').conflicts(
        'paraphraserModel',
      ),
    )
    .option('--paraphraser-name <model>', "name of the server's model; default: the first that the server lists")
    .option('--paraphraser-model <gguf>', 'model file for the same purpose, run in this process')
    .option('--paraphraser-requests <number>', 'most requests to the model', integerOption(1, 100_000_000), 50_000)
    .option(
      '--paraphraser-tokens <number>',
      'most tokens of the model, including prompts',
      integerOption(1, 2 ** 40),
      100_000_000,
    )
    .option('--paraphraser-price <prompt,reply>', 'price per million tokens, to print the cost', priceOption)
    .action(synthesize)
}

async function synthesize(options: SynthesizeOptions, command: Command): Promise<void> {
  const environments = await environmentsNamed(options.environments)
  const unknown = options.heldOutEnvironments.find(
    (name) => !environments.some((environment) => environment.name === name),
  )
  if (unknown !== undefined)
    command.error(`--held-out-environments names ${unknown}, which is not in use: add it to --environments`)
  checkDomainRules(options, environments)
  const out = resolve(options.out)
  if (existsSync(out))
    throw new DatasetError('already_there', `${out} already exists: remove it or name another folder`)
  const plan = planOf(options, environments)
  const finished = await openFinishedBatches(`${out}.parts`, { ...plan, program: await programHash() })
  const { signal, release } = stopSignal(
    new InterruptedError(
      `finished batches are in ${out}.parts, and ${out} does not exist yet: run the same command again to resume`,
    ),
  )
  const opened = createCleanUp()
  opened.add(release)
  const workers = createWorkers(options.workers)
  opened.add(() => workers.close())
  const profile = PROFILES.get(options.profile) as Profile
  const progress = createSynthesisProgress(profile)
  opened.add(progress.close)
  try {
    // Opened before hours of work, so that an unreachable paraphraser is reported now.
    const paraphraser = await paraphraserFor(options, environments, plan, `${out}.paraphraser`, signal)
    if (paraphraser) opened.add(() => paraphraser.close())
    const rejected: string[] = []
    const production = await produce(plan, {
      workers,
      threads: options.workers,
      finished,
      signal,
      onProgress: progress.show,
      onRejected: (id, wanted, { by, chain }) =>
        options.rejected === undefined || rejected.push(rejectedLine({ id, by, plan: planText(wanted), chain })),
    })
    const { examples, drops, missing, statistics } = production
    if (options.rejected !== undefined) await writeFileAtomic(resolve(options.rejected), rejected.join(''))
    progress.say('writing the data set …')
    const lacking = missing.reduce((sum, { count }) => sum + count, 0)
    const wanted = options.examples - lacking
    const rephrasing = paraphraser && {
      paraphraser,
      onProgress: (report: ParaphraserReport) => progress.showRephrased(report, wanted, options.paraphraserPrice),
    }
    await write(out, plan, environments, examples(), production, rephrasing, signal)
    await finished.remove()
    progress.say(`wrote ${countOf(wanted, 'example')} to ${out}; its README.md describes them`)
    if (options.json) {
      const dropped = Object.values(drops).reduce((sum, count) => sum + count, 0)
      const quotas = Object.fromEntries(
        Object.entries(quotasOf(profile, statistics)).map(([name, { asked, got }]) => [name, { asked, got }]),
      )
      const summary = {
        out,
        examples: wanted,
        missing: lacking,
        rejectedPerExample: dropped / wanted,
        rejected: drops,
        quotas,
      }
      process.stdout.write(`${JSON.stringify(summary)}\n`)
    }
    if (lacking > 0) {
      progress.say(
        `${countOf(lacking, 'example')} missing: ${missingText(missing)}. These environments give no more distinct tasks: use more environments.`,
      )
      process.exitCode = EXIT.failed
    }
  } catch (error) {
    // Interrupted work fails with various errors; the reason of the stop explains them.
    throw signal.aborted ? signal.reason : error
  } finally {
    await opened.close()
  }
}

/** Held-out examples on which the card's table of probes is based. */
const PROBED = 100

const missingText = (missing: readonly Missing[]): string =>
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

/** Checks that tasks can have domain rules, if requested. @throws SynthesisError `no_domain_rules` */
function checkDomainRules({ domainRules, profile }: SynthesizeOptions, environments: readonly Environment[]): void {
  if (domainRules === 0) return
  if (PROFILES.get(profile)!.speech === 'plain')
    throw new SynthesisError(
      'no_domain_rules',
      `the profile ${profile} has no system message for domain rules: remove --domain-rules`,
    )
  if (environments.every(({ domainRules }) => domainRules === undefined))
    throw new SynthesisError(
      'no_domain_rules',
      'none of the environments has domain rules: use other environments or remove --domain-rules',
    )
}

/** Returns `4 of the 20 environments of the project, and the environment library from outside it (code 1a2b…)`. */
function partOfProject(environments: readonly Environment[]): string {
  const own = (environment: Environment): boolean => environment.codeSha256 === undefined
  const all = environmentNames().filter((name) => outsideFolder(name) === undefined).length
  const outside = environments
    .filter((environment) => !own(environment))
    .map(({ name, codeSha256 }) => `, and the environment ${name} from outside it (code ${codeSha256})`)
  return `${environments.filter(own).length} of the ${all} environments of the project${outside.join('')}`
}

/** Returns the part of the recipe for environments from outside the project, empty if there are none. */
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
  { drops, missing, gaveUp, scarcity }: Production,
  rephrasing: Rephrasing | undefined,
  signal: AbortSignal,
): Promise<void> {
  const paraphraser = rephrasing?.paraphraser
  const catalogue = new Map(environments.map((environment) => [environment.name, environment]))
  const sanity = createSanityCheck(catalogue)
  const baselines = createBaselineCheck(catalogue)
  const heldOut: Example[] = []
  async function* checked(): AsyncGenerator<Example> {
    for await (const example of rephrasedExamples(rephrasing, examples, signal)) {
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
        `${partOfProject(environments)} were used; every call was executed in them.`,
        paraphraser
          ? `The language model ${paraphraser.name} rephrased the examples whose \`speech\` is \`paraphrased\`; the embedded text generator wrote the others.`
          : 'The embedded text generator wrote all words, without a language model.',
        ...(missing.length === 0
          ? []
          : [`Fewer examples than requested: these environments did not give ${missingText(missing)}.`]),
      ],
      diversity: (texts) => ({ ...diversity(texts) }),
      outcome: async () => ({
        drops,
        objections: OBJECTIONS,
        gaveUp,
        scarcity,
        sanity: sanity.finish(),
        baselines: baselines.finish(),
        ...(heldOut.length === 0 ? {} : { probes: tables(await probe(heldOut, createTaskRuntime(catalogue), signal)) }),
      }),
    },
    catalogue,
  )
}

/** Opens the paraphraser if the options name one. The cache of its replies stays after the synthesis: it is needed to reproduce the bytes. */
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
      'the demo profile uses the vocabulary of the demo model: remove --paraphraser or --paraphraser-model',
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

/** Concurrent examples at the paraphraser: a server batches them. */
const PARAPHRASER_CONCURRENCY = 8

/** A paraphraser and its progress callback. */
interface Rephrasing {
  readonly paraphraser: Paraphraser
  onProgress(report: ParaphraserReport): void
}

async function* rephrasedExamples(
  rephrasing: Rephrasing | undefined,
  examples: AsyncIterable<Example>,
  signal: AbortSignal,
): AsyncGenerator<Example> {
  if (!rephrasing) {
    yield* examples
    return
  }
  const { paraphraser, onProgress } = rephrasing
  const context = { today: SESSION_START.slice(0, 10), signal }
  for await (const { example } of rephraseAll(examples, paraphraser, context, PARAPHRASER_CONCURRENCY)) {
    onProgress(paraphraser.report())
    yield example
  }
  const { rephrased, kept, requests, problems } = paraphraser.report()
  process.stderr.write(
    `paraphraser: ${rephrased} examples reworded, ${kept} kept, ${requests} requests ${JSON.stringify(problems)}\n`,
  )
}
