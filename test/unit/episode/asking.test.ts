import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { asksFor, nameTask, parseTask, QUESTION_LIMITS, rulesNamed } from '../../../rollout/episode/index.js'
import { rewardPreset } from '../../../rollout/reward/index.js'
import { createTaskRuntime } from '../../../servers/episodes/episode-runtime.js'
import { openEpisode } from '../../../servers/episodes/play.js'
import { asking, READER } from '../../support/asking-task.js'
import { calling, saying } from '../../support/episodes.js'
import { library } from '../../support/library-environment.js'
import {
  AMPLE,
  groundTruthScript,
  lendingTask,
  play,
  runtimeOf,
  scriptTokenizer,
  writeCall,
} from '../../support/scripted.js'

const UNDERSTOOD: readonly (readonly [text: string, asks: boolean])[] = [
  ['Who is the reader?', true],
  ['Which readers do you mean?', true],
  ['One detail is missing: the reader. What should it be?', true],
  ['Please tell me the name.', true],
  ['I still need the reader for that.', true],
  ['What is the title?', false],
  ['Which detail do you need?', false],
  ['The reader has it now.', false],
  ['Is there anything else I can do for the reader?', false],
  ['Done.', false],
  ['', false],
  ['?', false],
  [`${'Is it the title, the place, the date or the price of '.repeat(6)}the reader?`, false],
  ['Whoever reads. May I?', false],
]
for (const [text, asks] of UNDERSTOOD) {
  test(`the rules find ${asks ? 'a question for the reader' : 'no question'} in: ${text.slice(0, 60)}`, () => {
    assert.is(asksFor(text, READER), asks)
  })
}

const lend = writeCall('lend_book', { book: 'emma', reader: 'Ada' })
const tokenizer = scriptTokenizer()
const runtime = runtimeOf([library], tokenizer, rulesNamed({ toolCallFormat: 'hermes', reward: 'outcome' }))
const said = (text: string, tokens: readonly number[]): boolean => tokenizer.detokenize([...tokens]).includes(text)

test('what was left out is said when it is asked for, and not before', async () => {
  const asked = await play(asking, ['Who is the reader?', lend, 'Done.'], runtime)
  assert.is(asked.reward.total, 1)
  assert.ok(said('To Ada.', asked.tokens))
  const unasked = await play(asking, ['Shall I?', 'Done.', 'All is well.'], runtime)
  assert.not.ok(said('To Ada.', unasked.tokens))
  assert.ok(said('Which detail do you need', unasked.tokens))
  assert.is(unasked.end, 'finished')
  assert.is(unasked.reward.total, 0)
})

test('a user who is asked late still answers, and the reward is whole: nothing was done wrong', async () => {
  const { reward, end } = await play(asking, ['Done.', 'Which reader should have it?', lend, 'Done.'], runtime)
  assert.is(end, 'finished')
  assert.is(reward.total, 1)
})

test('a call before the value is known is no part of what was asked for, under outcome', async () => {
  const early = await play(asking, [lend, 'Who is the reader?', 'Done.'], runtime)
  assert.ok(early.reward.total < 0, String(early.reward.total))
  const paper = runtimeOf([library], tokenizer, rulesNamed({ toolCallFormat: 'hermes', reward: 'paper' }))
  assert.is((await play(asking, [lend, 'Who is the reader?', 'Done.'], paper)).reward.total, 1.3)
})

test('a question within a call is no question', async () => {
  const hidden = writeCall('lend_book', { book: 'emma', reader: 'Who is the reader?' })
  const rollout = await play(asking, [hidden, 'Done.', 'Done.', 'Done.'], runtime)
  assert.not.ok(said('To Ada.', rollout.tokens))
})

test('the user leaves after asking back as often as the limit says', async () => {
  const mute = Array.from({ length: QUESTION_LIMITS.pleas + 1 }, () => 'Done.')
  const { end, responses } = await play(asking, mute, runtime, AMPLE)
  assert.is(end, 'finished')
  assert.equal(responses, [])
})

test('a task without questions continues after any message', async () => {
  const { end, tokens } = await play(lendingTask(), [lend, 'Hm.', 'Hm.'], runtime)
  assert.is(end, 'finished')
  assert.ok(said('Now take that loan back.', tokens))
})

test('the reference solution of a task asks the due question', async () => {
  assert.is((await play(asking, groundTruthScript(asking), runtime)).reward.total, 1)
})

test('an episode over the wire has the same user', async () => {
  const episode = await openEpisode(asking, {
    runtime: createTaskRuntime(new Map([['library', library]])),
    reward: rewardPreset('outcome'),
  })
  const tell = async (text: string) => (await episode.act(saying(text))).user
  assert.is(await tell('Done.'), 'Sorry, which detail do you need?')
  const copy = episode.fork()
  assert.is(await tell('Whose name is it?'), 'To Ada.')
  await episode.act(calling('lend_book', { book: 'emma', reader: 'Ada' }))
  assert.is(await tell('Done.'), null)
  assert.is(episode.score().total, 1)
  // The copy has asked back once as well.
  await copy.act(saying('No.'))
  assert.is((await copy.act(saying('No.'))).user, null)
  assert.ok(copy.isOver)
})

test('questions have bounds', () => {
  const { id: _, ...body } = asking
  const withWords = (words: readonly string[]) =>
    parseTask(nameTask({ ...body, questions: [{ turn: 0, words: [...words] }] }))
  const many = (count: number) => Array.from({ length: count }, (_, i) => `word ${i}`)
  assert.is(withWords(many(QUESTION_LIMITS.words)).questions![0]!.words.length, QUESTION_LIMITS.words)
  assert.throws(() => withWords(many(QUESTION_LIMITS.words + 1)))
  assert.ok(withWords(['a'.repeat(QUESTION_LIMITS.wordChars)]))
  assert.throws(() => withWords(['a'.repeat(QUESTION_LIMITS.wordChars + 1)]))
  assert.throws(() => withWords([]))
  assert.throws(() => withWords(['A.*']))
})

test.run()
