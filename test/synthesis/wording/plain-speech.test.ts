import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { CLOSING } from '../../../rollout/episode/index.js'
import { seededRandom } from '../../../servers/kernel/index.js'
import { diversity } from '../../../tasks/dataset/diversity.js'
import { naturalSpeech, type Speech } from '../../../tasks/synthesis/wording/natural-speech.js'
import { plainSpeech } from '../../../tasks/synthesis/wording/plain-speech.js'
import { denotes } from '../../../tasks/synthesis/wording/value-meaning.js'
import { momentOf, referring, samples, spelledOut, TODAY } from '../../support/speech-samples.js'

const test = suite('plain speech')
const SAMPLES = samples(6)

test('asks in the few words that the demo model knows', () => {
  const openings = new Set<string>()
  for (const [i, sample] of SAMPLES.entries()) {
    const said = plainSpeech.request([spelledOut(sample)], momentOf(i))
    assert.ok(said, sample.tool.name)
    openings.add(/^(Please|Can you|I need you to|Could you|Hi, please)?/.exec(said.text)![0])
    for (const [field, phrase] of said.phrases[0]!) {
      assert.ok(said.text.includes(phrase))
      assert.ok(denotes(phrase, sample.args[field]!, TODAY))
    }
    assert.match(said.text, /[.?]$/)
  }
  assert.equal([...openings].sort(), ['', 'Can you', 'Could you', 'Hi, please', 'I need you to', 'Please'])
})

test('knows three kinds of reference and is silent about the others', () => {
  const card = SAMPLES.find(({ tool }) => tool.name === 'freeze_card')!
  const ask = (way: Parameters<typeof wayOf>[0]) =>
    plainSpeech.request([{ ...spelledOut(card), references: wayOf(way) }], momentOf(1))?.text
  const wayOf = (way: Record<string, unknown>) => new Map([['card', { noun: 'card', ...way } as never]])
  assert.match(ask({ how: 'only' })!, /that card|the card from the result/)
  assert.match(ask({ how: 'label', label: 'Blue Visa' })!, /the card "Blue Visa"/)
  assert.match(ask({ how: 'place', place: 1, of: 3 })!, /the first card/)
  assert.is(ask({ how: 'place', place: 2, of: 3 }), undefined)
  assert.is(ask({ how: 'extreme', field: 'limit', most: 'lowest' }), undefined)
})

test('closes as the demo model was taught to', () => {
  assert.is(plainSpeech.report([], momentOf(1)), CLOSING)
})

/** 2,000 requests for the same 40 calls, 50 times each. */
const requestsOf = (speech: Speech): string[] => {
  const calls = SAMPLES.filter((_, i) => i % Math.floor(SAMPLES.length / 40) === 0).slice(0, 40)
  return Array.from({ length: 2000 }, (_, i) => speech.request([spelledOut(calls[i % 40]!)], momentOf(i, i % 2))!.text)
}

test('is far less varied than natural speech about the same calls', () => {
  const [plain, natural] = [diversity(requestsOf(plainSpeech)), diversity(requestsOf(naturalSpeech))]
  if (process.env.PRINT_DIVERSITY) console.log({ plain, natural })
  assert.ok(natural.distinct2 > 1.5 * plain.distinct2, JSON.stringify({ plain, natural }))
  assert.ok(natural.distinct3 > 1.5 * plain.distinct3, JSON.stringify({ plain, natural }))
  assert.ok(natural.openings < plain.openings / 2, JSON.stringify({ plain, natural }))
  assert.ok(natural.selfSimilarity < plain.selfSimilarity, JSON.stringify({ plain, natural }))
})

test('natural speech about the calls of all tools stays varied', () => {
  // All samples in their order: a stride that divides their number would leave most of them out.
  const texts = Array.from({ length: 2000 }, (_, i) => {
    const ask = referring(SAMPLES[Math.floor((i * SAMPLES.length) / 2000)]!, seededRandom(i))
    return naturalSpeech.request([ask], momentOf(i, i % 2))?.text ?? ''
  })
  const natural = diversity(texts.filter((text) => text !== ''))
  if (process.env.PRINT_DIVERSITY) console.log({ natural })
  assert.ok(natural.distinct2 > 0.49 && natural.distinct3 > 0.7, JSON.stringify(natural))
  assert.ok(natural.openings < 0.03 && natural.selfSimilarity < 0.02, JSON.stringify(natural))
})

test('has no diversity without texts, none in one text many times, and all in unrelated ones', () => {
  assert.is(diversity([]).distinct1, 0)
  const same = diversity(Array.from({ length: 50 }, () => 'please freeze the blue card'))
  assert.is(same.selfSimilarity, 1)
  assert.is(same.openings, 1)
  assert.is(same.distinct2, 4 / 200)
  const apart = diversity(['one two three four', 'five six seven eight'])
  assert.is(apart.selfSimilarity, 0)
  assert.is(apart.distinct3, 1)
})

test.run()
