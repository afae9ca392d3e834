import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { deriveSeed, seededRandom } from '../../../servers/kernel/index.js'
import { TODAY } from '../../../tasks/synthesis/making/today.js'
import type { Way } from '../../../tasks/synthesis/way.js'
import { answerFromTemplate } from '../../../tasks/synthesis/wording/answer-from-template.js'
import { clauseWithout } from '../../../tasks/synthesis/wording/clause-without-value.js'
import { naturalSpeech } from '../../../tasks/synthesis/wording/natural-speech.js'
import {
  drawOutsideTopic,
  nextOutsideTopic,
  type OutsideRequest,
  outsideRequest,
  outsideRequests,
} from '../../../tasks/synthesis/wording/outside-requests.js'
import { drawPersona, inEnvironments, mannerOf, typed } from '../../../tasks/synthesis/wording/persona.js'
import type { Ask } from '../../../tasks/synthesis/wording/speech.js'
import { word } from '../../../tasks/synthesis/wording/text-span.js'
import { reasonFor } from '../../../tasks/synthesis/wording/user-phrases.js'
import { momentOf, type Sample, samples, spelledOut } from '../../support/speech-samples.js'
import { CATALOGUE } from '../../support/spoken-catalogue.js'

const test = suite('conversations')
const { topics: OUTSIDE_TOPICS } = outsideRequests()
const SAMPLES = samples(2)

test('are led by somebody whose work brings them there, and by anybody where nobody works', () => {
  const random = seededRandom(3)
  const people = Array.from({ length: 200 }, () => drawPersona(random))
  const developers = people.map((person) => inEnvironments(person, ['issue_tracker', 'calendar']))
  for (const [i, { name, role, register }] of developers.entries()) {
    assert.equal({ name, register }, { name: people[i]!.name, register: people[i]!.register })
    assert.match(role, /develop|engineer|analyst|manager|writer|designer|administrator/)
    assert.is(role.split(' from ')[1], people[i]!.role.split(' from ')[1])
  }
  assert.ok(new Set(developers.map(({ role }) => role.split(' from ')[0])).size > 8)
  for (const person of people) assert.equal(inEnvironments(person, ['maps', 'shopping']), person)
  // Their calendars and chats hold colleagues of other departments.
  for (const environmentName of ['calendar', 'email', 'team_chat', 'video_meeting'])
    for (const person of people)
      assert.not.match(
        inEnvironments(person, [environmentName]).role,
        /retired|student|stay-at-home|mother of|dentist|farmer/,
      )
})

test('keep to their subject when nothing on offer serves it, and never ask for the same twice', () => {
  const named = new Set(OUTSIDE_TOPICS.flatMap(({ environment }) => environment ?? []))
  assert.equal(
    [...named].filter((environmentName) => !CATALOGUE.has(environmentName)),
    [],
  )
  assert.ok(new Set(OUTSIDE_TOPICS.map(({ name }) => name)).size === OUTSIDE_TOPICS.length)
  for (const [i, topic] of OUTSIDE_TOPICS.entries()) {
    const asked = new Set<OutsideRequest>()
    for (let turn = 0; asked.size < topic.requests.length; turn++) {
      const { text, request } = outsideRequest(topic, asked, momentOf(i, turn))!
      assert.not.match(text, /[<>()|]|undefined| {2}/, text)
      assert.not.match(text, /^(hey|hi) [A-HJ-Z]/, text)
      assert.ok(topic.requests.includes(request) && !asked.has(request))
      asked.add(request)
    }
    assert.is(outsideRequest(topic, asked, momentOf(i, 9)), undefined)
  }
  const random = seededRandom(1)
  for (let i = 0; i < 100; i++) {
    const { environment } = drawOutsideTopic(new Set(['maps']), random)
    assert.ok(environment === undefined || environment === 'maps')
  }
})

test('turn to another topic of the same kind once they were refused, if there is one', () => {
  const random = seededRandom(5)
  for (const topic of OUTSIDE_TOPICS) {
    const next = nextOutsideTopic([topic], () => true, random)
    assert.is(next.environment, topic.environment)
    assert.is.not(next, topic)
    assert.is(
      nextOutsideTopic([topic], () => false, random),
      topic,
    )
  }
})

test('leave out no article, whoever types', () => {
  for (let i = 0; i < 200; i++) {
    const { persona } = momentOf(i)
    const [span] = typed([word('see whether the shop sells the tent')], mannerOf(persona))
    assert.is(span!.text, 'see whether the shop sells the tent')
  }
})

test('say an article before the name of a thing that people say one before', () => {
  const environment = CATALOGUE.get('iot_devices')!
  const tool = environment.toolsByName.get('reconnect_device')!
  const device: Way = { how: 'label', noun: 'device', label: 'Kids Bedroom Blind' }
  const ask: Ask = { environment, tool, args: { device: 'kids-blind' }, references: new Map([['device', device]]) }
  for (let i = 0; i < 30; i++) assert.match(naturalSpeech.request([ask], momentOf(i))!.text, /the Kids Bedroom Blind/)
})

test('open a turn once: by a greeting, by a reason or by neither', () => {
  const greeted = /^(hi|hello|hey|hiya|good day|good morning|morning)\b/i
  const reasoned = /\b(I'm (doing|going through|seeing|sorting)|It's about|I hope you|Sorry to bother|May I trouble)/i
  let reasons = 0
  for (const [i, sample] of SAMPLES.entries()) {
    for (let draw = 0; draw < 8; draw++) {
      const { text } = naturalSpeech.request([spelledOut(sample)], momentOf(`${i}/${draw}`))!
      if (!reasoned.test(text)) continue
      reasons++
      assert.not.match(text, greeted, text)
      assert.not.match(text, /when you have a moment|if possible|do me a favour/i, text)
    }
  }
  assert.ok(reasons > 20, `${reasons}`)
})

test('give no reason that only a look, or only a change, could have', () => {
  const [looks, changes] = (['looks', 'changes'] as const).map(
    (doing) =>
      new Set(
        Array.from({ length: 3000 }, (_, i) =>
          reasonFor('crm', doing, {
            persona: { name: 'Ana', role: 'a nurse', register: 'chatty' },
            random: seededRandom(deriveSeed('reason', i)),
          }).replace(/ (today|this morning)/, ''),
        ),
      ),
  )
  assert.ok(looks!.has("I'm going through the CRM.") && !changes!.has("I'm going through the CRM."))
  assert.ok(changes!.has("I'm bringing the CRM up to date.") && !looks!.has("I'm bringing the CRM up to date."))
})

test('ask by its noun for what is to be written or named', () => {
  const asked = (environmentName: string, name: string, field: string): string => {
    const environment = CATALOGUE.get(environmentName)!
    const ask: Ask = { environment, tool: environment.toolsByName.get(name)!, args: {}, references: new Map() }
    return naturalSpeech.question(ask, field, momentOf(1, 1))
  }
  assert.match(asked('email', 'reply_to_email', 'body'), /\bthe reply\b/)
  assert.match(asked('social_media', 'send_direct_message', 'text'), /\bthe message\b/)
  assert.match(asked('email', 'edit_draft', 'body'), /\bthe draft\b/)
  assert.match(asked('maps', 'save_place', 'name'), /\bthe place\b/)
  assert.match(asked('filesystem', 'create_archive', 'name'), /\bthe archive\b/)
  assert.match(asked('banking', 'add_payee', 'name'), /the payee/)
  assert.match(asked('vehicle', 'play_playlist', 'title'), /title/)
})

test('put a question off without a reason, which would not fit every value', () => {
  const ask = spelledOut(SAMPLES[0]!)
  for (let i = 0; i < 60; i++) {
    const { text } = naturalSpeech.request([ask], { ...momentOf(i, 1), after: 'unanswered' })!
    const [putOff] = text.split(/meanwhile|for now|in the meantime|first/i)
    assert.not.match(putOff!, /look|find|ask|check|decide|think|know|sure/i, text)
  }
})

test('name a goal in a sentence that somebody could say, and put off no look-up', () => {
  for (const [i, sample] of SAMPLES.entries()) {
    for (let draw = 0; draw < 6; draw++) {
      const text = naturalSpeech.vague(spelledOut(sample), momentOf(`${i}/${draw}`))
      if (text === undefined) continue
      assert.not.match(text, / for [^.?!]* for me\b|(you|could) (can )?see .* for me\b|find out (the|my) /i, text)
      if (sample.tool.annotations.readOnly) assert.not.match(text, /about time|keep meaning|I have to /i, text)
    }
  }
})

test('shorten what is said only inside a clause', () => {
  const words = (text: string): string =>
    typed([word(text)], mannerOf({ name: 'Ana', role: 'a nurse', register: 'plain' }))[0]!.text.toLowerCase()
  assert.is(words('see whether it is open'), "see whether it's open")
  for (const text of ['take it from where it is and put it away', 'how many metres it is from there'])
    assert.is(words(text), text)
})

test('leave out no value without which the rest says nothing, or something else', () => {
  assert.is(clauseWithout('show my {kind} accounts', 'kind'), 'show my accounts')
  for (const [clause, field] of [
    ['list files above {bytes} bytes in {directory} and beneath it', 'directory'],
    ['look up the address nearest to latitude {latitude}, longitude {longitude}', 'latitude'],
    ['set the {zone} zone of the cabin to {temperature} degrees', 'zone'],
    ['find the address at latitude {latitude} and longitude {longitude}', 'latitude'],
    ['add an expense "{description}" of {amount} to {category}, paid by {member}', 'member'],
    ['use the PIN {pin} to unlock {lock}', 'lock'],
    ['append "{text}" to {file}', 'file'],
    ['check the current price of {instrument}', 'instrument'],
    ['put in a {side} order for {quantity} shares of {instrument}', 'quantity'],
    ['start the car with {driver} as the driver', 'driver'],
    ['show who sells in the {territory} territory', 'territory'],
    ['reserve a {fare} fare on {flight}', 'fare'],
  ] as const)
    assert.is(clauseWithout(clause, field), undefined, clause)
  assert.is(
    clauseWithout('set the brightness of {light} to {brightness} percent', 'brightness'),
    'change the brightness of {light}',
  )
  assert.is(clauseWithout('show me the {status} leads', 'status'), 'show me the leads')
})

test('thank once in a turn, and say "last" of nothing but a whole list', () => {
  for (const [i, sample] of SAMPLES.entries()) {
    const said = naturalSpeech.request([spelledOut(sample)], { ...momentOf(i, i % 3), after: 'found' })!
    // What is to be written somewhere may thank as well.
    const own = said.text.replaceAll(/"[^"]*"/g, '')
    assert.ok((own.match(/\b(thank|thanks|thx|ty)\b/gi) ?? []).length <= 1, said.text)
  }
  const { environment, tool, args } = SAMPLES.find(({ tool: { name } }) => name === 'freeze_card')!
  const wording = (way: Way): string[] =>
    Array.from({ length: 60 }, (_, i) => {
      const ask: Ask = { environment, tool, args, references: new Map([['card', way]]) }
      return naturalSpeech.request([ask], momentOf(i, 1))!.text
    })
  assert.ok(wording({ how: 'place', noun: 'card', place: 3, of: 3 }).some((text) => /last card|last one/.test(text)))
  assert.not(wording({ how: 'place', noun: 'card', place: 3, of: 7 }).some((text) => /\blast\b/.test(text)))
  for (const text of wording({ how: 'label', noun: 'card', label: 'Backup Card' }))
    assert.not.match(text, /"Backup Card"|the one called/, text)
})

test('do not say that all is done before a question or a failure', () => {
  const sample = SAMPLES.find(({ tool: { name } }) => name === 'freeze_card')!
  const done = [{ ask: spelledOut(sample), output: sample.output }]
  const said = (goesOn: boolean): string[] =>
    Array.from({ length: 60 }, (_, i) => naturalSpeech.report(done, { ...momentOf(i), goesOn }))
  const confirms = (text: string): boolean => /^(Done|That is done|All set|All right|OK)/.test(text)
  assert.ok(said(false).some(confirms))
  assert.not(said(true).some(confirms))
})

test('say of what cannot be done what it is, in other words each time', () => {
  const ask = spelledOut(SAMPLES.find(({ tool: { name } }) => name === 'freeze_card')!)
  const goal = CATALOGUE.get('banking')!.speech.get('freeze_card')!.goal!
  const answers = Array.from({ length: 60 }, (_, i) => naturalSpeech.decline(momentOf(i), ask))
  assert.ok(answers.some((text) => text.includes(goal)))
  assert.ok(answers.some((text) => !text.includes(goal)))
  const opened = (turn: number): Set<string> =>
    new Set(Array.from({ length: 60 }, (_, i) => naturalSpeech.decline(momentOf(i, turn)).split(/[.:,;]/)[0]!))
  for (const text of opened(1)) assert.not.ok(opened(0).has(text), text)
})

test('say what cannot be done of the user in the second person, for whatever tool it is', () => {
  for (const sample of SAMPLES) {
    const answers = Array.from({ length: 20 }, (_, i) => naturalSpeech.decline(momentOf(i), spelledOut(sample)))
    for (const text of answers) assert.not.match(text, /\byou (am|was)\b/, text)
  }
})

test('of tools without goals and answers say what their descriptions and results say', () => {
  const banking = CATALOGUE.get('banking')!
  const bare = (name: string): Sample => {
    const sample = SAMPLES.find(({ tool }) => tool.name === name)!
    const { goal: _, answer: __, ...speech } = { ...banking.speech.get(name)!, further: { ask: [], goals: [] } }
    return { ...sample, environment: { ...banking, speech: new Map([[name, speech]]) } }
  }
  const freeze = spelledOut(bare('freeze_card'))
  assert.match(naturalSpeech.vague(freeze, momentOf(1))!, /freeze a/i)
  const { output, ...list } = bare('list_cards')
  const cards = [{ name: 'Blue Visa' }, { name: 'Red Visa' }]
  assert.ok('cards' in output)
  const report = naturalSpeech.report([{ ask: spelledOut({ ...list, output }), output: { cards } }], momentOf(1))
  assert.is(report, 'I found 2 cards: Blue Visa and Red Visa.')
})

test('tell of others only where the list goes on', () => {
  const environment = CATALOGUE.get('retail_chain')!
  const tool = environment.toolsByName.get('show_store')!
  const sample = SAMPLES.find((each) => each.tool === tool)!
  const low = (n: number) =>
    Array.from({ length: n }, (_, i) => ({ title: `Lamp ${i}`, article: `lamp-${i}`, on_hand: 1 }))
  const shipments = [{ shipment: 'shipment-1', title: 'Easy Lantern', due: '2026-03-02' }]
  const output = { ...sample.output, low: low(3), shipments, next_page: 2, low_articles: 5, open_shipments: 1 }
  const text = answerFromTemplate(spelledOut(sample), output as never, TODAY)!
  assert.match(text, /Lamp 2[^;]* and others/)
  assert.not.match(text, /Easy Lantern[^.]*others/)
})

test.run()
