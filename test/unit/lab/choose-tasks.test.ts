import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { CodedError } from '../../../common/errors/index.js'
import { chooseTasks } from '../../../lab/evaluation/choose-tasks.js'
import { type PolicyOptions, policiesOf } from '../../../lab/evaluation/policy-specs.js'
import { openResultsJournal } from '../../../lab/evaluation/results-journal.js'
import { writeDataset } from '../../../tasks/dataset/index.js'
import { ownEnvironments } from '../../../tasks/dataset/statistics.js'
import { catalogue, info, makeExamples, stream } from '../../support/dataset-examples.js'
import { patience } from '../../support/patience.js'
import { stated } from '../../support/stated.js'

const test = suite<{ folder: string }>('choice of tasks and policies')

test.before(
  stated(async (context) => {
    context.folder = await mkdtemp(join(tmpdir(), 'prove-choice-'))
    const examples = makeExamples(60).map((example) => ({ ...example, split: 'held-out' as const }))
    await writeDataset(join(context.folder, 'tasks'), stream(examples), info, catalogue)
    for (const name of ['base', 'one', 'two']) await writeFile(join(context.folder, `${name}.gguf`), name)
  }),
)
test.after(({ folder }) => rm(folder, { recursive: true }))

const refusal = (work: Promise<unknown>): Promise<CodedError> =>
  work.then(
    () => assert.unreachable() as never,
    (error: CodedError) => error,
  )

test('a part of the tasks is spread evenly over the environments, and always the same', async ({ folder }) => {
  const dataset = join(folder, 'tasks')
  const choose = (limit: number) => chooseTasks(dataset, { split: 'held-out', limit }, patience())
  const all = await choose(1000)
  assert.is(all.tasks.length, 60)
  const ten = await choose(10)
  assert.equal((await choose(10)).tasks, ten.tasks)
  const counts = new Map<string, number>()
  for (const { task } of ten.tasks) {
    const [own] = ownEnvironments(task)
    counts.set(own!, (counts.get(own!) ?? 0) + 1)
  }
  assert.equal([...counts.values()], [2, 2, 2, 2, 2])
  const order = all.tasks.map(({ task }) => task.id)
  const places = ten.tasks.map(({ task }) => order.indexOf(task.id))
  assert.equal(
    places,
    [...places].sort((a, b) => a - b),
  )
  assert.equal([ten.dataset.name, ten.dataset.sha256.length], ['tasks', 64])
})

test('tasks are grouped by what they ask for', async ({ folder }) => {
  const { tasks } = await chooseTasks(join(folder, 'tasks'), { split: 'held-out', limit: 1000 }, patience())
  for (const { task, groups } of tasks) {
    assert.equal(groups.environment, [...ownEnvironments(task)])
    assert.equal([groups.kind, groups.calls], [[task.kind], [`${task.groundTruth.length}`]])
    assert.is(groups.recovery !== undefined, task.kind === 'multi-turn')
  }
  const seen = (by: 'kind' | 'recovery') => [...new Set(tasks.flatMap(({ groups }) => groups[by] ?? []))].sort()
  assert.equal(seen('kind'), ['abstention', 'clarification', 'multi-turn'])
  assert.equal(seen('recovery'), ['corrected', 'none'])
})

test('environments can be chosen, and a choice without tasks is rejected', async ({ folder }) => {
  const dataset = join(folder, 'tasks')
  const choose = (environments: readonly string[]) =>
    chooseTasks(dataset, { split: 'held-out', environments, limit: 1000 }, patience())
  const { tasks } = await choose(['maps', 'email'])
  assert.ok(tasks.length > 0)
  assert.ok(tasks.every(({ task }) => [...ownEnvironments(task)].every((name) => ['maps', 'email'].includes(name))))
  assert.match((await refusal(choose(['crm']))).message, /no_tasks.*no task of crm alone.*banking/)
  const empty = await refusal(chooseTasks(dataset, { split: 'train', limit: 9 }, patience()))
  assert.match(empty.message, /no_tasks.*the split train has no task: choose another with --split/)
})

const options: PolicyOptions = { base: true, urlTimeout: 60, apiKeyVar: 'NO_SUCH_VARIABLE' }

test('policies get their labels from the options or from their files', async ({ folder }) => {
  const at = (name: string): string => join(folder, `${name}.gguf`)
  const found = async (more: Partial<PolicyOptions>) =>
    (await policiesOf({ ...options, ...more }, patience())).map(({ kind, label }) => `${kind} ${label}`)
  assert.equal(await found({ model: at('base') }), ['base base'])
  assert.equal(await found({ model: `tiny=${at('base')}`, adapter: [at('one'), `second=${at('two')}`] }), [
    'base tiny',
    'adapter one',
    'adapter second',
  ])
  assert.equal(await found({ model: at('base'), base: false, adapter: [at('one')] }), ['adapter one'])
  const server = { url: 'http://127.0.0.1:9/v1', urlModel: ['a=some/model', 'other'] }
  assert.equal(await found({ merged: [at('two')], ...server }), ['merged two', 'endpoint a', 'endpoint other'])
})

test('options that name no policy, or two with one label, are rejected with what to type', async ({ folder }) => {
  const at = (name: string): string => join(folder, `${name}.gguf`)
  const refused = async (more: Partial<PolicyOptions>) =>
    (await refusal(policiesOf({ ...options, ...more }, patience()))).message
  assert.match(await refused({}), /no policy: give --model, --merged or --url/)
  assert.match(await refused({ adapter: [at('one')] }), /--adapter needs its base model/)
  assert.match(await refused({ model: at('base'), urlModel: ['x'] }), /--url-model needs its server/)
  assert.match(await refused({ model: at('base'), base: false }), /--no-base leaves out the base model/)
  assert.match(
    await refused({ model: at('base'), adapter: [at('one'), at('one')] }),
    /two policies have the label one: name them, such as first=one/,
  )
})

test('results of another backend do not mix, and the finished file does not depend on who was first', async ({
  folder,
}) => {
  const file = join(folder, 'results.jsonl')
  const played = [{ rewards: { paper: 1 }, failure: null, calls: 2 }]
  const first = await openResultsJournal(file, { seed: 1 })
  await first.setBackend(1, 'cpu@1')
  await first.add({ policy: 1, from: 2, played })
  const again = await openResultsJournal(file, { seed: 1 })
  assert.equal([again.backendOf(1), again.backendOf(0), again.results.length], ['cpu@1', undefined, 1])
  assert.match((await refusal(again.setBackend(1, 'cuda@1'))).message, /other_work.*cpu@1.*cuda@1.*--out/)
  await again.setBackend(0, 'cpu@1')
  await again.add({ policy: 0, from: 2, played })
  await again.add({ policy: 0, from: 0, played })
  await again.finish()
  assert.equal(
    (await openResultsJournal(file, { seed: 1 })).results.map(({ policy, from }) => [policy, from]),
    [
      [0, 0],
      [0, 2],
      [1, 2],
    ],
  )
  assert.match((await refusal(openResultsJournal(file, { seed: 2 }))).message, /other_work/)
})

test.run()
