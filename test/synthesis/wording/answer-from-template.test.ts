import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { JsonObject } from '../../../rollout/reward/index.js'
import { parseAnswer } from '../../../servers/kernel/index.js'
import { answerFromTemplate } from '../../../tasks/synthesis/wording/answer-from-template.js'
import { CATALOGUE } from '../../support/spoken-catalogue.js'

const test = suite('answers by template')

const TODAY = '2026-03-02'
function say(environmentName: string, name: string, output: JsonObject, args: JsonObject = {}): string | undefined {
  const environment = CATALOGUE.get(environmentName)!
  return answerFromTemplate(
    { environment, tool: environment.toolsByName.get(name)!, args, references: new Map() },
    output,
    TODAY,
  )
}

test('count, name and list what was found', () => {
  const account = { name: 'Daily Fund', account: 'checking-45', currency: 'EUR', status: 'active' }
  const one = { found: 1, accounts: [account] }
  assert.is(
    say('banking', 'list_accounts', one, { kind: 'joint' }),
    'You have 1 joint account: Daily Fund (EUR, active).',
  )
  assert.is(
    say('banking', 'list_accounts', { found: 0, accounts: [] }, { kind: 'joint' }),
    'You have no joint accounts.',
  )
  const more = { found: 7, accounts: [...Array(4).fill(account), { ...account, name: 'Pet Pot' }], next_page: 2 }
  assert.is(
    say('banking', 'list_accounts', more, { kind: 'savings' }),
    `You have 7 savings accounts: ${'Daily Fund (EUR, active); '.repeat(4)}Pet Pot (EUR, active); and others.`,
  )
})

test('say that one more is left, where one is', () => {
  const place = { name: 'Home', address: '1 Dock Road, Oslo' }
  const some = { places: [place, place, place, place], next_page: 2 }
  assert.match(say('maps', 'list_saved_places', { found: 5, ...some })!, /Oslo; and one more\.$/)
  assert.match(say('maps', 'list_saved_places', { found: 6, ...some })!, /Oslo; and others\.$/)
})

test('say days by their months, and keys of people as their names', () => {
  const event = {
    title: 'Retro',
    event: 'retro-1',
    date: '2026-03-05',
    start: '09:30',
    duration: 30,
    organiser: 'bo-becker',
  }
  const shown = { ...event, calendar: 'work-calendar', status: 'confirmed', invited: 0, attendees: [] }
  assert.is(
    say('calendar', 'get_event', shown),
    'Retro is confirmed for 5 March at 09:30 and lasts 30 minutes. Bo Becker organises it, without a room. Nobody is invited.',
  )
  const passport = { name: 'Mira', traveller: 'mira', passport_expires: '2031-08-01' }
  assert.is(
    say('travel_booking', 'update_passport', passport),
    'I recorded that the passport of Mira is valid until 1 August 2031.',
  )
})

test('count no page as if it were all there is, and no whole list as if it were a page', () => {
  const rooms = [4, 6, 8].map((seats) => ({ name: `Room ${seats}`, room: `room-${seats}`, seats }))
  const listed = 'Room 4 with 4 seats, Room 6 with 6 seats'
  assert.is(
    say('calendar', 'find_free_rooms', { rooms, next_page: 2 }),
    `At least 3 rooms are free: ${listed}, Room 8 with 8 seats and others.`,
  )
  assert.is(say('calendar', 'find_free_rooms', { rooms }), `3 rooms are free: ${listed} and Room 8 with 8 seats.`)
  const low = ['Mug', 'Bench', 'Lamp'].map((title) => ({ title, article: title, on_hand: 1 }))
  const shipments = ['Candle', 'Ladder', 'Kettle'].map((title) => ({ title, shipment: title, due: '2026-03-05' }))
  const store = {
    name: 'Lisbon Market',
    store: 'lisbon-market',
    open_now: true,
    low_articles: 4,
    low,
    open_shipments: 3,
  }
  const said = say('retail_chain', 'show_store', { ...store, shipments, next_page: 2 })!
  assert.match(said, /short of 4 articles: .* and one more, and 3 shipments/)
  assert.match(said, /Kettle, due 5 March\.$/)
})

test('tell the price of a stay as that of all nights', () => {
  const hotel = { name: 'Little Swan Inn', hotel: 'little-swan-osl', stars: 3, price: 450, rooms: 2 }
  assert.is(
    say('travel_booking', 'search_hotels', { found: 1, hotels: [hotel] }),
    'I found 1 hotel: Little Swan Inn (3 stars, 450 euros for the whole stay, 2 rooms left).',
  )
})

test('are none where the result lacks what they need', () => {
  assert.is(say('banking', 'get_balance', { name: 'Daily Fund', account: 'checking-45', balance: 3 }), undefined)
})

test('do not parse with a bracket too many or too few, or a field that is none', () => {
  for (const wrong of ['a ]', '[a', '{a', '{}', '{a b}', '{a?yes}', '{a*{b}', '{@a:b}'])
    assert.throws(() => parseAnswer(wrong), SyntaxError, wrong)
  assert.equal(parseAnswer('{a=is|are}'), [{ kind: 'agreeing', field: 'a', one: 'is', many: 'are' }])
})

test('an alert goes off at its price or beyond, on the side that it watches', () => {
  const alert = (direction: string) =>
    say('trading', 'add_to_watchlist', {
      name: 'Delta Rail',
      instrument: 'delta-rail',
      direction,
      alert_price: 90,
      armed: 2,
    })
  assert.is(alert('below'), 'Delta Rail is on your watchlist: the alert goes off once the price is 90 euros or below.')
  assert.match(alert('above')!, /90 euros or above\.$/)
})

test('a refund is told as it was made, not as what was refunded in all', () => {
  const refunded = { title: 'Menu cards', invoice: 'invoice-12', status: 'paid', owed: 0, refunded: 80, balance: 900 }
  assert.match(say('payments', 'issue_refund', refunded, { amount: 30 })!, /^I refunded 30 euros on "Menu cards"; /)
})

test.run()
