import { resolve } from 'node:path'
import type { Command } from 'commander'
import { integerOption, interruptible } from '../../common/cli/index.js'
import { REWARD_PRESETS } from '../../rollout/reward/index.js'
import { loadEnvironments } from '../../servers/catalogue.js'
import { createTaskRuntime } from '../../servers/episodes/index.js'
import { DatasetError, type Example, markdownTable, openDataset, percent } from '../../tasks/dataset/index.js'
import { type Probed, type ProbeResult, probe } from '../probe.js'

interface ProbeOptions {
  dataset: string
  tasks: number
  json: boolean
}

export function addProbeCommand(program: Command): void {
  program
    .command('probe')
    .description('Play held-out tasks with right, wrong and exploiting scripts, and compare the rewards')
    .requiredOption('--dataset <folder>', 'data set, with the held-out tasks')
    .option('--tasks <number>', 'largest number of tasks, all held-out', integerOption(1, 100_000), 200)
    .option('--json', 'print JSON on stdout', false)
    .action(run)
}

const run = ({ json, ...options }: ProbeOptions): Promise<void> =>
  interruptible('', async (signal) => {
    const found = await probed(options, signal)
    process.stdout.write(`${json ? JSON.stringify(found) : tables(found)}\n`)
  })

async function probed({ dataset, tasks }: Omit<ProbeOptions, 'json'>, signal: AbortSignal): Promise<Probed> {
  const environments = await loadEnvironments()
  const { examples } = await openDataset(resolve(dataset), environments, { splits: ['held-out'], signal })
  const found = await probe(first(examples('held-out'), tasks), createTaskRuntime(environments), signal)
  if (found.tasks === 0)
    throw new DatasetError(
      'no_such_example',
      `${dataset}: the split held-out is empty; name a data set with held-out tasks`,
    )
  return found
}

async function* first(examples: AsyncIterable<Example>, count: number): AsyncGenerator<Example> {
  let left = count
  for await (const example of examples) {
    if (left-- <= 0) return
    yield example
  }
}

/** Returns the tables in Markdown, as in docs/explain/reward.md. */
export function tables({ tasks, results, rankings }: Probed): string {
  const presets = [...REWARD_PRESETS.keys()]
  const share = (value: number): string => (Number.isNaN(value) ? '-' : percent(value))
  const area = (value: number): string => (Number.isNaN(value) ? '-' : value.toFixed(3))
  const isFalsePass = ({ kind }: ProbeResult): boolean => kind === 'false-pass'
  return [
    `${tasks} held-out tasks. Mean share of the maximum reward, and share of the tasks with the maximum.`,
    '',
    markdownTable(
      ['probe', 'tasks', ...presets.flatMap((name) => [`\`${name}\``, 'in full']), 'solved exactly'],
      results
        .filter((result) => !isFalsePass(result))
        .map(({ name, tasks: own, earned, full, solved }) => [
          name,
          String(own),
          ...presets.flatMap((preset) => [share(earned[preset]!), share(full[preset]!)]),
          share(solved),
        ]),
    ),
    '',
    'Strategies that do not do the task, on the tasks that need calls. Mean and largest share of the maximum reward:',
    '',
    markdownTable(
      ['strategy', 'tasks', ...presets.flatMap((name) => [`\`${name}\``, 'largest']), 'solved exactly'],
      results
        .filter(isFalsePass)
        .map(({ name, tasks: own, earned, largest, solved }) => [
          name,
          String(own),
          ...presets.flatMap((preset) => [share(earned[preset]!), share(largest[preset]!)]),
          share(solved),
        ]),
    ),
    '',
    'Ranking of right probes above wrong ones (area under the curve; ½ is chance):',
    '',
    markdownTable(
      ['reward', 'over all tasks', 'within a task'],
      presets.map((name) => [`\`${name}\``, area(rankings[name]!.over), area(rankings[name]!.within)]),
    ),
  ].join('\n')
}
