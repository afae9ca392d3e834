import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Command } from 'commander'
import { integerOption } from '../../common/cli/index.js'
import { countOf } from '../../common/errors/index.js'
import { loadEnvironments } from '../../servers/catalogue.js'
import { withEnvironmentFolders } from '../../servers/environment-option.js'
import { createSeedStateCache } from '../../servers/kernel/index.js'
import type { Example } from '../../tasks/dataset/example.js'
import {
  addAnnotations,
  annotationForm,
  baselineTable,
  createBaselineCheck,
  DatasetError,
  describeLengthAuc,
  ExampleMismatch,
  openDataset,
  readExamples,
  renderExample,
  renderOverview,
  SPLITS,
  verifyDataset,
  verifyFile,
} from '../../tasks/dataset/index.js'

/** Exit codes for scripts, beside 0: everything is as it should be. */
const DOES_NOT_REPRODUCE = 1
const CANNOT_BE_READ = 2

interface InspectOptions {
  task?: string
  index?: number
}

export function addDatasetCommand(program: Command): void {
  const dataset = program.command('dataset').description('Look at a synthesised data set, or play it again')
  const inspect = dataset
    .command('inspect')
    .description('Show what a file of examples is made of, or one example')
    .argument('<file>', 'a .jsonl file of a data set')
    .option('--task <id>', 'the example of the task whose id begins like this')
    .option('--index <number>', 'the example with this place in the data set', integerOption(0, 0x7fffffff))
    .action((file: string, options: InspectOptions, command: Command) => {
      if (options.task !== undefined && options.index !== undefined) command.error('give either --task or --index')
      return reporting(() => inspectFile(file, options))
    })
  const sample = dataset
    .command('sample')
    .description('Print a stratified sample of a file of examples, to be read and judged by people')
    .argument('<file>', 'a .jsonl file of a data set')
    .requiredOption('--for-annotation', 'with room for verdicts; docs/synthesis.md has the protocol')
    .option('--examples <number>', 'how many', integerOption(1, 10_000), 120)
    .option('--seed <number>', 'the same seed draws the same examples', integerOption(0, 0xffffffff), 0)
    .action((file: string, { examples, seed }: { examples: number; seed: number }) =>
      reporting(() => annotationForm(examplesOf(file), examples, seed)),
    )
  const annotations = dataset
    .command('readings')
    .description('Put the verdicts of filled-in samples into the card of their data set, in place of earlier ones')
    .argument('<folder>', 'a data set')
    .argument('<sheets...>', 'samples of `dataset sample --for-annotation`, each filled in by one reader')
    .requiredOption('--annotators <words>', 'who read them, for the card: "two people who know the worlds"')
    .action((folder: string, forms: string[], { annotators }: { annotators: string }) =>
      reporting(() => annotationsOf(folder, forms, annotators)),
    )
  const baselines = dataset
    .command('baselines')
    .description('Find the tools of held-out tasks by matching words, without a model: what do the words give away?')
    .argument('<folder>', 'a data set')
    .action((folder: string) => reporting(() => baselinesOf(folder)))
  const verify = withEnvironmentFolders(dataset.command('verify'))
    .description('Play every example again in fresh sessions and compare every byte')
    .argument('<path>', 'the folder of a data set, or one of its .jsonl files')
    .action((path: string) => reporting(() => verifyPath(path)))
  for (const command of [dataset, inspect, sample, annotations, baselines, verify]) {
    command.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : CANNOT_BE_READ))
  }
}

/** Says on stderr what is wrong, and sets the exit code accordingly. */
async function reporting(run: () => Promise<string>): Promise<void> {
  try {
    process.stdout.write(await run())
  } catch (error) {
    if (!(error instanceof DatasetError) && !(error instanceof ExampleMismatch)) throw error
    process.stderr.write(`prove-lab: ${error.message}\n`)
    process.exitCode = error instanceof ExampleMismatch ? DOES_NOT_REPRODUCE : CANNOT_BE_READ
  }
}

async function inspectFile(file: string, { task, index }: InspectOptions): Promise<string> {
  const examples = examplesOf(file)
  if (task === undefined && index === undefined) return renderOverview(examples)
  for await (const example of examples) {
    if (example.index === index || (task !== undefined && example.task.id.startsWith(task)))
      return renderExample(example)
  }
  const wanted = task === undefined ? `the index ${index}` : `a task ${task}`
  throw new DatasetError('no_such_example', `${basename(file)} has no example with ${wanted}.`)
}

async function* examplesOf(file: string): AsyncGenerator<Example> {
  for await (const { example } of readExamples(file)) yield example
}

async function baselinesOf(folder: string): Promise<string> {
  const { signal } = new AbortController()
  const environments = await loadEnvironments()
  const { examples } = await openDataset(folder, environments, { signal })
  const check = createBaselineCheck(environments)
  for (const split of SPLITS) for await (const example of examples(split)) check.add(example)
  const found = check.finish()
  if (found.heldOut === 0)
    throw new DatasetError('no_such_example', `${folder}: the split held-out has no tasks with calls`)
  const counted = found.lengths ? `\n${describeLengthAuc(found.lengths)}\n` : ''
  return `${found.heldOut} held-out tasks\n\n${baselineTable(found)}\n${counted}`
}

async function annotationsOf(folder: string, forms: readonly string[], annotators: string): Promise<string> {
  const { signal } = new AbortController()
  return `${await addAnnotations(await openDataset(folder, await loadEnvironments(), { signal }), forms, annotators)}\n`
}

async function verifyPath(path: string): Promise<string> {
  const seedStates = createSeedStateCache(64)
  const { signal } = new AbortController()
  const environments = await loadEnvironments()
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
  const { examples, calls } = isFolder
    ? await verifyDataset(await openDataset(path, environments, { signal }), environments, seedStates, signal)
    : await verifyFile(path, environments, seedStates, signal)
  return `${countOf(examples, 'example')} with ${countOf(calls, 'call')}: every one comes out again as it is written\n`
}
