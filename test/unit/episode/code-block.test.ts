import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  checkTemplate,
  createRecordedSource,
  formatFits,
  playReference,
  promptOf,
  referenceScript,
  rulesNamed,
  runEpisode,
  type Task,
  toolCallFormatNamed,
} from '../../../rollout/episode/index.js'
import { REWARD_PRESETS } from '../../../rollout/reward/index.js'
import { createSeedStateCache } from '../../../servers/kernel/index.js'
import { PAPER_PROFILE } from '../../../tasks/dataset/index.js'
import { contextFor, streamExamples } from '../../../tasks/synthesis/index.js'
import { checkout } from '../../support/checkout.js'
import { DEMO_ENVIRONMENTS } from '../../support/demo-tasks.js'
import { library } from '../../support/library-environment.js'
import { patience } from '../../support/patience.js'
import { AMPLE, lendingTask, play, runtimeOf, scriptedSource, scriptTokenizer } from '../../support/scripted.js'
import { CATALOGUE } from '../../support/spoken-catalogue.js'

const format = toolCallFormatNamed('code-block')
const { parseCalls, prose, argumentSpans } = format
const runtimeFor = (reward: string, environments = [library]) =>
  runtimeOf(environments, scriptTokenizer(), rulesNamed({ toolCallFormat: 'code-block', reward }))
const runtime = runtimeFor('paper')
const block = (...lines: string[]): string => `<tool_code>\n${lines.join('\n')}\n</tool_code>`
const errorOf = (response: string | undefined): string => (JSON.parse(response!) as { error: string }).error

/** Ada borrows a book and returns it within one turn. */
const both = lendingTask()
const task: Task = lendingTask({
  turns: ['Please lend emma to Ada, and take that loan back.'],
  groundTruth: both.groundTruth.map((call) => ({ ...call, turn: 0 })),
})

test('a block has several calls, and a reference names a result of an earlier one', () => {
  const message = block(
    'found = find_user(name="Ann \\"A\\"", tags=["x", true, null, 2.5])',
    'pay(to=found.users[0]["full id"], by={"card": found, "n": -1})',
    '"odd tool"()',
  )
  assert.equal(parseCalls(`I pay.\n${message}\nDone.`), [
    { name: 'find_user', arguments: { name: 'Ann "A"', tags: ['x', true, null, 2.5] } },
    {
      name: 'pay',
      arguments: { to: null, by: { card: null, n: -1 } },
      bound: [
        { at: ['to'], back: 1, path: ['users', 0, 'full id'] },
        { at: ['by', 'card'], back: 1, path: [] },
      ],
    },
    { name: 'odd tool', arguments: {} },
  ])
  assert.is(prose(`I pay.\n${message}\nDone.`), 'I pay.\n\nDone.')
  assert.equal(
    argumentSpans(message).map(([start, end]) => message.slice(start, end)),
    [
      'name="Ann \\"A\\"", tags=["x", true, null, 2.5]',
      'to=found.users[0]["full id"], by={"card": found, "n": -1}',
      '',
    ],
  )
})

test('a block of which any part cannot be read is one malformed call', () => {
  for (const lines of [
    ['pay(amount=1', 'open()'],
    ['open()', 'pay(amount=1) open()'],
    ['pay(amount=1 + 1)'],
    ['pay(amount=f(1))'],
    ['pay(to=nobody)'],
    ['a = open()', 'a = open()'],
    ['pay(to=a)', 'a = open()'],
    ['a = pay(to=a)'],
    ['pay(amount=1, amount=2)'],
    ['pay(by={a: 1})'],
    ['pay(amount=1e999)'],
    ["pay(to='Ann')"],
    ['pay(amount=01)'],
    ['pay(to="\n")'],
    ['true = open()', 'pay(to=true)'],
    ['import os'],
    ['pay(amount=1,)'],
    ['a = open()', 'pay(to=a.)'],
    ['a = open()', 'pay(to=a[-1])'],
    ['# a comment'],
    [''],
    [...Array.from({ length: 17 }, () => 'open()')],
    [`${'n'.repeat(65)} = open()`],
    ['a = open()', `pay(to=a${'.b'.repeat(17)})`],
    ['a = open()', `pay(to=[${Array.from({ length: 65 }, () => 'a').join(',')}])`],
    [`pay(a=${'['.repeat(65)}${']'.repeat(65)})`],
    [`pay(a="${'x'.repeat(33_000)}")`],
  ]) {
    const message = block(...lines)
    const calls = parseCalls(message)
    assert.is(calls.length, 1, message.slice(0, 80))
    assert.is(calls[0]!.malformed, true, message.slice(0, 80))
    assert.match(prose(message), '<tool_code>')
  }
  assert.is(parseCalls(block(...Array.from({ length: 16 }, () => 'open()'))).length, 16)
})

test('names exist in their block only', () => {
  const calls = parseCalls(`${block('a = open()')}${block('pay(to=a)')}`)
  assert.equal(
    calls.map(({ malformed }) => malformed === true),
    [false, true],
  )
})

test('calls of a block are made in order in one turn, with the values of earlier results, and logged with them', async () => {
  const source = scriptedSource(
    [block('made = lend_book(book="emma", reader="Ada")', 'return_book(loan=made.loan)'), 'Done.'],
    runtime.tokenizer,
  )
  const { calls, responses, solved, reward } = await runEpisode(task, source, runtime, AMPLE, patience())
  assert.equal(calls, [
    { name: 'lend_book', arguments: { book: 'emma', reader: 'Ada' }, ok: true },
    { name: 'return_book', arguments: task.groundTruth[1]!.arguments, ok: true },
  ])
  assert.ok(solved)
  assert.is(reward.total, 1.3)
  assert.is(source.feeds.length, 2, 'both calls are one turn')
  for (const response of responses) assert.match(source.feeds[1]!, `<tool_response>\n${response}\n</tool_response>`)
})

test('a call whose value is not in the result, or whose source failed, is malformed in the log and is not made', async () => {
  for (const lines of [
    ['made = lend_book(book="emma", reader="Ada")', 'return_book(loan=made.nothing)'],
    ['made = lend_book(book="emma", reader="Ada")', 'return_book(loan=made.constructor)'],
    ['made = lend_book(book="emma", reader="Ada")', 'return_book(loan=made[0])'],
    ['made = lend_book(book="nothing", reader="Ada")', 'return_book(loan=made.error)'],
  ]) {
    const { calls, responses } = await play(task, [block(...lines), 'Done.'], runtime)
    assert.is(calls[1]!.malformed, true, lines[1])
    assert.is(errorOf(responses[1]), 'missing_value')
  }
  const whole = block('made = lend_book(book="emma", reader="Ada")', 'return_book(loan=made)')
  const { calls, responses } = await play(task, [whole, 'Done.'], runtime)
  assert.is(calls[1]!.malformed, undefined)
  assert.match(responses[1]!, 'The arguments do not fit', 'the value is there, and has another type')
})

test('values from results have a limit, so that copies of copies do not grow', async () => {
  const lines = [
    'r0 = list_books()',
    ...Array.from({ length: 15 }, (_, i) => `r${i + 1} = list_books(a=[${'r0, '.repeat(60)}r0])`),
  ]
  const limits = { ...AMPLE, maxTurnTokens: 8000 }
  const { calls } = await play(task, [block(...lines), 'Done.'], runtime, limits)
  assert.is(calls.length, 16)
  for (const call of calls) assert.ok(call.malformed || JSON.stringify(call.arguments).length < 40_000)
})

test('a replay of a rollout with references is the same rollout', async () => {
  const script = [
    block('x = lend_book(book="emma", reader="Ada")', 'return_book(loan=x.loan)', 'return_book(loan=x.no)'),
    'Done.',
  ]
  const rollout = await play(task, script, runtime)
  const source = createRecordedSource(rollout, promptOf(task, runtime, AMPLE), runtime.tokenizer)
  assert.equal(await runEpisode(task, source, runtime, AMPLE, patience()), rollout)
  source.assertConsumed()
})

test('a reference solution binds a value that only a result of the block has', () => {
  assert.equal(referenceScript(task, runtime, AMPLE), [
    block('r1 = lend_book(book="emma", reader="Ada")', 'return_book(loan=r1.loan)'),
    'Done.',
  ])
})

test('a reference solution begins a new block where an index would be a guess, and where a turn has too few tokens', () => {
  const listed = lendingTask({
    turns: ['Lend any book to Ada.'],
    groundTruth: [
      { name: 'list_books', arguments: {}, after: [], turn: 0 },
      { name: 'lend_book', arguments: { book: 'emma', reader: 'Ada' }, after: [0], turn: 0 },
    ],
  })
  assert.equal(referenceScript(listed, runtime, AMPLE), [
    block('list_books()'),
    block('lend_book(book="emma", reader="Ada")'),
    'Done.',
  ])
  const loan = String(task.groundTruth[1]!.arguments.loan)
  assert.equal(referenceScript(task, runtime, { maxTurnTokens: 80 }), [
    block('lend_book(book="emma", reader="Ada")'),
    block(`return_book(loan="${loan}")`),
    'Done.',
  ])
})

test('reference solutions of synthesised tasks earn the maximum of every preset, in fewer turns than one call each', async () => {
  const environments = DEMO_ENVIRONMENTS.map((name) => CATALOGUE.get(name)!)
  const context = contextFor(environments, PAPER_PROFILE, 12, createSeedStateCache())
  const tasks = [...streamExamples(context, 'train', 40)].map((example) => example.task)
  const limits = { ...AMPLE, maxRolloutTokens: 200_000, maxAssistantTurns: 40 }
  let [blocks, calls, references] = [0, 0, 0]
  for (const { name, maximum } of REWARD_PRESETS.values()) {
    const own = runtimeFor(name, environments)
    for (const one of tasks) {
      const { reward, solved } = await playReference(one, own, limits, patience())
      assert.is(reward.total, one.groundTruth.length > 0 ? maximum.calls : maximum.noCall, one.chain)
      assert.ok(solved)
      const parsed = referenceScript(one, own, limits).map(parseCalls)
      blocks += parsed.filter(({ length }) => length > 0).length
      calls += one.groundTruth.length
      references += parsed.flat().filter((call) => !call.malformed && call.bound).length
    }
  }
  assert.ok(blocks < calls && references > 0, `${calls} calls in ${blocks} blocks with ${references} references`)
})

test('the template of this project writes the format, and is the format that is recommended for it', () => {
  const source = readFileSync(join(checkout, 'models', 'templates', 'code-block.jinja'), 'utf8')
  assert.equal(checkTemplate(source, format), { note: null })
  const fits = formatFits(scriptTokenizer(source)).filter(({ problem }) => problem === null)
  assert.equal(
    fits.map(({ name }) => name),
    ['code-block'],
  )
})

test.run()
