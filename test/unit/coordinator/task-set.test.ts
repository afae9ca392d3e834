import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ConfigError, parseConfig } from '../../../coordinator/settings/config.js'
import { readTaskSet } from '../../../coordinator/settings/task-set.js'
import { writeDemoTasks } from '../../support/demo-tasks.js'

const test = suite<{ folder: string; first: string; second: string }>('the tasks of a run')

test.before(async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'prove-task-set-'))
  const [first, second] = [join(folder, 'first'), join(folder, 'second')]
  await writeDemoTasks(first, 6, 0, undefined, ['banking'])
  await writeDemoTasks(second, 4, 0, undefined, ['calendar', 'banking'])
  Object.assign(context, { folder, first, second })
})
test.after(({ folder }) => rm(folder, { recursive: true, force: true }))

const sha256Of = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex')
const namesOf = ({ environments }: { environments: readonly { name: string }[] }): string[] =>
  environments.map(({ name }) => name)

test('tasks of one data set have the hash of its manifest', async ({ first }) => {
  const { datasetSha256, tasks } = await readTaskSet([first], 'train')
  assert.is(datasetSha256, sha256Of(await readFile(join(first, 'manifest.json'))))
  assert.is(tasks.length, 6)
})

test('several data sets follow each other, and their environments are joined', async ({ first, second }) => {
  const [one, other, both] = await Promise.all(
    [[first], [second], [first, second]].map((folders) => readTaskSet(folders, 'train')),
  )
  assert.equal(both!.tasks, [...one!.tasks, ...other!.tasks])
  assert.equal(namesOf(both!), ['banking', 'calendar'])
  assert.is(both!.datasetSha256, sha256Of(`${one!.datasetSha256}\n${other!.datasetSha256}\n`))
})

test('a limited number of tasks comes from all data sets in equal parts', async ({ first, second }) => {
  const limited = await readTaskSet([first, second], 'train', 5)
  const [one, other] = await Promise.all([readTaskSet([first], 'train', 3), readTaskSet([second], 'train', 2)])
  assert.equal(limited.tasks, [...one.tasks, ...other.tasks])
})

test('a folder that is no data set is named in the error', async ({ first, folder }) => {
  const missing = join(folder, 'missing')
  await readTaskSet([first, missing], 'train').then(
    () => assert.unreachable(),
    (error: unknown) => assert.ok(error instanceof ConfigError && error.message.startsWith(missing)),
  )
})

test('run.yaml names one data set or a list, relative to its folder', () => {
  const read = (dataset: string): readonly string[] =>
    parseConfig(
      `dataDir: data\nbase: { path: base.gguf, name: base }\ntasks: { dataset: ${dataset} }`,
      '/runs/first/run.yaml',
    ).tasks.dataset
  assert.equal(read('tasks'), ['/runs/first/tasks'])
  assert.equal(read('[new, ../known]'), ['/runs/first/new', '/runs/known'])
  for (const wrong of ['[]', '3', '[""]']) assert.throws(() => read(wrong), /tasks\.dataset/, wrong)
})

test.run()
