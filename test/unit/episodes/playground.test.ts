import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Task } from '../../../rollout/episode/index.js'
import { PAPER } from '../../../rollout/reward/index.js'
import { loadEnvironmentsIn } from '../../../servers/catalogue.js'
import { createTaskRuntime } from '../../../servers/episodes/episode-runtime.js'
import { argumentsOf, fieldsOf } from '../../../servers/episodes/playground/page/form-fields.js'
import { createHash, createHmac, hash } from '../../../servers/episodes/playground/page/shims/crypto.js'
import { openPlayedTask } from '../../../servers/episodes/playground/played-task.js'
import { publishable, readPublished } from '../../../servers/episodes/playground/published.js'
import { shippedTasks } from '../../../servers/episodes/playground/shipped-tasks.js'
import { playInTerminal } from '../../../servers/episodes/playground/terminal.js'
import { type Finding, verifyPublished } from '../../../servers/episodes/playground/verify-published.js'
import { CATALOGUE } from '../../support/catalogue.js'
import { checkout } from '../../support/checkout.js'
import { calling, saying } from '../../support/episodes.js'

const runtime = createTaskRuntime(CATALOGUE)
const tasks = await shippedTasks()
const named = (id: string): Task => tasks.find((task) => task.id === id)!
const lies = (findings: readonly Finding[]): unknown[] => [
  ...new Set(findings.flatMap(({ outcome, code }) => (outcome === 'failed' ? [code] : []))),
]

/** Plays a task as its ground truth does. */
async function solved(task: Task) {
  const played = await openPlayedTask(task, runtime, PAPER)
  for (const [turn] of task.turns.entries()) {
    for (const { name, arguments: args, turn: of } of task.groundTruth)
      if (of === turn) await played.act('A', calling(name, args))
    await played.act('A', saying('Done.'))
  }
  return played
}

test('every task of the playground is solvable, and every environment has one', async () => {
  for (const task of tasks) {
    const { episode } = (await solved(task)).branch('A')!
    assert.ok(episode.isOver, task.id)
    assert.ok(episode.score().solved, task.id)
  }
  // Other tests of this process may have let in worlds of their own.
  const shipped = await loadEnvironmentsIn(fileURLToPath(new URL('../../../servers', import.meta.url)))
  const played = new Set(tasks.flatMap(({ environments }) => environments.map(({ environment }) => environment)))
  assert.equal(
    [...shipped.keys()].filter((name) => !played.has(name)),
    [],
  )
})

const changing = tasks.find(
  ({ groundTruth, toolset, turns }) =>
    turns.length < 3 &&
    groundTruth.some(({ name }) => {
      const { environment } = toolset.find(({ tool }) => tool === name)!
      return !CATALOGUE.get(environment)!.toolsByName.get(name)!.annotations.readOnly
    }),
)!

test('a step shows exactly the changed rows, and a fork is independent', async () => {
  const played = await openPlayedTask(changing, runtime, PAPER)
  const steps = []
  for (const { name, arguments: args } of changing.groundTruth) {
    const { environment } = changing.toolset.find(({ tool }) => tool === name)!
    const step = await played.act('A', calling(name, args))
    assert.ok(step.reaction.results[0]!.ok)
    const { readOnly } = CATALOGUE.get(environment)!.toolsByName.get(name)!.annotations
    if (readOnly) assert.equal(step.changes, [], name)
    steps.push(step)
  }
  assert.ok(steps.some(({ changes }) => changes.length > 0))

  const other = played.fork('A')
  assert.equal(other.from, { branch: 'A', steps: steps.length })
  const before = played.compare('A', 'B')
  assert.equal([before.shared, before.changes], [steps.length, []])
  await played.act('B', calling('no_such_tool'))
  assert.is(played.branch('A')!.steps.length, steps.length)
  const { rewards, shared } = played.compare('A', 'B')
  assert.is(shared, steps.length)
  const [total] = rewards
  assert.ok(total!.one! > total!.other!, 'a call that nobody offered costs nothing')

  const empty = await openPlayedTask(changing, runtime, PAPER)
  empty.fork('A')
  for (const { name, arguments: args } of changing.groundTruth) await empty.act('A', calling(name, args))
  const changed = steps.flatMap(({ changes }) => changes.map(({ table, key }) => `${table} ${key}`))
  const apart = empty.compare('B', 'A').changes.map(({ table, key }) => `${table} ${key}`)
  assert.equal([...new Set(changed)].sort(), apart.sort())
})

test('verification passes a played rollout and fails each changed claim', async () => {
  const played = await solved(changing)
  const text = JSON.stringify(publishable(played.branch('A')!))
  const judged = async (change: object) => {
    const published = readPublished(JSON.stringify({ ...JSON.parse(text), ...change }), named)
    return lies((await verifyPublished(published, runtime)).findings)
  }
  assert.equal(await judged({}), [])
  const { total, stateHashes, results } = JSON.parse(text)
  assert.equal(await judged({ total: total + 1e-12 }), ['reward_mismatch'])
  assert.equal(await judged({ solved: false }), ['reward_mismatch'])
  const [environment] = Object.keys(stateHashes)
  assert.equal(await judged({ stateHashes: { ...stateHashes, [environment!]: '0'.repeat(64) } }), ['state_mismatch'])
  assert.equal(await judged({ results: results.with(0, { ...results[0], text: '{}' }) }), ['replay_mismatch'])
  assert.equal(await judged({ results: results.slice(1) }), ['replay_mismatch'])
  assert.equal(await judged({ task: changing.id, results: undefined }), [])
  for (const wrong of [
    '',
    '{',
    '[]',
    '{"task":1,"actions":[]}',
    JSON.stringify({ ...JSON.parse(text), preset: 'best' }),
  ])
    assert.throws(() => readPublished(wrong, named), /bad_request|bad_task/, wrong)
})

test('verification fails each forged group with its code and passes the honest group', async () => {
  const lines = (await readFile(join(checkout, 'servers/episodes/playground/attack-groups.jsonl'), 'utf8'))
    .trim()
    .split('\n')
  let honest = 0
  for (const line of lines) {
    const { caught, title } = JSON.parse(line)
    const { findings, rollouts, signer } = await verifyPublished(readPublished(line, named), runtime)
    assert.equal(lies(findings), caught, `${title}; worlds that were changed need scripts/attack-fixtures.mjs`)
    assert.ok(rollouts.some(({ calls }) => calls.length > 0))
    assert.is(signer === null, caught.includes('bad_signature'), title)
    honest += Number(caught.length === 0)
  }
  assert.is(honest, 1)
})

test('a form has a field for each argument of every tool, and converts the input to the type of the schema', () => {
  for (const { tools } of CATALOGUE.values())
    for (const { name, input } of tools) {
      const fields = fieldsOf({ properties: Object.fromEntries(Object.keys(input.shape).map((key) => [key, {}])) })
      assert.equal(
        fields.map((field) => field.name),
        Object.keys(input.shape),
        name,
      )
    }
  const fields = fieldsOf({
    properties: {
      to: { type: 'string', description: 'Who gets it.' },
      amount: { type: 'integer', minimum: 1 },
      kind: { type: 'string', enum: ['gift', 'rent'] },
      urgent: { type: 'boolean' },
      tags: { type: 'array', items: { type: 'string' } },
    },
    required: ['to', 'amount'],
  })
  assert.equal(
    fields.map(({ kind, required }) => [kind, required]),
    [
      ['text', true],
      ['number', true],
      ['choice', false],
      ['switch', false],
      ['json', false],
    ],
  )
  assert.is(fields[1]!.form, 'integer, minimum 1')
  const typed = (texts: Record<string, string>) => argumentsOf(fields, (name) => texts[name] ?? '')
  assert.equal(typed({ to: '12', amount: '3', kind: 'rent', urgent: 'true', tags: '["a"]' }), {
    arguments: { to: '12', amount: 3, kind: 'rent', urgent: true, tags: ['a'] },
  })
  assert.equal(typed({}), { arguments: {} })
  assert.equal(typed({ amount: 'three' }), { field: 'amount', problem: 'is not a number' })
  assert.equal(typed({ tags: 'a' }), { field: 'tags', problem: 'is not JSON' })
})

test('hashes in a browser equal those in Node.js', async () => {
  const node = await import('node:crypto')
  const text = 'Zoë owes 3 €'
  assert.is(hash('sha256', text), node.hash('sha256', text))
  assert.is(
    (hash('sha256', text, 'buffer') as { readUInt32LE(at: number): number } & Uint8Array).readUInt32LE(4),
    node.hash('sha256', text, 'buffer').readUInt32LE(4),
  )
  assert.is(
    createHash('sha256')
      .update(text)
      .update(new Uint8Array([1, 2]))
      .digest('hex'),
    node
      .createHash('sha256')
      .update(text)
      .update(new Uint8Array([1, 2]))
      .digest('hex'),
  )
  assert.equal(
    [...createHmac('sha256', 'key').update(text).digest()],
    [...node.createHmac('sha256', 'key').update(text).digest()],
  )
  assert.throws(() => createHash('md5'), /hash md5 is not available/)
})

test('a player plays a task in the terminal', async () => {
  let said = ''
  const at = tasks.indexOf(changing) + 1
  const [call] = changing.groundTruth
  const typed = [
    'solution',
    `open ${at}`,
    'fork',
    ...changing.groundTruth.map(({ name, arguments: args }) => `call ${name} ${JSON.stringify(args)}`),
    ...changing.turns.map(() => 'say Done.'),
    'say More.',
    'reward',
    'compare A',
    'go A',
    'write I try.',
    'call no_such_tool {}',
    'call x {',
    'dance',
    'quit',
    'reward',
  ]
  await playInTerminal({
    ...{ tasks, runtime, reward: PAPER },
    lines: (async function* () {
      yield* typed
    })(),
    write: (text) => {
      said += text
    },
  })
  for (const expected of [
    'no task is open',
    `tools: `,
    'now in B',
    `reward `,
    'the conversation is over',
    'the next call is sent with: I try.',
    'episode_over',
    ', solved',
    '0 common steps; B and A:',
    '{"error":"unknown_tool"',
    '{"error":"malformed_call"',
    'no command dance',
  ])
    assert.ok(said.includes(expected), expected)
  assert.ok(said.includes(call!.name))
  assert.ok(said.endsWith('A> '), 'it went on after quit')
})

test.run()
