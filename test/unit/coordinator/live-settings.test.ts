import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { TrainEngine } from '../../../coordinator/jobs/train-engine.js'
import { parseConfig } from '../../../coordinator/settings/config.js'
import { configFields } from '../../../coordinator/settings/describe-fields.js'
import { withField } from '../../../coordinator/settings/edit-run-file.js'
import { LIVE_FIELDS, liveChanges } from '../../../coordinator/settings/live-fields.js'
import { createRunTrainer } from '../../../coordinator/versions/run-trainer.js'
import { checkout } from '../../support/checkout.js'
import { patience } from '../../support/patience.js'
import { CONFIGURATION } from '../../support/run-events.js'
import { runtimeOf } from '../../support/scripted.js'

const FILE = `# A run of ours.
dataDir: data
base:
  path: base.gguf # f16
  name: village-model
tasks:
  dataset: tasks
limits:
  # of a turn
  maxTurnTokens: 96
batchGroups: 16
`

const message = (work: () => unknown): string => {
  try {
    work()
  } catch (why) {
    return (why as Error).message
  }
  return ''
}

test('one field of a run.yaml is changed, and comments and all else stay as they are', () => {
  assert.is(withField(FILE, 'batchGroups', '8'), FILE.replace('batchGroups: 16', 'batchGroups: 8'))
  assert.is(withField(FILE, 'versions', '9'), `${FILE}versions: 9\n`)
  assert.is(withField(FILE, 'leases.perNode', '5'), `${FILE}leases: { perNode: 5 }\n`)
  const added = FILE.replace('  maxTurnTokens', '  maxRolloutTokens: 99\n  maxTurnTokens')
  assert.is(withField(FILE, 'limits.maxRolloutTokens', '99'), added)
  assert.is(withField('a: { b: 1 }', 'a.c', '2'), 'a: { c: 2, b: 1 }')
  assert.is(withField('a: { b: 1 }', 'a.b', '[1, 2]'), 'a: { b: [1, 2] }')
  const config = (field: string, value: string) => parseConfig(withField(FILE, field, value), '/run/run.yaml')
  assert.is(config('limits.maxTurnTokens', '200').limits.maxTurnTokens, 200)
  assert.is(config('leases.perNode', '5').leases.perNode, 5)
  assert.is(config('trainer.settings.optimizer.lr', '1e-4').trainer.settings.optimizer?.lr, 1e-4)
  assert.is(config('reward', 'outcome').reward, 'outcome')
  assert.match(withField(FILE, 'trainer.settings.optimizer.lr', '0.0001'), /# f16/)
  assert.match(
    message(() => withField(FILE, 'batchGroups', '[8')),
    /^batchGroups: /,
  )
  assert.match(
    message(() => withField(FILE, 'batchGroups.x', '8')),
    /^batchGroups\.x: /,
  )
  assert.match(
    message(() => withField('a: [', 'batchGroups', '8')),
    /^the file: /,
  )
  assert.match(
    message(() => config('batchGroup', '8')),
    /batchGroup/,
  )
})

test('the documents name the fields that may change while a coordinator runs, and each is a field', async () => {
  const text = await readFile(join(checkout, 'docs/reference/configuration.md'), 'utf8')
  const row = /^\| (`reward`, [^|]*)\|/m.exec(text)?.[1]
  assert.equal(
    [...(row ?? '').matchAll(/`([\w.]+)`/g)].map(([, field]) => field),
    [...LIVE_FIELDS],
  )
  const fields = configFields().map(({ path }) => path)
  for (const live of LIVE_FIELDS)
    assert.ok(
      live.startsWith('trainer.settings.') || fields.some((field) => field === live || field.startsWith(`${live}.`)),
      live,
    )
})

test('every field is either changed at once, or refused with what to do', () => {
  const before = parseConfig(FILE, '/run/run.yaml')
  const after = parseConfig(withField(withField(FILE, 'batchGroups', '8'), 'audit.probation', '3'), '/run/run.yaml')
  assert.equal(
    liveChanges(before, after).map(({ field, from, to }) => [field, from, to]),
    [
      ['batchGroups', '16', '8'],
      ['audit.probation', '20', '3'],
    ],
  )
  const why = (field: string, value: string): string =>
    message(() => liveChanges(before, parseConfig(withField(FILE, field, value), '/run/run.yaml')))
  for (const field of [
    'uploadKiB',
    'heldOut.tasks',
    'trainer.processes',
    'rounds.registrationMs',
    'manifestLifetimeMs',
  ])
    assert.match(why(field, '100'), /this needs a restart/)
  for (const field of ['dataDir', 'base.name', 'tasks.dataset'])
    assert.match(why(field, 'x'), /this cannot change within a run/)
})

test('the trainer restarts when its settings change, between batches, and at no other time', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'prove-run-trainer-'))
  const file = join(folder, 'trainer.json')
  const story: string[] = []
  const launch = (): TrainEngine => {
    const life = story.filter((what) => what.startsWith('launch')).length
    story.push(`launch ${life}`)
    return {
      start: async () => {
        story.push(`start ${life} lr ${JSON.parse(await readFile(file, 'utf8')).optimizer?.lr}`)
        return { step: 3 }
      },
      outcome: async () => ({ kind: 'trained', step: life }),
      close: async () => void story.push(`close ${life}`),
    }
  }
  const configurationAt = (lr: number) => ({ ...CONFIGURATION, training: { optimizer: { lr } } })
  try {
    const trainer = createRunTrainer({ file, tasks: [], runtime: runtimeOf(), launch })
    await trainer.settle(configurationAt(1), patience())
    await trainer.start(patience())
    await trainer.settle(configurationAt(1), patience())
    await trainer.settle({ ...configurationAt(1), batchGroups: 9 }, patience())
    assert.equal(story, ['launch 0', 'start 0 lr 1'])
    await trainer.settle(configurationAt(2), patience())
    assert.equal(story.slice(2), ['close 0', 'launch 1', 'start 1 lr 2'])
    assert.equal(await trainer.outcome('batch', patience()), { kind: 'trained', step: 1 })
    // A coordinator that ends meanwhile leaves no trainer behind.
    const ending = trainer.settle(configurationAt(3), AbortSignal.abort(new Error('the coordinator is closing')))
    assert.match(String(await ending.catch((why: unknown) => why)), /closing/)
    assert.equal(story.slice(5), ['close 1'])
  } finally {
    await rm(folder, { recursive: true })
  }
})

test.run()
