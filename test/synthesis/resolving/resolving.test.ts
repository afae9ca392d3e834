import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { JsonObject } from '../../../rollout/reward/index.js'
import type { Exchange } from '../../../tasks/dataset/example.js'
import { resolve } from '../../../tasks/synthesis/resolving/resolve.js'
import { transcriptOf } from '../../../tasks/synthesis/resolving/transcript.js'
import { CATALOGUE } from '../../support/spoken-catalogue.js'

const test = suite('a listener')

interface Stated {
  readonly user: string
  readonly calls: readonly (readonly [name: string, args: JsonObject, output: JsonObject])[]
  readonly assistant: string
}

/** What the last call's `field` is, by words of the turn that asks for it. */
function understood(turns: readonly Stated[], environmentName: string, entity: string, noun: string, words: string) {
  let truth = 0
  const exchanges = turns.map(
    ({ user, calls, assistant }): Exchange => ({
      user,
      assistant,
      calls: calls.map(([name, args, output]) => ({
        environment: environmentName,
        name,
        arguments: args,
        response: JSON.stringify(output),
        ok: true,
        truth: truth++,
      })),
    }),
  )
  const turn = turns.length - 1
  const at = turns[turn]!.user.indexOf(words)
  assert.ok(at >= 0)
  return resolve(
    { turn, at, words, call: truth - 1, entity, noun },
    transcriptOf({ exchanges, speech: 'natural' }, CATALOGUE),
  )
}

const CARDS = {
  cards: [
    { name: 'Blue Visa', card: 'card-1', account: 'main', status: 'active', limit: 900 },
    { name: 'Red Visa', card: 'card-2', account: 'main', status: 'active', limit: 400 },
    { name: 'Old Visa', card: 'card-3', account: 'main', status: 'active', limit: 600 },
  ],
}
const list: Stated = {
  user: 'List my cards.',
  calls: [['list_cards', {}, CARDS]],
  assistant: 'Here are the cards: Blue Visa, Red Visa, Old Visa.',
}
const asking = (user: string): Stated => ({ user, calls: [['freeze_card', { card: '?' }, {}]], assistant: '' })
const card = (turns: readonly Stated[], words: string) => understood(turns, 'banking', 'card', 'card', words)

test('counts places and compares in a list that the user was told of', () => {
  assert.is(card([list, asking('Freeze the second card.')], 'the second card'), 'card-2')
  assert.is(card([list, asking('Freeze the last one.')], 'the last one'), 'card-3')
  assert.is(card([list, asking('Freeze the card with the lowest limit.')], 'the card with the lowest limit'), 'card-2')
  assert.is(card([list, asking('Freeze the fourth card.')], 'the fourth card'), undefined)
})

test('takes nothing at 10:30 for earlier than what is ten days before', () => {
  const found = (date: string): Stated => ({
    user: 'When is the retro?',
    calls: [
      [
        'find_events',
        { title: 'Retro' },
        {
          found: 2,
          events: [
            { title: 'Retro', event: 'event-1', date: '2026-03-10', start: '13:00' },
            { title: 'Retro', event: 'event-2', date, start: '10:30' },
          ],
        },
      ],
    ],
    assistant: `I found 2 events: Retro on 10 March at 13:00 and Retro on ${date} at 10:30.`,
  })
  const earliest = 'the one with the earliest start'
  const open: Stated = { user: `Open ${earliest}.`, calls: [['get_event', { event: '?' }, {}]], assistant: '' }
  const meant = (date: string) => understood([found(date), open], 'calendar', 'event', 'event', earliest)
  assert.is(meant('2026-03-10'), 'event-2')
  assert.is(meant('2026-03-20'), undefined)
})

test('knows neither the last nor the farthest of a list that goes on', () => {
  for (const more of [{ next_page: 2 }, { found: 9 }]) {
    const part: Stated = { ...list, calls: [['list_cards', {}, { ...CARDS, ...more }]] }
    assert.is(card([part, asking('Freeze the second card.')], 'the second card'), 'card-2')
    assert.is(card([part, asking('Freeze the last one.')], 'the last one'), undefined)
    const lowest = 'the card with the lowest limit'
    assert.is(card([part, asking(`Freeze ${lowest}.`)], lowest), undefined)
  }
  const rest: Stated = { ...list, calls: [['list_cards', { page: 2 }, CARDS]] }
  assert.is(card([rest, asking('Freeze the last one.')], 'the last one'), undefined)
})

test('counts places in the newest list, whatever it lists', () => {
  const transactions = [{ name: 'Grocer', transaction: 'payment-1', amount: 3, status: 'posted' }]
  const other: Stated = {
    user: 'Look for the grocer.',
    calls: [['search_transactions', { name: 'Grocer' }, { found: 1, transactions }]],
    assistant: 'I found Grocer.',
  }
  assert.is(card([list, other, asking('Freeze the first one.')], 'the first one'), undefined)
})

test('lets nobody point into a list that was not told of, or stake anything on one that is still to come', () => {
  const silent = { ...list, assistant: 'Done.' }
  assert.is(card([silent, asking('Freeze the second card.')], 'the second card'), undefined)
  const user = 'List my cards and freeze the first one.'
  const atOnce: Stated = { ...list, user, calls: [...list.calls, ['freeze_card', { card: '?' }, {}]] }
  assert.is(card([atOnce], 'the first one'), undefined)
})

test('takes a name for the one thing that is called so, and for nothing where two are', () => {
  assert.is(card([list, asking('Freeze the Red Visa.')], 'the Red Visa'), 'card-2')
  const twins = { cards: [...CARDS.cards, { ...CARDS.cards[1]!, card: 'card-9' }] }
  const stated: Stated = { ...list, calls: [['list_cards', {}, twins]] }
  assert.is(card([stated, asking('Freeze the Red Visa.')], 'the Red Visa'), undefined)
})

test('understands "that card" as the one spoken of last, not as one of several', () => {
  assert.is(card([list, asking('Freeze that card.')], 'that card'), undefined)
  const frozen: Stated = {
    user: 'Freeze the Old Visa.',
    calls: [['freeze_card', { card: 'card-3' }, { name: 'Old Visa', card: 'card-3', status: 'frozen' }]],
    assistant: 'Old Visa: status frozen.',
  }
  assert.is(card([list, frozen, asking('Now close that card.')], 'that card'), 'card-3')
})

test('knows no thing that stands only in a result', () => {
  const search: Stated = {
    user: 'Search my mail for the plan.',
    calls: [
      ['search_emails', { words: 'plan' }, { found: 1, emails: [{ subject: 'Plan', email: 'm-1', contact: 'ana' }] }],
    ],
    assistant: 'I found 1 email: Plan.',
  }
  const draft = 'Write a draft to that contact.'
  const turns: Stated[] = [search, { user: draft, calls: [['write_draft', { contact: '?' }, {}]], assistant: '' }]
  assert.is(understood(turns, 'email', 'contact', 'contact', 'that contact'), undefined)
  const stated = [{ ...search, assistant: 'I found 1 email: Plan, by ana.' }, turns[1]!]
  assert.is(understood(stated, 'email', 'contact', 'contact', 'that contact'), 'ana')
})

test('knows people by their first names where one of them has it', () => {
  const profiles = (...names: string[]): Stated => ({
    user: 'Who is on here?',
    calls: [
      [
        'find_profile',
        { name: 'i' },
        {
          found: names.length,
          profiles: names.map((name) => ({ name, profile: name.toLowerCase().replace(' ', '-'), private: false })),
        },
      ],
    ],
    assistant: `I found ${names.join(', ')}.`,
  })
  const message: Stated = { user: 'Message Ingrid.', calls: [['follow_profile', { profile: '?' }, {}]], assistant: '' }
  const meant = (...names: string[]) =>
    understood([profiles(...names), message], 'social_media', 'profile', 'profile', 'Ingrid')
  assert.is(meant('Ingrid Solberg', 'Leo Rao'), 'ingrid-solberg')
  assert.is(meant('Ingrid Solberg', 'Ingrid Rao'), undefined)
})

test('follows "it" past what is looked up for the call itself, and past nothing else', () => {
  const file: Stated['calls'][number] = [
    'create_issue',
    { project: 'MAIL', title: 'Upgrade' },
    { title: 'Upgrade', issue: 'MAIL-42', status: 'todo', priority: 'low' },
  ]
  const members: Stated['calls'][number] = [
    'list_project_members',
    { project: 'MAIL' },
    { members: [{ name: 'Will Diaz', member: 'will-diaz', in_progress: 1, wip_limit: 2 }] },
  ]
  const assigned = (member: string): Stated => ({
    user: 'File the task "Upgrade" and assign it to Will Diaz.',
    calls: [file, members, ['assign_issue', { issue: '?', member }, {}]],
    assistant: '',
  })
  const it = (member: string) => understood([assigned(member)], 'issue_tracker', 'issue', 'issue', 'it')
  assert.is(it('will-diaz'), 'MAIL-42')
  assert.is(it('ana-lima'), undefined)
})

test.run()
