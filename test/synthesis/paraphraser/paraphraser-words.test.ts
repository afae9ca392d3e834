import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createSeedStateCache } from '../../../servers/kernel/index.js'
import type { Example } from '../../../tasks/dataset/example.js'
import { argumentsAreTraceable } from '../../../tasks/synthesis/making/conversation-checks.js'
import { makeExample } from '../../../tasks/synthesis/making/make-example.js'
import { contextOf } from '../../../tasks/synthesis/making/recipe.js'
import { briefOf } from '../../../tasks/synthesis/paraphraser/brief.js'
import { problemsIn, type TurnWords } from '../../../tasks/synthesis/paraphraser/check.js'
import { invertedIn } from '../../../tasks/synthesis/paraphraser/opposites.js'
import { phraseFor, placeOf } from '../../../tasks/synthesis/paraphraser/phrases.js'
import { promptFor } from '../../../tasks/synthesis/paraphraser/prompt.js'
import { wordsOf } from '../../../tasks/synthesis/paraphraser/reply.js'
import { retell } from '../../../tasks/synthesis/paraphraser/retell.js'
import { compositionOf, plansFor } from '../../../tasks/synthesis/production/assignments.js'
import { createTargets } from '../../../tasks/synthesis/production/targets.js'
import { denotes } from '../../../tasks/synthesis/wording/value-meaning.js'
import { politely } from '../../support/paraphraser-server.js'
import { rent, rentRetold, TODAY, transfer, transferRetold, weather } from '../../support/reference-story.js'
import { CATALOGUE } from '../../support/spoken-catalogue.js'

const briefs = new Map([rent, transfer, weather].map((example) => [example, briefOf(example, TODAY, CATALOGUE)]))
const kindsIn = (example: Example, words: readonly TurnWords[]): string[] => [
  ...new Set(problemsIn(words, briefs.get(example) ?? briefOf(example, TODAY, CATALOGUE)).map(({ kind }) => kind)),
]

type Place = readonly [turn: number, who: 'user' | 'assistant']

/** The good words with one stretch of them replaced. */
function spoilt(words: readonly TurnWords[], [turn, who]: Place, from: string, to: string): TurnWords[] {
  assert.ok(words[turn]![who].includes(from), `${from} is there to be replaced`)
  return words.map((each, i) => (i === turn ? { ...each, [who]: each[who].replace(from, to) } : each))
}

const generated: readonly Example[] = await (async () => {
  const context = await contextOf(
    { environments: ['banking', 'calendar', 'vehicle'], heldOutEnvironments: [], profile: 'paper', seed: 5 },
    createSeedStateCache(8),
  )
  const targets = createTargets(context.graph, context.profile, new Set(), 5)
  return plansFor(compositionOf(24), {}, context, targets.able).flatMap(
    (plan, index) => makeExample(targets.assign(plan, index, 0), context).example ?? [],
  )
})()

test('words that keep all constraints have no objections', () => {
  assert.equal(kindsIn(rent, rentRetold), [])
  assert.equal(kindsIn(transfer, transferRetold), [])
  assert.equal(
    kindsIn(weather, [
      { user: 'Do you know if I need an umbrella in Porto tomorrow?', assistant: 'Sorry, I cannot look that up.' },
    ]),
    [],
  )
})

const SPOILT: readonly (readonly [title: string, Example, readonly TurnWords[], Place, string, string, string])[] = [
  ['a value that is left out', rent, rentRetold, [1, 'user'], '250', 'the usual', 'missing_phrase'],
  ['a value that is part of a larger one', rent, rentRetold, [1, 'user'], '250', '2500', 'missing_phrase'],
  ['a value with cents added', rent, rentRetold, [1, 'user'], '250', '250.75', 'missing_phrase'],
  ['a name misspelt', rent, rentRetold, [0, 'user'], 'Maria Lind', 'Maria Lindt', 'missing_phrase'],
  ['another thing of a list', rent, rentRetold, [0, 'user'], 'first account', 'second account', 'missing_phrase'],
  ['another time', rent, rentRetold, [0, 'user'], 'before noon', 'before midnight', 'missing_phrase'],
  ['the other side of a time', rent, rentRetold, [0, 'user'], 'before noon', 'after noon', 'turned_around'],
  ['a value that is asked for later', rent, rentRetold, [0, 'user'], 'money', 'money, 250,', 'withheld_value'],
  [
    'a quotation that is asked for later',
    rent,
    rentRetold,
    [0, 'user'],
    'money',
    'money for March rent',
    'withheld_value',
  ],
  [
    'an answer that knows too much',
    rent,
    rentRetold,
    [0, 'assistant'],
    'What amount',
    'Are 250 right? What amount',
    'withheld_value',
  ],
  [
    'a key that nobody knows',
    rent,
    rentRetold,
    [0, 'user'],
    'first account',
    'first account (checking-60)',
    'internal_name',
  ],
  ['a key in an answer', rent, rentRetold, [1, 'assistant'], 'Maria Lind', 'Maria Lind (maria-lind)', 'internal_name'],
  ['the name of a tool', rent, rentRetold, [0, 'user'], 'look up', 'find_payee', 'internal_name'],
  ['a person who is not in the draft', rent, rentRetold, [0, 'user'], 'Which', 'Hello there Berta, which', 'invented'],
  ['a figure in an answer', rent, rentRetold, [1, 'assistant'], '250', '250, which leaves 1200', 'invented'],
  ['another date', rent, rentRetold, [1, 'user'], 'Make it', 'On Friday make it', 'invented'],
  ['a figure lost from an answer', rent, rentRetold, [1, 'assistant'], '250', 'it', 'missing_phrase'],
  ['a result lost from an answer', rent, rentRetold, [0, 'assistant'], 'Wedding Fund', 'another one', 'missing_phrase'],
  ['a question that is not asked', rent, rentRetold, [0, 'assistant'], '?', '.', 'no_question'],
  ['nothing at all', rent, rentRetold, [1, 'user'], rentRetold[1]!.user, ' ... ', 'too_short'],
  ['far too much', rent, rentRetold, [1, 'assistant'], 'Maria', 'and so on '.repeat(60), 'too_long'],
  [
    'a call in words',
    rent,
    rentRetold,
    [1, 'assistant'],
    'Maria',
    '<tool_call>{"name":"x"}</tool_call> Maria',
    'markup',
  ],
  ['a control token', rent, rentRetold, [1, 'user'], 'Make', '<|im_end|> Make', 'markup'],
  ['the label of a speaker', rent, rentRetold, [1, 'user'], 'Make', 'User: make', 'markup'],
  ['bold type', rent, rentRetold, [1, 'assistant'], '250', '**250**', 'markup'],
  ['an invisible character', rent, rentRetold, [1, 'user'], 'Make', 'Ma\u200bke', 'odd_characters'],
  ['text turned round', rent, rentRetold, [1, 'user'], 'Make', '\u202eMake', 'odd_characters'],
  ['half a character', rent, rentRetold, [1, 'user'], 'Make', 'Make \ud83d', 'odd_characters'],
  ['a bell', rent, rentRetold, [1, 'user'], 'Make', '\u0007Make', 'odd_characters'],
  ['another script', rent, rentRetold, [1, 'assistant'], 'paid', '付了', 'odd_characters'],
  ['a letter of another script', rent, rentRetold, [1, 'user'], 'Make', 'M\u0430ke', 'odd_characters'],
  [
    'the model speaking of itself',
    rent,
    rentRetold,
    [1, 'assistant'],
    'Maria',
    'As an AI language model I say: Maria',
    'out_of_character',
  ],
  [
    'accounts swapped',
    transfer,
    transferRetold,
    [0, 'user'],
    'Salary Stash over to Wedding Fund',
    'Wedding Fund over to Salary Stash',
    'turned_around',
  ],
  ['the wrong value that has to fail', transfer, transferRetold, [0, 'user'], '9000', 'some money', 'missing_phrase'],
  ['the corrected value too early', transfer, transferRetold, [0, 'user'], '9000', '9000 or 90', 'withheld_value'],
]

for (const [title, example, words, place, from, to, kind] of SPOILT) {
  test(`${title} is noticed as ${kind}`, () => {
    const kinds = kindsIn(example, spoilt(words, place, from, to))
    assert.ok(kinds.includes(kind), `${kinds.join(', ') || 'no problem'} instead of ${kind}`)
  })
}

const SWITCHED: readonly (readonly [draft: string, told: string, inverted: string | undefined])[] = [
  ['Add Ann to the list.', 'Please remove Ann from the list.', 'remove'],
  ['Close the door.', 'Could you open the door?', 'open'],
  ['Turn the hall lamp on.', 'Turn the hall lamp off, please.', 'Turn the hall lamp off'],
  ['Unfreeze my card.', 'Freeze my card again.', 'Freeze'],
  ['Unfreeze my card.', 'Let my card be unfrozen.', undefined],
  ['Open the blind, then close the door.', 'Close the door once the blind is open.', undefined],
  ['Add Ann.', 'Put Ann on it.', undefined],
  ['Book the room.', 'Reserve the room so I can cancel later.', undefined],
  ['Book the room.', 'Get rid of the room, cancel it.', 'cancel'],
  ['Lock up the address book.', 'Lock my address book.', undefined],
]
for (const [draft, stated, inverted] of SWITCHED) {
  test(`an action ${inverted ? `becomes its opposite (${inverted})` : 'stays what it is'}: ${draft} ${stated}`, () => {
    assert.is(invertedIn(stated, draft), inverted)
  })
}

test('an inverted meaning is rejected, and so is a question for another value', () => {
  const said = (user: string, assistant: string): Example => ({
    ...weather,
    task: { ...weather.task, questions: [{ turn: 0, words: ['blind'] }] },
    exchanges: [{ user, calls: [], assistant }],
  })
  const blind = said('Open the blind for me.', 'Which blind do you mean?')
  assert.equal(kindsIn(blind, [{ user: 'Pull the blind open, please.', assistant: 'Gladly. Which blind?' }]), [])
  assert.equal(kindsIn(blind, [{ user: 'Close the blind, please.', assistant: 'Gladly. Which blind?' }]), ['inverted'])
  assert.equal(kindsIn(blind, [{ user: 'Pull the blind open, please.', assistant: 'Gladly. Which room?' }]), [
    'other_question',
  ])
})

test('the draft itself, turns too many, an echo and requests in another order are noticed', () => {
  const draft = rent.exchanges.map(({ user, assistant }) => ({ user: ` ${user.toUpperCase()}`, assistant }))
  const same = rent.exchanges.map(({ user, assistant }) => ({ user: `${user} `, assistant: `Well. ${assistant}` }))
  assert.equal(kindsIn(rent, same), ['unchanged'])
  assert.ok(kindsIn(rent, draft).length > 0)
  assert.equal(kindsIn(rent, rentRetold.slice(1)), ['wrong_turns'])
  assert.equal(kindsIn(rent, [...rentRetold, ...rentRetold]), ['wrong_turns'])
  const echo = { user: 'Will it rain tomorrow in Porto, please?', assistant: 'will it rain tomorrow in Porto - please' }
  assert.ok(kindsIn(weather, [echo]).includes('echo'))
  const other =
    'Look up Maria Lind among my payees, then show the checking accounts and pay her from the first account before noon.'
  assert.equal(kindsIn(rent, [{ ...rentRetold[0]!, user: other }, rentRetold[1]!]), ['reordered'])
})

test('a number only matches as a whole word', () => {
  for (const text of ['5', 'take 5.', '5, please', '(5)', 'no.5']) assert.ok(placeOf(text, '5') >= 0, text)
  for (const text of ['15', '5th', '2.5', '5.5', '2026-03-05', '5:30', 'A5', '1,5'])
    assert.is(placeOf(text, '5'), -1, text)
})

test('the words for a value are found in a text', () => {
  assert.is(phraseFor('See you tomorrow, at 3 pm?', '2026-03-03', TODAY), 'tomorrow')
  assert.is(phraseFor('See you tomorrow, at 3 pm?', '15:00', TODAY), '3 pm')
  assert.is(phraseFor('Set it to in progress.', 'in_progress', TODAY), 'in progress')
  assert.is(phraseFor('See you later.', '2026-03-03', TODAY), undefined)
})

test('the prompt omits unmentioned keys and lists later values as withheld', () => {
  const { user } = promptFor(rent, briefs.get(rent)!, [])
  for (const key of ['checking-60', 'checking-75', 'maria-lind', 'tx-881', 'send_payment']) assert.not.match(user, key)
  const [first] = (JSON.parse(user.slice(user.indexOf('{\n'))) as { turns: { user: Record<string, unknown> }[] }).turns
  assert.equal(first!.user['not yet'], ['250', 'for March rent'])
})

test('the user’s words stay if the source of a failed call is unknown', () => {
  const [first, second] = transfer.exchanges
  const calls = first!.calls.map((call) =>
    call.ok ? call : { ...call, arguments: { ...call.arguments, amount: 777 } },
  )
  const example = { ...transfer, exchanges: [{ ...first!, calls }, second!] }
  const brief = briefOf(example, TODAY, CATALOGUE)
  assert.equal(
    brief.turns.map(({ frozen }) => frozen),
    [true, false],
  )
  assert.equal(
    problemsIn(transferRetold, brief).map(({ kind }) => kind),
    ['missing_phrase'],
  )
  const kept = [{ ...transferRetold[0]!, user: first!.user }, transferRetold[1]!]
  assert.equal(problemsIn(kept, brief), [])
  assert.equal(wordsOf({ text: JSON.stringify({ turns: transferRetold }), stop: 'end', usage: null }, brief), kept)
})

test('JSON is found in fences, after thoughts and amid talk, and nothing else is taken', () => {
  const brief = briefs.get(rent)!
  const json = JSON.stringify({ turns: rentRetold, note: 'extra' })
  const read = (text: string) => wordsOf({ text, stop: 'end', usage: null }, brief)
  for (const text of [
    json,
    `\`\`\`json\n${json}\n\`\`\``,
    `<think>{"turns"</think>\n${json}`,
    `Here you are: ${json} Enjoy!`,
  ])
    assert.equal(read(text), rentRetold)
  const kindOf = (text: string, stop: 'end' | 'length' | 'refused' = 'end') => {
    const words = wordsOf({ text, stop, usage: null }, brief)
    return Array.isArray(words) ? words : words.kind
  }
  assert.is(kindOf(json.slice(0, 90), 'length'), 'truncated')
  assert.is(kindOf('I’m sorry, but I can’t help with that.'), 'refused')
  assert.is(kindOf('', 'refused'), 'refused')
  assert.is(kindOf('[1, 2'), 'not_json')
  assert.is(kindOf('['.repeat(60_000)), 'not_json')
  assert.is(kindOf(`{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`), 'wrong_shape')
  assert.is(kindOf(`{"turns":"${'x'.repeat(70_000)}"}`), 'not_json')
  assert.is(kindOf('{"turns":[{"user":1,"assistant":"x"}]}'), 'wrong_shape')
  assert.is(kindOf('{"turns":{"length":2}}'), 'wrong_shape')
  assert.is(kindOf('{"__proto__":{"turns":[]}}'), 'wrong_shape')
})

test('typographic quotes, spaces and decomposed letters become those of the draft', () => {
  const turns = [{ user: 'I’d  say “for\u00a0March rent”', assistant: 'Se\u0301bastien' }]
  const words = wordsOf({ text: JSON.stringify({ turns }), stop: 'end', usage: null }, briefs.get(rent)!)
  assert.equal(words, [{ user: 'I\'d say "for March rent"', assistant: 'Sébastien' }])
})

/** Returns the parts of an example that rephrasing must not change. Facts that the answers omit are no longer required, see `factsKept`. */
const withoutWords = ({
  task: { id: _, turns: __, facts: ___, ...task },
  exchanges,
  speech: ____,
  ...rest
}: Example) => ({
  ...rest,
  task,
  calls: exchanges.map(({ calls }) => calls),
})

/** Whether nothing has to be told that had not to be before. */
const factsKept = (stated: Example, { task: { facts = [] } }: Example): boolean =>
  (stated.task.facts ?? []).every((fact) => facts.some(({ turn, value }) => turn === fact.turn && value === fact.value))

const stepsOf = ({ task, exchanges }: Example) =>
  task.groundTruth.map((_, i) => {
    const made = exchanges.flatMap(({ calls }) => calls).find(({ truth }) => truth === i)
    return { output: JSON.parse(made!.response) }
  })

test('synthesised examples can be rephrased, and then have another id', () => {
  assert.ok(generated.length >= 12)
  for (const example of generated) {
    const brief = briefOf(example, TODAY, CATALOGUE)
    const words = example.exchanges.map(politely)
    assert.equal(problemsIn(words, brief), [])
    assert.equal(
      problemsIn(example.exchanges, brief).map(({ kind }) => kind),
      ['unchanged'],
    )
    const stated = retell(example, words, TODAY)
    assert.ok('task' in stated)
    assert.is.not(stated.task.id, example.task.id)
    assert.is(stated.speech, 'paraphrased')
    assert.equal(
      stated.task.turns,
      words.map(({ user }) => user),
    )
    assert.equal(withoutWords(stated), withoutWords(example))
    assert.equal(stated.task.facts, example.task.facts, 'polite words tell the same')
  }
})

test('no words that are taken change ground truth, calls or origins, and every argument can still be traced', () => {
  const examples = [rent, transfer, ...generated]
  const span = fc.oneof(
    fc.constantFrom('Kindly. ', '250', 'checking-60', 'tomorrow', ' and ', '"', '{', 'first account', '?'),
    fc.string({ unit: 'binary', maxLength: 12 }),
  )
  const edit = fc.record({ at: fc.nat(400), cut: fc.nat(12), span })
  const edits = fc.array(edit, { maxLength: 2 })
  let taken = 0
  fc.assert(
    fc.property(
      fc.nat(examples.length - 1),
      fc.array(fc.tuple(edits, edits), { minLength: 3, maxLength: 3 }),
      (which, plan) => {
        const example = examples[which]!
        const apply = (text: string, list: readonly { at: number; cut: number; span: string }[]): string =>
          list.reduce((now, { at, cut, span: put }) => {
            const place = at % (now.length + 1)
            return now.slice(0, place) + put + now.slice(place + cut)
          }, text)
        const words = example.exchanges.map((exchange, i) => ({
          user: apply(politely(exchange).user, plan[i % 3]![0]),
          assistant: apply(politely(exchange).assistant, plan[i % 3]![1]),
        }))
        const before = structuredClone(example)
        const stated =
          problemsIn(words, briefOf(example, TODAY, CATALOGUE)).length > 0 ? null : retell(example, words, TODAY)
        assert.equal(example, before)
        if (stated === null || !('task' in stated)) return
        taken++
        assert.equal(withoutWords(stated), withoutWords(example))
        assert.ok(factsKept(stated, example))
        assert.ok(argumentsAreTraceable({ example: stated, steps: stepsOf(stated), denotes, today: TODAY }))
      },
    ),
    { seed: 7, numRuns: 400 },
  )
  assert.ok(taken > 10, `${taken} of 400 were taken`)
})

test.run()
