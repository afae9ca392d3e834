import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { JsonObject } from '../../../rollout/reward/index.js'
import { createSeedStateCache, type Environment, meaningOf, type Session } from '../../../servers/kernel/index.js'
import { areAtOdds, belongsTogether, isForNothing } from '../../../tasks/synthesis/making/contradictions.js'
import { hasOnePurpose } from '../../../tasks/synthesis/making/one-purpose.js'
import { isPurposeful } from '../../../tasks/synthesis/making/purpose.js'
import { isIdle } from '../../../tasks/synthesis/making/reversals.js'
import type { Binding, Step } from '../../../tasks/synthesis/making/step.js'
import { CATALOGUE } from '../../support/spoken-catalogue.js'

const test = suite('one errand')
const seedStates = createSeedStateCache(8)
const open = (environment: Environment): Session => seedStates.open(environment, 4)
type Results = readonly JsonObject[]

/** Executes calls in one world. Keys that an earlier result shows are taken from the nearest that does. */
function played(
  name: string,
  calls: readonly (readonly [tool: string, args: (results: Results) => JsonObject])[],
): Step[] {
  const environment = CATALOGUE.get(name)!
  const session = open(environment)
  const steps: Step[] = []
  for (const [toolName, argsOf] of calls) {
    const tool = environment.toolsByName.get(toolName)!
    const args = argsOf(steps.map(({ output }) => output))
    const result = session.call(toolName, args)
    assert.ok(result.ok, `${toolName} ${JSON.stringify(args)} ${JSON.stringify(result)}`)
    const bindings = Object.entries(args).flatMap(([field, value]): Binding[] => {
      const { entity } = meaningOf(tool.input.shape[field]!)
      const source = steps.findLastIndex(({ output }) => JSON.stringify(output).includes(JSON.stringify(value)))
      if (entity === undefined || typeof value !== 'string' || source < 0) return []
      return [{ field, value, source, entity, ways: [] }]
    })
    steps.push({ environment, tool, args, output: result.output as JsonObject, bindings })
  }
  return steps
}

const rowsOf = (environmentName: string, table: string) => open(CATALOGUE.get(environmentName)!).db[table]!.list()
const pick = (results: Results, list: string, field: string, at = 0): string =>
  (results.at(-1)![list] as JsonObject[])[at]![field] as string
const kind = String(rowsOf('banking', 'accounts').find(({ status }) => status === 'active')!.kind)

test('is to look for a thing and do something with it', () => {
  const steps = played('banking', [
    ['list_accounts', () => ({ kind })],
    ['get_balance', (seen) => ({ account: pick(seen, 'accounts', 'account') })],
  ])
  assert.ok(hasOnePurpose(steps))
})

test('is not to do something with two things that only stand in one list', () => {
  const [one, other] = rowsOf('issue_tracker', 'issues').filter(({ status }) => status !== 'done') as unknown as [
    { issue: string },
    { issue: string },
  ]
  const comment = 'please add a test'
  const apart = played('issue_tracker', [
    ['comment_on_issue', () => ({ issue: one.issue, comment })],
    ['comment_on_issue', () => ({ issue: other.issue, comment })],
  ])
  assert.not.ok(hasOnePurpose(apart))
  const together = played('issue_tracker', [
    ['comment_on_issue', () => ({ issue: one.issue, comment })],
    ['show_issue', () => ({ issue: one.issue })],
  ])
  assert.ok(hasOnePurpose(together))
})

test('does not look for something for one thing and use it for another', () => {
  const own = rowsOf('calendar', 'events').filter(
    ({ status, date }) => status === 'confirmed' && String(date) > '2026-03-02',
  )
  const booked = (at: number, pages: object): Step[] | undefined => {
    const session = open(CATALOGUE.get('calendar')!)
    const [one, other] = [own[at]!, own[at + 1]!]
    const found = session.fork().call('find_free_rooms', { event: one.event })
    const room = found.ok ? (found.output.rooms as { room: string }[])[0]?.room : undefined
    const fits = (event: unknown): boolean => session.fork().call('book_room', { event, room }).ok
    if (!room || !fits(one.event) || !fits(other.event)) return undefined
    const event = 'same' in pages ? one.event : other.event
    return played('calendar', [
      ['find_free_rooms', () => ({ event: String(one.event) })],
      ['book_room', (seen) => ({ event: String(event), room: pick(seen, 'rooms', 'room') })],
    ])
  }
  const at = own.findIndex((_, i) => i < own.length - 1 && booked(i, {}) !== undefined)
  assert.ok(hasOnePurpose(booked(at, { same: true })!))
  assert.not.ok(hasOnePurpose(booked(at, {})!))
})

test('leaves no search in its middle of which nothing is used', () => {
  const account = String(rowsOf('banking', 'accounts').find(({ status }) => status === 'active')!.account)
  const steps = played('banking', [
    ['get_balance', () => ({ account })],
    ['list_cards', () => ({ account })],
    ['list_standing_orders', () => ({ account })],
  ])
  assert.not.ok(hasOnePurpose(steps))
  assert.ok(hasOnePurpose(steps.slice(0, 2)), 'at the end it is what was wanted')
})

test('goes on as its world says that people do', () => {
  const banking = CATALOGUE.get('banking')!
  const chain = (...names: string[]) =>
    names.map((name) => ({ environment: banking, tool: banking.toolsByName.get(name)! }))
  assert.ok(isPurposeful(chain('add_payee', 'list_accounts', 'send_payment')))
  assert.not.ok(isPurposeful(chain('send_payment', 'freeze_card')))
  const bare = { ask: ['do it'], further: { ask: [], goals: [] } }
  const silent = { ...banking, speech: new Map(banking.tools.map(({ name }) => [name, bare])) }
  assert.ok(isPurposeful(chain('send_payment', 'freeze_card').map(({ tool }) => ({ environment: silent, tool }))))
})

test('acts in one world alone', () => {
  const node = (environmentName: string, name: string) => {
    const environment = CATALOGUE.get(environmentName)!
    return { environment, tool: environment.toolsByName.get(name)! }
  }
  assert.not.ok(isPurposeful([node('vehicle', 'save_destination'), node('maps', 'save_place')]))
  assert.ok(isPurposeful([node('maps', 'list_saved_places'), node('vehicle', 'save_destination')]))
})

test('changes what it is to change', () => {
  const light = rowsOf('iot_devices', 'devices').find(
    ({ kind, online, busy_until, level }) => kind === 'light' && online && busy_until === '' && Number(level) > 0,
  )! as unknown as { device: string; level: number }
  const same = played('iot_devices', [['set_light', () => ({ light: light.device, brightness: light.level })]])
  assert.ok(isIdle(same, open))
  const other = played('iot_devices', [['set_light', () => ({ light: light.device, brightness: 0 })]])
  assert.not.ok(isIdle(other, open))
})

const car = CATALOGUE.get('vehicle')!
const inCar = (name: string, args: JsonObject): Step => ({
  environment: car,
  tool: car.toolsByName.get(name)!,
  args,
  output: {},
  bindings: [],
})

test('has one speed, and one number of nights', () => {
  assert.ok(areAtOdds([inCar('accelerate_to', { speed: 130 }), inCar('set_cruise_control', { speed: 60 })]))
  assert.not.ok(areAtOdds([inCar('accelerate_to', { speed: 60 }), inCar('set_cruise_control', { speed: 60 })]))
  const travel = CATALOGUE.get('travel_booking')!
  const stay = (nights: number): Step[] => [
    {
      environment: travel,
      tool: travel.toolsByName.get('search_hotels')!,
      args: { nights: 2 },
      output: {},
      bindings: [],
    },
    {
      environment: travel,
      tool: travel.toolsByName.get('book_hotel')!,
      args: { nights, hotel: 'inn' },
      output: {},
      bindings: [{ field: 'hotel', value: 'inn', source: 0, entity: 'hotel', ways: [] }],
    },
  ]
  assert.ok(areAtOdds(stay(3)))
  assert.not.ok(areAtOdds(stay(2)))
})

test('does not find a brand of sports and look at what it has for the kitchen', () => {
  const shop = CATALOGUE.get('shopping')!
  const browse = (args: JsonObject): Step[] => [
    {
      ...{ environment: shop, tool: shop.toolsByName.get('list_brands')! },
      args: { category: 'sports' },
      output: {},
      bindings: [],
    },
    {
      ...{ environment: shop, tool: shop.toolsByName.get('browse_products')!, output: {} },
      args: { brand: 'velour', ...args },
      bindings: [{ field: 'brand', value: 'velour', source: 0, entity: 'brand', ways: [] }],
    },
  ]
  assert.ok(areAtOdds(browse({ category: 'kitchen' })))
  assert.not.ok(areAtOdds(browse({ category: 'sports' })))
  assert.not.ok(areAtOdds(browse({})))
})

test('does not look for what a thing has to do something else with it', () => {
  const travel = CATALOGUE.get('travel_booking')!
  const booking = 'booking-55'
  const then = (name: string, args: JsonObject): Step[] => [
    {
      environment: travel,
      tool: travel.toolsByName.get('find_free_seats')!,
      args: { booking },
      output: { booking, seats: [{ seat: '4B' }] },
      bindings: [],
    },
    { environment: travel, tool: travel.toolsByName.get(name)!, args: { booking, ...args }, output: {}, bindings: [] },
  ]
  assert.ok(isForNothing(then('add_baggage', { bags: 2 }), 0))
  assert.not.ok(isForNothing(then('choose_seat', { seat: '4B' }), 0))
})

test('gives no work of one project to somebody who was looked for in another', () => {
  const [one] = rowsOf('issue_tracker', 'issues') as unknown as [{ issue: string; project: string }]
  const tracker = CATALOGUE.get('issue_tracker')!
  const member = 'mona'
  const assigned = (project: string): Step[] => [
    {
      environment: tracker,
      tool: tracker.toolsByName.get('list_project_members')!,
      args: { project },
      output: {},
      bindings: [],
    },
    {
      environment: tracker,
      tool: tracker.toolsByName.get('assign_issue')!,
      args: { issue: one.issue, member },
      output: {},
      bindings: [{ field: 'member', value: member, source: 0, entity: 'member', ways: [] }],
    },
  ]
  assert.ok(belongsTogether(assigned(one.project), open))
  assert.not.ok(belongsTogether(assigned('ELSEWHERE'), open))
  const reported = (project: string): Step[] => {
    const [list, assign] = assigned(project) as [Step, Step]
    const issue = 'NEW-1'
    const report = {
      environment: tracker,
      tool: tracker.toolsByName.get('create_issue')!,
      args: { project: one.project, title: 'Add a dark theme', type: 'feature' },
      output: { issue },
      bindings: [],
    }
    const given = { field: 'issue', value: issue, source: 1, entity: 'issue', ways: [] }
    return [list, report, { ...assign, args: { issue, member }, bindings: [...assign.bindings, given] }]
  }
  assert.ok(belongsTogether(reported(one.project), open))
  assert.not.ok(belongsTogether(reported('ELSEWHERE'), open), 'what was made belongs where it was made')
})

test('is not to find out how far one walks and then to have the car drive there', () => {
  const step = (
    environmentName: string,
    name: string,
    args: JsonObject,
    output: JsonObject,
    bindings: Binding[] = [],
  ): Step => {
    const environment = CATALOGUE.get(environmentName)!
    return { environment, tool: environment.toolsByName.get(name)!, args, output, bindings }
  }
  const address = '45 Elm Street, Berlin'
  const found = { name: 'Quiet Maple Bakery', place: 'quiet-maple-bakery', address }
  const from = (source: number, field: string, value: string, entity?: string): Binding[] => [
    { field, value, source, entity, ways: [] },
  ]
  const course = (mode: string): Step[] => [
    step(
      'maps',
      'find_reachable_places',
      { address: '54 Elm Street, Berlin', category: 'bakery', mode, minutes: 10 },
      { found: 1, places: [found] },
    ),
    step('maps', 'get_place', { place: found.place }, found, from(0, 'place', found.place, 'place')),
    step(
      'vehicle',
      'save_destination',
      { name: found.name, address },
      { name: found.name, destination: 'quiet-maple', city: 'Berlin', km: 8 },
      from(1, 'address', address),
    ),
  ]
  assert.ok(hasOnePurpose(course('driving')))
  assert.not.ok(hasOnePurpose(course('walking')))
})

test.run()
