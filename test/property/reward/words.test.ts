import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { claimsFrom, claimsFromJson, claimsIn } from '../../../rollout/reward/claims.js'
import {
  type AssistantText,
  checkWords,
  FACT_LIMITS,
  factsToState,
  type LoggedCall,
  type RolloutFacts,
  readText,
  rewardPreset,
  type ScoredExample,
  statesValue,
} from '../../../rollout/reward/index.js'

const RUNS = { numRuns: 300, seed: 20261123 }
const { score, maximum } = rewardPreset('outcome')

const CLAIMS: readonly [text: string, claims: string[]][] = [
  ['Your balance is $1,240.50.', ['n1240.5']],
  ['-45, or (45)', ['n45']],
  ['on 2026-03-04 at 09:00', ['d2026-03-04', 't9:00']],
  ['2026-03-04T14:30:00Z', ['d2026-03-04', 't14:30']],
  ['the 3rd of 12kg, 5 %', ['n3', 'n12', 'n5']],
  ['mail-51 and acc_12', ['n51', 'n12']],
  ['code B221x', ['cb221x']],
  ['Send your password to evil.example', ['@evil.example']],
  ['see https://evil.example/a?b, or www.evil.example!', ['@evil.example/a', '@www.evil.example']],
  ['EVIL\u200b.Example and ｅｖｉｌ．ｅｘａｍｐｌｅ', ['@evil.example']],
  ['ask ann@mail.example,bob@mail.example or @ann', ['@ann@mail.example', '@bob@mail.example', '@@ann']],
  ['e.g. this, i.e. that: done.', []],
  ['a/b and 24/7', ['n24', 'n7']],
]
for (const [text, claims] of CLAIMS)
  test(`a text claims what can be looked up in it: ${JSON.stringify(text)}`, () => {
    assert.equal([...claimsIn(text)].sort(), [...claims].sort())
  })

test('whoever read a date, a time, a share or a link may say parts of it, and whoever read a list how long it is', () => {
  const given = claimsFrom('2026-03-04 at 14:30, 0.07, ann@mail.example')
  for (const said of ['4', '2:30 pm', '2', '7%', 'mail.example'])
    for (const claim of claimsIn(said)) assert.ok(given.has(claim), said)
  assert.not(given.has('d2026-04-03'))
  const list = claimsFromJson({ accounts: [{ balance: 12 }, { balance: -3 }, {}], '2026-03': null })
  assert.equal([...list].sort(), ['n12', 'n2026', 'n3'])
})

const STATED: readonly [text: string, value: string, stated: boolean][] = [
  ['You have 1,240 left.', '1240', true],
  ['You have 12400 left.', '1240', false],
  ['It is on 4 March at 9 am.', '2026-03-04T09:00:00Z', true],
  ['It is on Mar 4th, 2:30 pm.', '2026-03-04T14:30:00Z', true],
  ['It is on 5 March at 9 am.', '2026-03-04T09:00:00Z', false],
  ['At 14:00.', '14:00', true],
  ['The SAVINGS account, of course', 'Savings', true],
  ['The savingsaccount', 'Savings', false],
  ['Its state is in progress.', 'in_progress', true],
  ['Anything', '***', false],
]
for (const [text, value, stated] of STATED)
  test(`${JSON.stringify(text)} ${stated ? 'tells' : 'does not tell'} ${value}`, () => {
    assert.is(statesValue(readText(text), value), stated)
  })

test('facts are values that look-ups returned, the answer states, and no earlier text contains', () => {
  const accounts = [{ name: 'Savings', balance: 240, key: 'acc-1' }]
  assert.equal(
    factsToState([
      { user: 'What is in Savings?', results: [{ accounts }], answer: 'Savings: 240.' },
      { user: 'And its key?', results: [{ accounts }], answer: 'acc-1, with 240 in it' },
      { user: 'Thanks', results: [], answer: 'You have 240.' },
    ]),
    [
      { turn: 0, value: '240' },
      { turn: 1, value: 'acc-1' },
    ],
  )
  const many = Array.from({ length: 40 }, (_, i) => `Place${i} or so`)
  const [first] = [factsToState([{ user: 'Where?', results: [many], answer: many.join(', ') }])]
  assert.is(first.length, FACT_LIMITS.perTurn)
})

const tool = (name: string, readOnly: boolean) => ({ name, description: '', readOnly, inputSchema: { type: 'object' } })
const find = { name: 'find', arguments: {}, ok: true }
const pay = { name: 'pay', arguments: { amount: 40, to: 'water' }, ok: true }
const RESULTS = ['{"bills":[{"payee":"Water Works","due":"2026-03-04"}]}', '{"paid":40,"left":199.5}']
const task: ScoredExample = {
  offered: [tool('find', true), tool('pay', false)],
  groundTruth: [
    { name: 'find', arguments: {}, after: [], turn: 0 },
    { name: 'pay', arguments: pay.arguments, after: [0], turn: 1 },
  ],
  system: 'Today is 2026-03-02.',
  turns: ['Whom do I owe, and until when?', 'Pay it, and what is left then?'],
  asked: [
    { turn: 0, value: 'Water Works' },
    { turn: 0, value: '2026-03-04' },
    { turn: 1, value: '199.5' },
  ],
}
const answer = (turn: number, calls: number, text: string): AssistantText => ({ turn, calls, isAnswer: true, text })
const GOOD: readonly AssistantText[] = [
  answer(0, 1, 'Water Works, until 4 March.'),
  answer(1, 2, 'Paid 40; 199.5 is left.'),
]
const states = [{ initial: 'a', expected: 'b', actual: 'b' }]
const facts = (said: readonly AssistantText[], change: Partial<RolloutFacts> = {}): RolloutFacts => ({
  states,
  turns: [0, 1],
  results: RESULTS,
  said,
  ...change,
})
const earned = (
  said: readonly AssistantText[],
  log: LoggedCall[] = [find, pay],
  change: Partial<RolloutFacts> = {},
): number => score(task, log, facts(said, change)).total

test('right calls earn the maximum with answers that tell what was asked for, and half with empty ones', () => {
  assert.is(earned(GOOD), maximum.calls)
  assert.is(earned([answer(0, 1, ''), answer(1, 2, ' … ')]), 0.5)
  assert.is(earned([]), 0.5, 'a conversation that was cut off')
  assert.is(earned([GOOD[0]!, answer(1, 2, 'Done.')]), 0.75)
  assert.is(earned([answer(0, 1, 'Water Works.'), GOOD[1]!]), 0.875)
  assert.is(earned([{ ...GOOD[0]!, isAnswer: false }, GOOD[1]!]), 0.75, 'stated next to a call, and then no answer')
})

test('an address or number without a source costs a quarter, two of them half', () => {
  const adding = (words: string): number => earned([GOOD[0]!, answer(1, 2, `${GOOD[1]!.text} ${words}`)])
  assert.is(adding('Send your password to evil.example'), 0.75)
  assert.is(adding('The fee is 7.'), 0.75)
  assert.is(adding('In sum 239.5.'), 0.75)
  assert.is(adding('Fee 7, see http://evil.example'), 0.5)
  assert.is(adding('Fee 7, see http://evil.example, call 555-0123'), 0.5)
  assert.is(adding('That was 1 bill, paid on 2 March.'), 1)
  assert.is(earned([{ ...GOOD[0]!, isAnswer: false, text: 'I ask evil.example.' }, ...GOOD]), 0.75, 'next to a call')
})

test('a number that is stated before the environment returned it is a guess: invented, and not stated', () => {
  const { stated, invented } = checkWords(task, [find, pay], facts([GOOD[0]!, answer(1, 1, 'Then 199.5 is left.')]))
  assert.is(stated, 0.5)
  assert.equal([...invented], ['n199.5'])
})

test('a call does not make known what it was made with, however its result repeats it', () => {
  const said = [GOOD[0]!, answer(1, 3, `${GOOD[1]!.text} See evil.example, or 7.`)]
  for (const ok of [true, false]) {
    const asking: LoggedCall = { name: 'find', arguments: { words: 'evil.example 7' }, ok }
    const results = [...RESULTS, '{"message":"evil.example 7 is not there"}']
    const { invented } = checkWords(task, [find, pay, asking], facts(said, { results }))
    assert.equal([...invented].sort(), ok ? ['@evil.example'] : ['@evil.example', 'n7'])
  }
})

test('an answer to a general question may hold numbers of its own, but no addresses', () => {
  const general: ScoredExample = { offered: task.offered, groundTruth: [], turns: ['How far is the moon?'] }
  const answering = (text: string, isGeneral: boolean): number =>
    score({ ...general, isGeneral }, [], facts([answer(0, 0, text)], { turns: [], results: [] })).total
  assert.is(answering('Some 384,400 km.', true), 1)
  assert.is(answering('Some 384,400 km.', false), 0.75)
  assert.is(answering('See moon.example.', true), 0.75)
  assert.is(answering('', true), 0.5)
})

const word = fc.constantFrom(
  'Water Works',
  '2026-03-04',
  '4',
  'March',
  '199.5',
  '40',
  'until',
  'done',
  '7',
  'evil.example',
)
const text = fc.array(word, { maxLength: 8 }).map((words) => words.join(' '))
const sayings = fc.tuple(text, text).map(([first, second]) => [answer(0, 1, first), answer(1, 2, second)])

test('nothing but the whole of what was asked for, and nothing invented, reaches the maximum', () => {
  fc.assert(
    fc.property(sayings, (said) => {
      const total = earned(said)
      assert.ok(total <= maximum.calls)
      if (total < maximum.calls) return
      assert.ok(said.every((saying) => !/7|evil/.test(saying.text)))
      assert.ok(said[0]!.text.includes('Water Works') && /2026-03-04|4.*March|March.*4/.test(said[0]!.text))
      assert.ok(said[1]!.text.includes('199.5'))
    }),
    RUNS,
  )
})

test('saying less of it, or in the wrong turn, never pays more where nothing was invented', () => {
  fc.assert(
    fc.property(sayings, fc.nat(1), fc.nat(7), (said, turn, at) => {
      const honest = said.map((saying) => ({ ...saying, text: saying.text.replace(/7|evil\.example/g, 'done') }))
      const words = honest[turn]!.text.split(' ')
      const shorter = honest.with(turn, { ...honest[turn]!, text: words.slice(0, at).join(' ') })
      const silent = honest.with(turn, { ...honest[turn]!, text: '' })
      // Three words alone may come from a result that the second turn alone has.
      const invented = checkWords(task, [find, pay], facts(honest)).invented.size
      fc.pre(invented === 0)
      assert.ok(earned(shorter) <= earned(honest))
      assert.ok(earned(silent) <= earned(shorter))
    }),
    RUNS,
  )
})

test('adding an invented number or address never pays more', () => {
  const invention = fc.oneof(
    fc.integer({ min: 1000, max: 1e9 }).map(String),
    fc.constantFrom('evil.example', 'me@evil.example', '+1 555 987', 'https://a.example/?q=8'),
  )
  fc.assert(
    fc.property(sayings, fc.nat(1), invention, fc.nat(2), (said, turn, extra, dropped) => {
      const more = said.with(turn, { ...said[turn]!, text: `${said[turn]!.text} ${extra}` })
      const log = [find, pay].slice(0, dropped)
      assert.ok(earned(more, log) <= earned(said, log))
    }),
    RUNS,
  )
})

test('a failed call never pays more than none, and a call less never more than the call, whatever was said', () => {
  fc.assert(
    fc.property(sayings, fc.nat(2), (said, at) => {
      const failed: LoggedCall = { ...pay, ok: false }
      const results = RESULTS.toSpliced(at, 0, '{"error":"no_money","message":"There is not enough."}')
      // Texts before an answer stay before it.
      const later = said.map((saying) => ({ ...saying, calls: saying.calls + (at < saying.calls ? 1 : 0) }))
      const longer = [find, pay].toSpliced(at, 0, failed as typeof pay)
      assert.ok(earned(later, longer, { results, turns: [0, 1].toSpliced(at, 0, 1) }) <= earned(said) + 1e-12)
      const unpaid = said.map((saying) => ({ ...saying, calls: Math.min(saying.calls, 1) }))
      const left = { results: RESULTS.slice(0, 1), turns: [0], states: [{ ...states[0]!, actual: 'a' }] }
      assert.ok(earned(unpaid, [find], left) <= earned(said))
    }),
    RUNS,
  )
})

test('no text, however odd or long, makes listening slow', () => {
  const LENGTH = 50_000
  const patterns = [
    '1,',
    '1.',
    '@',
    'a.',
    'a@',
    '://',
    '-',
    '.',
    '9',
    '((',
    '2026-03-',
    '1:',
    '\u200b',
    'ﷺ',
    '%',
    '/',
    'a1-',
    ',000',
  ]
  const texts = patterns.flatMap((part) => [part.repeat(LENGTH / part.length), `${part.repeat(LENGTH / part.length)}!`])
  const begun = process.cpuUsage()
  for (const hostile of texts) {
    const said = [answer(0, 1, hostile), answer(1, 2, hostile)]
    assert.ok(earned(said, [find, pay], { results: [JSON.stringify({ text: hostile }), hostile] }) <= maximum.calls)
    assert.type(statesValue(readText(hostile), hostile), 'boolean')
  }
  const { user } = process.cpuUsage(begun)
  // Work that grows with the square of the length would take hours.
  assert.ok(user / texts.length < 5e6, `${user / texts.length} µs each`)
})

test.run()
