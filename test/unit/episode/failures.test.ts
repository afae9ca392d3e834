import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { FAILURE_CLASSES, type FailureClass, failureOf } from '../../../rollout/reward/index.js'
import { groundTruthScript, lendingTask, play, runtimeOf, writeCall } from '../../support/scripted.js'

/** Ada borrows a book in the first turn and returns it in the second. */
const task = lendingTask()
const runtime = runtimeOf()
const [lend, , giveBack] = groundTruthScript(task) as [string, string, string]
const list = writeCall('list_books', {})

/** Plays a real episode and returns the class of its failure. */
const classOf = async (script: readonly string[], played = task): Promise<FailureClass | null> => {
  const { calls, solved } = await play(played, script, runtime)
  const failure = failureOf(played.groundTruth, calls)
  assert.is(failure === null, solved)
  return failure
}

test('a rollout that solved its task has no class, also with further calls', async () => {
  assert.is(await classOf(groundTruthScript(task)), null)
  assert.is(await classOf([list, lend, 'Done.', list, giveBack, 'Done.']), null)
})

const CLASSES: readonly [FailureClass, string, readonly string[]][] = [
  ['no_call', 'only messages', ['Done.', 'Done.']],
  ['unreadable', 'a call that is not JSON', ['<tool_call>{"name": lend</tool_call>', 'Sorry.', 'Done.']],
  ['unreadable', 'a look-up, then a call that is not JSON', [list, '<tool_call>lend</tool_call>', 'Sorry.', 'Done.']],
  ['wrong_tool', 'another tool', [list, 'Done.', 'Done.']],
  ['wrong_tool', 'a tool that does not exist', [writeCall('sell_book', { book: 'emma' }), 'Done.', 'Done.']],
  ['wrong_tool', 'a right call, then another tool', [lend, 'Done.', list, 'Done.']],
  ['wrong_arguments', 'another reader', [writeCall('lend_book', { book: 'emma', reader: 'Bo' }), 'Done.', 'Done.']],
  [
    'wrong_arguments',
    'one argument too many',
    [writeCall('lend_book', { book: 'emma', reader: 'Ada', weeks: 2 }), 'Done.', 'Done.'],
  ],
  [
    'wrong_arguments',
    'a call that is not JSON, then an unknown loan',
    [lend, 'Done.', '<tool_call>return</tool_call>', writeCall('return_book', { loan: 'nothing' }), 'Done.'],
  ],
  ['stopped_early', 'the first call only', [lend, 'Done.', 'Done.']],
  ['extra_calls', 'the first call again and again', [lend, lend, 'Done.', lend, 'Done.']],
]

for (const [expected, what, script] of CLASSES)
  test(`${expected}: ${what}`, async () => {
    assert.is(await classOf(script), expected)
  })

test('wrong_order: all calls, but not in the order of the ground truth', async () => {
  const both = lendingTask({
    turns: ['Lend emma to Ada, and walden to Bo.'],
    groundTruth: ['emma', 'walden'].map((book, i) => ({
      ...{ name: 'lend_book', arguments: { book, reader: ['Ada', 'Bo'][i]! }, after: [], turn: 0 },
    })),
  })
  const [first, second] = groundTruthScript(both) as [string, string]
  assert.is(await classOf([first, second, 'Done.'], both), null)
  assert.is(await classOf([second, first, 'Done.'], both), 'wrong_order')
})

test('extra_calls: any call where none is right, and a right call that fails because of another one', async () => {
  const none = lendingTask({ kind: 'abstention', turns: ['Sing a song.'], groundTruth: [] })
  assert.is(await classOf(['I cannot sing.'], none), null)
  assert.is(await classOf([list, 'I cannot sing.'], none), 'extra_calls')
  const afterLook = lendingTask({
    turns: ['Which books are there?', 'Lend emma to Ada.'],
    groundTruth: [
      { name: 'list_books', arguments: {}, after: [], turn: 0 },
      { ...lendingTask().groundTruth[0]!, turn: 1 },
    ],
  })
  const toBo = writeCall('lend_book', { book: 'emma', reader: 'Bo' })
  assert.is(await classOf([list, 'Done.', lend, 'Done.'], afterLook), null)
  assert.is(await classOf([toBo, list, 'Done.', lend, 'It is lent.'], afterLook), 'extra_calls')
})

test('a tool of a later turn is a wrong tool', async () => {
  const brought = lendingTask({
    toolset: [
      { environment: 'library', tool: 'list_books' },
      { environment: 'library', tool: 'return_book' },
      { environment: 'library', tool: 'lend_book', from: 1 },
    ],
    groundTruth: [{ ...lendingTask().groundTruth[0]!, turn: 1 }],
  })
  assert.is(await classOf([lend, 'Done.', 'Done.'], brought), 'wrong_tool')
})

test('every class has a test', () => {
  const tested = new Set<string>([...CLASSES.map(([name]) => name), 'wrong_order', 'extra_calls'])
  assert.equal(
    FAILURE_CLASSES.filter((name) => !tested.has(name)),
    [],
  )
})

test.run()
