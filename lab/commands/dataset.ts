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
  openDataset,
  readExamples,
  renderExample,
  renderOverview,
  SPLITS,
  verifyDataset,
  verifyFile,
} from '../../tasks/dataset/index.js'
import { explained } from '../rejected-candidates.js'

interface InspectOptions {
  task?: string
  index?: number
}

export function addDatasetCommand(program: Command): void {
  const dataset = program.command('dataset').description('Inspect, annotate and verify a data set')
  dataset
    .command('inspect')
    .description('Print statistics of a file of examples, or one example')
    .argument('<file>', '.jsonl file of a data set')
    .option('--task <id>', 'print the example whose task id begins with this text')
    .option('--index <number>', 'print the example with this index in the data set', integerOption(0, 0x7fffffff))
    .action(async (file: string, options: InspectOptions, command: Command) => {
      if (options.task !== undefined && options.index !== undefined)
        command.error('both --task and --index are given: remove one')
      print(await inspectFile(file, options))
    })
  dataset
    .command('sample')
    .description('Print a stratified sample of a file of examples for annotation by people')
    .argument('<file>', '.jsonl file of a data set')
    .requiredOption('--for-annotation', 'print an annotation form; docs/contribute/annotation.md says how to use it')
    .option('--examples <number>', 'number of examples', integerOption(1, 10_000), 120)
    .option('--seed <number>', 'seed of random choices, of the sample', integerOption(0, 0xffffffff), 0)
    .action(async (file: string, { examples, seed }: { examples: number; seed: number }) =>
      print(await annotationForm(examplesOf(file), examples, seed)),
    )
  dataset
    .command('annotations')
    .description('Write the verdicts of filled annotation forms into the data set card, in place of earlier ones')
    .argument('<folder>', 'folder of a data set')
    .argument('<forms...>', 'forms of `dataset sample --for-annotation`, each filled in by one annotator')
    .requiredOption(
      '--annotators <words>',
      'description of the annotators for the card, such as "two people who know the environments"',
    )
    .action(async (folder: string, forms: string[], { annotators }: { annotators: string }) =>
      print(await annotationsOf(folder, forms, annotators)),
    )
  dataset
    .command('baselines')
    .description('Predict the tools of held-out tasks by word matching, without a model')
    .argument('<folder>', 'folder of a data set')
    .action(async (folder: string) => print(await baselinesOf(folder)))
  withEnvironmentFolders(dataset.command('verify'))
    .description('Replay every example in fresh sessions and compare every byte')
    .argument('<path>', 'folder of a data set, or one of its .jsonl files')
    .action(async (path: string) => print(await verifyPath(path)))
  dataset
    .command('explain')
    .description('Describe why synthesis dropped a candidate, or what an objection drops and keeps')
    .argument(
      '[id]',
      'id of a dropped candidate, or name of an objection as in the data set card; all objections if omitted',
    )
    .option('--rejected <file>', 'file of the dropped candidates, as `synthesize --rejected` wrote it')
    .action(async (id: string | undefined, { rejected }: { rejected?: string }) => print(await explained(id, rejected)))
}

const print = (text: string): void => void process.stdout.write(text)

async function inspectFile(file: string, { task, index }: InspectOptions): Promise<string> {
  const examples = examplesOf(file)
  if (task === undefined && index === undefined) return renderOverview(examples)
  for await (const example of examples) {
    if (example.index === index || (task !== undefined && example.task.id.startsWith(task)))
      return renderExample(example)
  }
  const wanted = task === undefined ? `the index ${index}` : `a task ${task}`
  throw new DatasetError(
    'no_such_example',
    `${basename(file)} has no example with ${wanted}: run "prove-lab dataset inspect" without options for its statistics`,
  )
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
    throw new DatasetError(
      'no_such_example',
      `${folder}: the split held-out has no tasks with calls; name another data set`,
    )
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
  return `${countOf(examples, 'example')} with ${countOf(calls, 'call')}: all verified\n`
}
