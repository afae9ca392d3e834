import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import type { Json, JsonObject } from '../../../rollout/reward/index.js'
import { seededRandom } from '../../../servers/kernel/index.js'
import type { Way } from '../../../tasks/synthesis/way.js'
import { askedFor } from '../../../tasks/synthesis/wording/field-words.js'
import { naturalSpeech } from '../../../tasks/synthesis/wording/natural-speech.js'
import { type OutsideTopic, outsideRequest } from '../../../tasks/synthesis/wording/outside-requests.js'
import { drawPersona, type Manner, typed } from '../../../tasks/synthesis/wording/persona.js'
import { type Ask, REGISTERS, type Said } from '../../../tasks/synthesis/wording/speech.js'
import { textOf, word } from '../../../tasks/synthesis/wording/text-span.js'
import { wished } from '../../../tasks/synthesis/wording/vague-request.js'
import { denotes } from '../../../tasks/synthesis/wording/value-meaning.js'
import { momentOf, referring, samples, spelledOut, TODAY } from '../../support/speech-samples.js'
import { CATALOGUE } from '../../support/spoken-catalogue.js'

const test = suite('natural speech')
const SAMPLES = samples(3)

const LEAKS =
  /undefined|null|NaN|\[object|[{}[\]]| {2}|\b(the|a|an) (the|a|an|that|this)\b|\bthat that\b|[.,?!] ?[.,?]|^\W/

function checkWords(text: string, what: string): void {
  assert.not.match(text, LEAKS, what)
}

/** The text without the values and names in it, in which keys and brackets may well stand. */
function wordsOnly(said: Said): string {
  const values = said.phrases.flatMap((phrases) => [...phrases.values()]).sort((a, b) => b.length - a.length)
  return values.reduce((text, value) => text.replaceAll(value, 'X'), said.text)
}

function changed(value: Json): Json {
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  if (typeof value !== 'string') return null
  const date = /^(\d{4}-\d{2}-)(\d{2})$/.exec(value)
  if (date) return date[1] + (date[2] === '15' ? '16' : '15')
  const time = /^\d{2}(:\d{2})$/.exec(value)
  if (time) return (value.startsWith('17') ? '18' : '17') + time[1]
  return value === '2026-03' ? '2026-04' : /^\d{4}-\d{2}$/.test(value) ? '2026-03' : `${value}x`
}

function checkEvidence(ask: Ask, said: Said, index: number): void {
  for (const [field, phrase] of said.phrases[index]!) {
    const what = `${ask.tool.name}.${field}: "${phrase}" in "${said.text}"`
    assert.ok(said.text.includes(phrase), what)
    assert.ok(denotes(phrase, ask.args[field]!, TODAY), `${what} does not denote ${String(ask.args[field])}`)
    assert.not.ok(denotes(phrase, changed(ask.args[field]!), TODAY), `${what} denotes another value too`)
  }
}

test('says every value of every tool of the catalogue, and says where', () => {
  assert.ok(new Set(SAMPLES.map(({ tool }) => tool.name)).size > 300)
  for (const [i, sample] of SAMPLES.entries()) {
    const ask = spelledOut(sample)
    const said = naturalSpeech.request([ask], momentOf(i))
    assert.ok(said, `${sample.tool.name} ${JSON.stringify(sample.args)} cannot be asked for`)
    assert.equal([...said.phrases[0]!.keys()].sort(), Object.keys(sample.args).sort(), said.text)
    checkEvidence(ask, said, 0)
    checkWords(wordsOnly(said), said.text)
    assert.not.match(wordsOnly(said), /[a-z]_[a-z]/, said.text)
  }
})

test('refers to what earlier results showed instead of naming keys', () => {
  let sayable = 0
  for (const [i, sample] of SAMPLES.entries()) {
    const ask = referring(sample, seededRandom(i))
    if (ask.references.size === 0) continue
    const said = naturalSpeech.request([ask], momentOf(i, i % 3))
    if (!said) continue
    sayable++
    for (const field of ask.references.keys()) assert.not.ok(said.phrases[0]!.has(field), said.text)
    checkEvidence(ask, said, 0)
    checkWords(wordsOnly(said), said.text)
  }
  const referred = SAMPLES.filter((sample, i) => referring(sample, seededRandom(i)).references.size > 0)
  assert.ok(sayable > 0.97 * referred.length, `${sayable} of ${referred.length} can be said`)
})

test('asks for several things in one turn, each with its own evidence', () => {
  for (let i = 0; i + 3 < SAMPLES.length; i += 3) {
    const asks = SAMPLES.slice(i, i + 3).map(spelledOut)
    const said = naturalSpeech.request(asks, momentOf(i, i % 2))
    assert.ok(said)
    assert.is(said.phrases.length, 3)
    for (const [index, ask] of asks.entries()) checkEvidence(ask, said, index)
    checkWords(wordsOnly(said), said.text)
  }
})

test('means one thing by one pronoun, and has it own what is its own', () => {
  const ask = (
    environmentName: string,
    name: string,
    args: JsonObject,
    ways: Readonly<Record<string, Way>> = {},
  ): Ask => {
    const environment = CATALOGUE.get(environmentName)!
    return { environment, tool: environment.toolsByName.get(name)!, args, references: new Map(Object.entries(ways)) }
  }
  const stated = (asks: readonly Ask[]) =>
    Array.from({ length: 200 }, (_, i) => naturalSpeech.request(asks, momentOf(`pronoun ${i}`))?.text ?? '').filter(
      Boolean,
    )
  const deal = 'deal-17'
  const lowered = stated([
    ask(
      'crm',
      'move_deal',
      { deal, stage: 'negotiation' },
      { deal: { how: 'label', noun: 'deal', label: 'Kestrel Renewal' } },
    ),
    ask('crm', 'discount_deal', { deal, percent: 10 }, { deal: { how: 'only', noun: 'deal' } }),
  ])
  assert.ok(lowered.some((text) => /set its discount to 10/.test(text)))
  assert.not.ok(lowered.some((text) => /the discount of it/.test(text)))
  const sent = stated([
    ask('shopping', 'add_delivery_address', { name: 'Gym', address: '4 Elm Street, Leeds' }),
    ask(
      'shopping',
      'place_order',
      { delivery_address: 'gym', payment_method: 'pay-later', shipping: 'express' },
      {
        delivery_address: { how: 'only', noun: 'address' },
        payment_method: { how: 'label', noun: 'payment method', label: 'Pay Later' },
      },
    ),
  ])
  assert.ok(
    sent.some((text) => /\bit to (that|the new) address/.test(text)),
    sent[0],
  )
  assert.not.ok(sent.some((text) => /\bsend it to it\b/.test(text)))
})

test('words a request without a withheld value so that nothing of it can be read', () => {
  let [tried, worded] = [0, 0]
  for (const [i, sample] of SAMPLES.entries()) {
    for (const [field, schema] of Object.entries(sample.tool.input.shape)) {
      const value = sample.args[field]
      if (schema.isOptional() || value === undefined || typeof value === 'boolean') continue
      tried++
      const said = naturalSpeech.request([{ ...spelledOut(sample), withheld: field }], momentOf(i))
      if (!said) continue
      worded++
      assert.not.ok(said.phrases[0]!.has(field), said.text)
      const bare = wordsOnly(said)
      assert.not.match(bare, new RegExp(`(?<!\\w)${escaped(String(value))}(?!\\w)`), `${sample.tool.name}.${field}`)
      checkWords(bare, said.text)
      checkEvidence(spelledOut(sample), said, 0)
    }
  }
  // Where nothing that makes sense is left, the value is not left out.
  assert.ok(worded > 0.55 * tried, `${worded} of ${tried}`)
})

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

test('does not ask for a look-up that is taken for granted, but says its values', () => {
  const look = SAMPLES.find(({ tool }) => tool.name === 'find_payee')!
  const pay = SAMPLES.find(({ tool }) => tool.name === 'create_standing_order')!
  const label = String(look.args.name)
  const silent: Ask = { ...spelledOut(look), silent: true }
  const candidates: Ask = {
    ...spelledOut(pay),
    references: new Map([['payee', { how: 'label', noun: 'payee', label }]]),
  }
  for (let i = 0; i < 50; i++) {
    const said = naturalSpeech.request([silent, candidates], momentOf(i))!
    assert.not.match(said.text, /look up|search|find|check whether/i)
    assert.is(said.phrases[0]!.get('name'), label)
    assert.is(said.text.split(label).length, 2)
  }
  const unsaid: Ask = { ...candidates, references: new Map([['payee', { how: 'only', noun: 'payee' }]]) }
  assert.is(naturalSpeech.request([silent, unsaid], momentOf(1)), undefined)
})

test('is vague without a single value, and asks, reports, fails and declines in clean words', () => {
  let vague = 0
  for (const [i, sample] of SAMPLES.entries()) {
    const ask = spelledOut(sample)
    const text = naturalSpeech.vague(ask, momentOf(i))
    if (text !== undefined) {
      vague++
      checkWords(text, sample.tool.name)
      assert.not.match(text, /_/, text)
      for (const value of Object.values(ask.args))
        assert.not.ok(
          new RegExp(`(?<!\\w)${escaped(String(value).toLowerCase())}(?!\\w)`).test(text.toLowerCase()),
          text,
        )
    }
    for (const field of [undefined, ...Object.keys(sample.args)]) {
      const question = naturalSpeech.question(ask, field, momentOf(i))
      checkWords(question, sample.tool.name)
      assert.not.match(question, /[_#@]/, question)
    }
    const report = naturalSpeech.report([{ ask, output: sample.output }], momentOf(i))
    assert.not.match(report, /undefined|\[object| {2}/, report)
    checkWords(naturalSpeech.failure(ask, 'The card has expired.', momentOf(i)), 'failure')
    checkWords(naturalSpeech.decline(momentOf(i)), 'decline')
    checkWords(naturalSpeech.declineRest(momentOf(i)), 'declineRest')
    checkWords(naturalSpeech.insist(momentOf(i)), 'insist')
  }
  assert.ok(vague > 0.9 * SAMPLES.length, `${vague} of ${SAMPLES.length}`)
})

test('begins an answer small after a word that leads to it', () => {
  const { environment, tool } = SAMPLES.find(({ tool: { name } }) => name === 'find_free_rooms')!
  const rooms = [4, 6, 8].map((seats) => ({ name: `Room ${seats}`, room: `room-${seats}`, seats }))
  const done = { ask: spelledOut({ environment, tool, args: {} } as never), output: { rooms, next_page: 2 } }
  const texts = Array.from({ length: 40 }, (_, i) => naturalSpeech.report([done, done, done], momentOf(i)))
  for (const text of texts) assert.not.match(text, /(And|Also,|Finally,) At least/, text)
  assert.ok(texts.some((text) => /Finally, at least/.test(text)))
})

test('denies once more without a yes or no, which would answer one way of insisting only', () => {
  for (let i = 0; i < 60; i++)
    assert.not.match(naturalSpeech.declineOnceMore(momentOf(i, 1)), /^(no|yes|unfortunately not)\b/i)
})

test('reports nothing that neither the call nor its result holds', () => {
  for (const [i, sample] of SAMPLES.entries()) {
    const report = naturalSpeech.report([{ ask: spelledOut(sample), output: sample.output }], momentOf(i))
    const known = JSON.stringify([sample.output, sample.args])
    for (const [number] of report.matchAll(/(?<![\w.:-])\d+(?![\w.:-]*\d)/g)) {
      const counted = [...known.matchAll(/\{/g)].length > Number(number)
      assert.ok(known.includes(number) || counted, `${number} in "${report}" is not in ${known}`)
    }
  }
})

test('answers a question or a failure with just the value', () => {
  for (const [i, sample] of SAMPLES.entries()) {
    for (const field of Object.keys(sample.args)) {
      for (const method of ['supply', 'correct'] as const) {
        const said = naturalSpeech[method](spelledOut(sample), field, momentOf(i, 1))!
        assert.equal([...said.phrases[0]!.keys()], [field])
        checkEvidence(spelledOut(sample), said, 0)
        assert.ok(said.text.length < said.phrases[0]!.get(field)!.length + 60, said.text)
      }
    }
  }
})

test('puts what is to be written in quotes, however short, and one stop behind it', () => {
  const sample = SAMPLES.find(({ tool }) => tool.name === 'reply_to_chat_message')!
  for (const [text, stated] of [
    ['Thank you', /"Thank you"/],
    ['Well said!', /"Well said!"(?![.!])/],
  ] as const) {
    const ask = spelledOut({ ...sample, args: { ...sample.args, text } })
    for (let i = 0; i < 20; i++) assert.match(naturalSpeech.supply(ask, 'text', momentOf(i, 1))!.text, stated)
  }
})

test('says the same in the same moment, and something else in another', () => {
  const ask = spelledOut(SAMPLES.find(({ tool }) => tool.name === 'send_payment')!)
  const texts = Array.from({ length: 40 }, (_, i) => naturalSpeech.request([ask], momentOf(i))!.text)
  const again = Array.from({ length: 40 }, (_, i) => naturalSpeech.request([ask], momentOf(i))!.text)
  assert.equal(texts, again)
  assert.ok(new Set(texts).size > 35)
})

test('asks for one thing in the singular, and tells of none in the plural, whatever the tool', () => {
  for (const environment of CATALOGUE.values()) {
    for (const tool of environment.tools) {
      const ask: Ask = { environment, tool, args: {}, references: new Map() }
      for (const field of Object.keys(tool.input.shape)) {
        const [head] = askedFor(environment, tool, field).split(/,| of | in | to /)
        assert.not.match(head!, /(?<!s|u|addres|serie)s$/, `${tool.name}.${field}: the ${head} is`)
      }
      for (const [field, schema] of Object.entries(tool.output.shape)) {
        if (!(schema instanceof z.ZodArray && schema.element instanceof z.ZodObject)) continue
        const said = naturalSpeech.report([{ ask, output: { [field]: [] } }], momentOf(0))
        const things = /^(?:I found no|There are no|No) (.+?)(?: came up| are .+)?\.$/.exec(said)?.[1]
        if (things !== undefined) assert.match(things, /(s|people|series)$/, `${tool.name}.${field}: ${said}`)
      }
    }
  }
})

test('draws personas in hundreds, the same for the same seed', () => {
  const random = seededRandom(4)
  const people = Array.from({ length: 500 }, () => drawPersona(random))
  assert.ok(new Set(people.map(({ name, role }) => name + role)).size > 495)
  assert.is(new Set(people.map(({ register }) => register)).size, 4)
  assert.equal(drawPersona(seededRandom(9)), drawPersona(seededRandom(9)))
})

const crm = CATALOGUE.get('crm')!
const onDeal = (tool: string, args: Ask['args'], way: Way): Ask => ({
  environment: crm,
  tool: crm.toolsByName.get(tool)!,
  args: { deal: 'deal-93', ...args },
  references: new Map([['deal', way]]),
})

test('means a thing in one way: who moves the last deal, or one by its name, discounts it, and no other by its name', () => {
  const last: Way = { how: 'place', noun: 'deal', place: 3, of: 3 }
  const name: Way = { how: 'label', noun: 'deal', label: 'Delta Software Starter Plan' }
  for (const first of [last, name]) {
    for (let i = 0; i < 60; i++) {
      const asks = [onDeal('move_deal', { stage: 'proposal' }, first), onDeal('discount_deal', { percent: 20 }, name)]
      const { text } = naturalSpeech.request(asks, momentOf(i, 1))!
      assert.is(text.split(/Delta Software/i).length, first === name ? 2 : 1, text)
    }
  }
})

const inEnvironment = (
  environmentName: string,
  tool: string,
  args: Ask['args'],
  references: Record<string, Way>,
): Ask => ({
  environment: CATALOGUE.get(environmentName)!,
  tool: CATALOGUE.get(environmentName)!.toolsByName.get(tool)!,
  args,
  references: new Map(Object.entries(references)),
})
const spoken = (asks: readonly Ask[]): string[] =>
  Array.from({ length: 80 }, (_, i) => naturalSpeech.request(asks, momentOf(i, 1))!.text)

test('names once what a turn makes, and what is of two kinds', () => {
  const title = 'Upgrade file upload'
  const made = [
    inEnvironment('issue_tracker', 'create_issue', { project: 'MAIL', type: 'task', title, priority: 'low' }, {}),
    inEnvironment(
      'issue_tracker',
      'assign_issue',
      { issue: 'MAIL-42', member: 'will-diaz' },
      {
        issue: { how: 'label', noun: 'issue', label: title },
        member: { how: 'label', noun: 'member', label: 'Will Diaz' },
      },
    ),
  ]
  for (const text of spoken(made)) assert.is(text.split(title).length, 2, text)
  const lamp = 'Balcony Flood Light'
  const lit = [
    inEnvironment(
      'iot_devices',
      'reconnect_device',
      { device: 'balcony-flood' },
      {
        device: { how: 'place', noun: 'device', place: 5, of: 5 },
      },
    ),
    inEnvironment(
      'iot_devices',
      'set_light',
      { light: 'balcony-flood', brightness: 40 },
      {
        light: { how: 'label', noun: 'light', label: lamp },
      },
    ),
  ]
  for (const text of spoken(lit)) assert.not.ok(text.includes(lamp), text)
})

test('calls people them or by their first name when they have been named, and no profile or contact', () => {
  const way: Way = { how: 'label', noun: 'profile', label: 'Ingrid Solberg' }
  const asks = [
    inEnvironment('social_media', 'follow_profile', { profile: 'ingrid-solberg' }, { profile: way }),
    inEnvironment(
      'social_media',
      'send_direct_message',
      { profile: 'ingrid-solberg', text: 'Coffee?' },
      { profile: way },
    ),
  ]
  const texts = spoken(asks)
  for (const text of texts) assert.is(text.split('Ingrid Solberg').length, 2, text)
  const isMeant = (text: string): boolean => /\bthem\b|Ingrid(?! Solberg)/.test(text)
  assert.ok(
    texts.every(isMeant),
    texts.find((text) => !isMeant(text)),
  )
  const member: Way = { how: 'label', noun: 'member', label: 'Ana Lima' }
  const busy = spoken([
    inEnvironment('issue_tracker', 'assign_issue', { issue: 'API-3', member: 'ana-lima' }, { member }),
    inEnvironment('issue_tracker', 'list_assigned_issues', { member: 'ana-lima' }, { member }),
  ])
  assert.not.ok(busy.some((text) => /\b(?:what|which|how|whether) them\b/.test(text)))
})

test('sets no pronoun beside the other of two', () => {
  const file: Way = { how: 'only', noun: 'file' }
  const texts = spoken([
    inEnvironment('filesystem', 'read_file', { file: '/home/ana/notes/plan.txt' }, { file }),
    inEnvironment(
      'filesystem',
      'compare_files',
      { file: '/home/ana/old.txt', other_file: '/home/ana/notes/plan.txt' },
      { other_file: file },
    ),
  ])
  assert.not.ok(texts.some((text) => / and it\b/.test(text)))
})

test('shortens "there is" where it says so, and not where it ends a question', () => {
  const manner: Manner = { register: 'chatty', lower: false, unstopped: false, dates: 'iso', clock: '24' }
  const said = (text: string): string => textOf(typed([word(text)], manner))
  assert.is(said('check whether there is a room'), "check whether there's a room")
  for (const text of ['see what there is in town', 'see what cash there is for trading']) assert.is(said(text), text)
})

test('counts a thing in one way where another of its kind stands beside it', () => {
  const way = (place: number): Way => ({ how: 'place', noun: 'contact', place, of: 3 })
  const merge = inEnvironment(
    'crm',
    'merge_crm_contacts',
    { from_contact: 'igor-murray', into_contact: 'igor-murray-2' },
    { from_contact: way(1), into_contact: way(3) },
  )
  const visit = inEnvironment(
    'crm',
    'plan_activity',
    { crm_contact: 'igor-murray-2', kind: 'visit', date: '2026-03-30' },
    { crm_contact: way(3) },
  )
  for (const text of spoken([merge, visit])) assert.is(text.match(/third|3rd/gi)?.length, 2, text)
})

test('has nothing sent as it is that it has changed', () => {
  const way: Way = { how: 'only', noun: 'draft' }
  const edit = inEnvironment('email', 'edit_draft', { draft: 'draft-1', body: 'Hello' }, { draft: way })
  const send = inEnvironment('email', 'send_draft', { draft: 'draft-1' }, { draft: way })
  for (const text of spoken([edit, send])) assert.not.match(text, /as it is/, text)
  assert.ok(spoken([send]).some((text) => /as it is/.test(text)))
})

test('asks about no city but the one where the person lives', () => {
  const topic: OutsideTopic = { name: 'weather', requests: ['Will it rain <city> tomorrow?'] }
  const texts = Array.from({ length: 60 }, (_, i) => {
    const moment = { ...momentOf(i), persona: { ...momentOf(i).persona, role: 'a nurse from Porto' } }
    return outsideRequest(topic, new Set(), moment)!.text
  })
  for (const text of texts) assert.match(text, /rain (here|in porto) tomorrow/i)
  assert.ok(texts.some((text) => /porto/i.test(text)))
})

test('every goal has a form in which each register may wish for it, after a reason too', () => {
  for (const register of REGISTERS) {
    const speaker = { persona: { name: 'Ana', role: 'a nurse', register }, random: seededRandom(1) }
    for (const goal of [
      'see which cards I have',
      'know what to pay for the flight',
      'plan a call',
      'go through the stocks that I own',
    ]) {
      for (const looks of [true, false]) {
        for (const opened of [true, false])
          assert.ok(wished(goal, { looks, opened }, speaker).includes(goal.split(' ')[1]!))
      }
    }
  }
})

test.run()
