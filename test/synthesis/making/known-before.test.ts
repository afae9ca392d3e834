import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { JsonObject } from '../../../rollout/reward/index.js'
import { seededRandom } from '../../../servers/kernel/index.js'
import { isHasty, isKnownBefore, isKnownInTime, isSoughtAsOne } from '../../../tasks/synthesis/making/known-before.js'
import { tellReferences } from '../../../tasks/synthesis/making/state-references.js'
import type { StatedStep, Step } from '../../../tasks/synthesis/making/step.js'
import { askForAll } from '../../../tasks/synthesis/making/unanswered-request.js'
import type { Way } from '../../../tasks/synthesis/way.js'
import { CATALOGUE } from '../../support/spoken-catalogue.js'

const test = suite('names of what is looked up')
const environment = CATALOGUE.get('banking')!
const NAME = 'Lake Music Club'
const HEARING = { stated: true, inTime: true }
const label: Way = { how: 'label', noun: 'payee', label: NAME }
const only: Way = { how: 'only', noun: 'payee' }
const found = { found: 1, payees: [{ name: NAME, payee: 'lake-music-club', bank: 'Goldleaf', status: 'active' }] }
const entity = { field: 'payee', value: 'lake-music-club', source: 0, entity: 'payee' }

const step = (name: string, args: JsonObject, output: JsonObject, bindings: Step['bindings'] = []): Step => ({
  environment,
  tool: environment.toolsByName.get(name)!,
  args,
  output,
  bindings,
})

/** A payee is looked for by some words and paid by its name. */
function paid(words: string, ways: readonly Way[] = [label]): Step[] {
  const payment = { account: 'checking-1', payee: 'lake-music-club', amount: 20 }
  return [step('find_payee', { name: words }, found), step('send_payment', payment, {}, [{ ...entity, ways }])]
}

const byName = (steps: readonly Step[]): StatedStep[] =>
  steps.map(({ bindings, ...rest }) => ({ ...rest, bindings: bindings.map((one) => ({ ...one, way: label })) }))

test('are said when they are known: it was looked for by that name, in an earlier turn, or unasked', () => {
  const together = [[0, 1]]
  assert.ok(isKnownInTime(byName(paid(NAME)), together, new Set()))
  const vague = byName(paid('Lake'))
  assert.not.ok(isKnownInTime(vague, together, new Set()))
  assert.ok(isKnownInTime(vague, [[0], [1]], new Set()))
  assert.ok(isKnownInTime(vague, together, new Set([0])))
})

test('give way to what else means the thing, and to nothing where nothing does', () => {
  const random = seededRandom(1)
  for (let draw = 0; draw < 20; draw++) {
    const [, payment] = tellReferences(paid('Lake Music', [label, only]), [[0, 1]], HEARING, random)!
    assert.equal(payment!.bindings[0]!.way, only)
  }
  assert.is(tellReferences(paid('Lake'), [[0, 1]], HEARING, random), null)
  assert.ok(
    tellReferences(paid('Lake'), [[0, 1]], { ...HEARING, unheard: true }, random),
    'of what nobody does no name is too early',
  )
  assert.ok(tellReferences(paid('Lake'), [[0], [1]], HEARING, random))
})

test('are known of what is made by who gives them, and by nobody where they follow from something else', () => {
  const made = step('add_payee', { name: NAME, bank: 'Goldleaf' }, { name: NAME, payee: 'lake-music-club' })
  assert.ok(isKnownBefore(NAME, [made], 0, 0))
  const crm = CATALOGUE.get('crm')!
  const title = 'Redwood Retail Yearly Plan'
  const output = { title, deal: 'deal-655' }
  const converted = {
    ...made,
    environment: crm,
    tool: crm.toolsByName.get('convert_lead')!,
    args: { lead: 'lead-16' },
    output,
  }
  assert.not.ok(isKnownBefore(title, [converted, converted], 0, 0))
  assert.ok(isKnownBefore(title, [converted, converted], 1, 1), 'it was told in the turn before')
})

test('that are sentences are not said where the thing can be meant otherwise', () => {
  const long: Way = { how: 'label', noun: 'message', label: 'Please have a look at the lunch' }
  const it: Way = { how: 'only', noun: 'message' }
  const random = seededRandom(2)
  for (let draw = 0; draw < 20; draw++) {
    const [, payment] = tellReferences(paid(NAME, [long, it]), [[0], [1]], HEARING, random)!
    assert.equal(payment!.bindings[0]!.way, it)
  }
})

const travel = CATALOGUE.get('travel_booking')!
const onTrip = (
  name: string,
  args: JsonObject,
  output: JsonObject,
  bindings: StatedStep['bindings'] = [],
): StatedStep => ({
  environment: travel,
  tool: travel.toolsByName.get(name)!,
  args,
  output,
  bindings,
})
const free = { booking: 'booking-55', found: 2, seats: [{ seat: '4B' }, { seat: '9A' }] }
const seated = (seat: string): StatedStep[] => [
  onTrip('find_free_seats', { booking: 'booking-55' }, free),
  onTrip('choose_seat', { booking: 'booking-55', seat }, {}),
]

test('are not the only thing that has to be known: who has to look for free seats does not say which in the same breath', () => {
  assert.not.ok(isKnownInTime(seated('4B'), [[0, 1]], new Set()))
  assert.ok(isKnownInTime(seated('4B'), [[0], [1]], new Set()), 'it has been told')
  assert.not.ok(isKnownInTime(seated('20F'), [[0, 1]], new Set()), 'nobody asks what is free and takes something else')
  assert.ok(isKnownInTime(seated('4B'), [[0, 1]], new Set([0])), 'nobody asked which are free')
})

test('nobody asks how a thing is and has it changed in the same breath', () => {
  const booking = { booking: 'booking-55' }
  const ended = (look: string): StatedStep[] => [onTrip(look, booking, {}), onTrip('cancel_booking', booking, {})]
  assert.ok(isHasty(ended('get_booking'), [0, 1]))
  assert.not.ok(isHasty(ended('get_booking'), [1]), 'it was told in the turn before')
  assert.not.ok(isHasty(ended('get_booking').toReversed(), [0, 1]), 'who has changed it looks at it')
  const other = [onTrip('get_booking', { booking: 'booking-7' }, {}), onTrip('cancel_booking', booking, {})]
  assert.not.ok(isHasty(other, [0, 1]), 'it is about another')
})

test('are what makes one thing out of a list that nobody has heard: by a part of its name it is meant, by what many have it is not', () => {
  const sought = (args: JsonObject) => isSoughtAsOne(step('find_payee', args, found), 'payee')
  assert.ok(sought({ name: 'lake music' }))
  assert.not.ok(sought({ name: 'Lake' }))
  assert.not.ok(sought({}))
  const made = { name: NAME, payee: 'lake-music-club', bank: 'Goldleaf', status: 'active' }
  assert.ok(isSoughtAsOne(step('add_payee', { name: NAME, bank: 'Goldleaf' }, made), 'payee'))
})

test('of what is looked up for nothing are said instead of the look-up', () => {
  const random = seededRandom(3)
  const script = askForAll(paid('Lake'), random, {})!
  assert.ok(script.silent.has(0))
  assert.is(askForAll(paid('Lake'), random, { understood: true }), null, 'where it is looked up they are too early')
})

test.run()
