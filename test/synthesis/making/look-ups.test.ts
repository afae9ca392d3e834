import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { JsonObject } from '../../../rollout/reward/index.js'
import { createSeedStateCache, type Environment, type Session, type ToolSpeech } from '../../../servers/kernel/index.js'
import { lookUpsAreWorthIt } from '../../../tasks/synthesis/making/look-ups.js'
import { endsWithCheck } from '../../../tasks/synthesis/making/purpose.js'
import type { Step } from '../../../tasks/synthesis/making/step.js'
import { CATALOGUE } from '../../support/spoken-catalogue.js'

const test = suite('a look-up from which nothing is taken')
const seedStates = createSeedStateCache(8)
const open = (environment: Environment): Session => seedStates.open(environment, 4)

/** Executes calls in one world, which names look-ups as checks of some of its tools or leaves them open. */
function played(
  name: string,
  calls: readonly (readonly [tool: string, args: JsonObject])[],
  checks: Readonly<Record<string, readonly string[] | undefined>> = {},
): Step[] {
  const known = CATALOGUE.get(name)!
  const speech = [...known.speech].map(
    ([tool, { checks: _, ...own }]) => [tool, checks[tool] ? { ...own, checks: checks[tool] } : own] as const,
  )
  const environment = { ...known, speech: new Map<string, ToolSpeech>(speech) }
  const session = open(environment)
  return calls.map(([toolName, args]) => {
    const result = session.call(toolName, args)
    assert.ok(result.ok, `${toolName} ${JSON.stringify(result)}`)
    return {
      environment,
      tool: environment.toolsByName.get(toolName)!,
      args,
      output: result.output as JsonObject,
      bindings: [],
    }
  })
}

const rowsOf = (environmentName: string, table: string) => open(CATALOGUE.get(environmentName)!).db[table]!.list()
const isReadable = (file: string): boolean => open(CATALOGUE.get('filesystem')!).fork().call('read_file', { file }).ok
const variant = String(rowsOf('shopping', 'variants').find(({ stock }) => Number(stock) > 5)!.variant)
const traveller = String(rowsOf('travel_booking', 'itineraries')[0]!.traveller)
const bought = [
  ['add_to_cart', { variant, quantity: 2 }],
  ['view_cart', {}],
] as const
const renewed = [
  ['update_passport', { traveller, expires: '2035-04-25' }],
  ['list_itineraries', { traveller }],
] as const

test('follows a change that it shows', () => {
  assert.ok(lookUpsAreWorthIt(played('shopping', bought), open))
})

test('comes before a change that it does not show', () => {
  assert.not.ok(lookUpsAreWorthIt(played('travel_booking', renewed), open))
  assert.ok(lookUpsAreWorthIt(played('travel_booking', [...renewed].reverse()), open))
})

test('is what the world says that people look at, and nothing else', () => {
  const named = { update_passport: ['list_itineraries'], add_to_cart: [] }
  assert.ok(lookUpsAreWorthIt(played('travel_booking', renewed, named), open))
  assert.not.ok(lookUpsAreWorthIt(played('shopping', bought, named), open))
  assert.not.ok(endsWithCheck(played('shopping', bought, named)))
  assert.ok(endsWithCheck(played('shopping', bought)))
})

test('is none at the one thing of which the change has just told, unless the world names it', () => {
  const session = open(CATALOGUE.get('shopping')!)
  const { order } = rowsOf('shopping', 'orders').find(
    (row) => session.fork().call('cancel_order', { order: row.order }).ok,
  ) as { order: string }
  const called = [
    ['cancel_order', { order }],
    ['show_order', { order }],
  ] as const
  assert.not.ok(lookUpsAreWorthIt(played('shopping', called), open))
  assert.ok(lookUpsAreWorthIt(played('shopping', called, { cancel_order: ['show_order'] }), open))
})

test('follows another about the same thing where that names it, or names none', () => {
  const account = String(rowsOf('banking', 'cards').find(({ status }) => status === 'active')!.account)
  const twice = [
    ['get_balance', { account }],
    ['list_cards', { account }],
  ] as const
  const fits = (checks: Readonly<Record<string, readonly string[]>>): boolean =>
    lookUpsAreWorthIt(played('banking', twice, checks), open)
  assert.ok(fits({}))
  assert.not.ok(fits({ get_balance: [] }))
  assert.ok(fits({ get_balance: ['list_cards'] }))
})

test('is not excused by a call that takes what was known before', () => {
  const call = ['create_event', { title: 'Hiring Demo', date: '2026-03-04', start: '18:30', duration: 30 }] as const
  const [first] = played('calendar', [call])
  const [made, shown] = played('calendar', [call, ['get_event', { event: first!.output.event as string }]])
  const event = String(made!.output.event)
  const repeated: Step = {
    ...made!,
    tool: made!.environment.toolsByName.get('repeat_event')!,
    args: { event },
    bindings: [{ field: 'event', value: event, source: 1, entity: 'event', ways: [] }],
  }
  assert.not.ok(lookUpsAreWorthIt([made!, shown!, repeated], open))
})

test('tells what nobody was told before', () => {
  const kind = String(rowsOf('banking', 'accounts').find(({ status }) => status === 'active')!.kind)
  const account = String(rowsOf('banking', 'accounts').find((row) => row.kind === kind)!.account)
  const once = [
    ['list_accounts', { kind }],
    ['get_balance', { account }],
  ] as const
  assert.ok(lookUpsAreWorthIt(played('banking', once), open))
  assert.not.ok(lookUpsAreWorthIt(played('banking', [...once, once[1]]), open))
})

test('finds something in what was just made', () => {
  const made = played('travel_booking', [['create_itinerary', { traveller, title: 'Brussels Audit' }]])
  const itinerary = String(made[0]!.output.itinerary)
  const looked = [
    ['create_itinerary', { traveller, title: 'Brussels Audit' }],
    ['get_itinerary', { itinerary }],
  ] as const
  assert.not.ok(lookUpsAreWorthIt(played('travel_booking', looked), open))
})

test('is needless after a look at the same thing that it adds nothing to, whatever came between', () => {
  const file = String(
    rowsOf('filesystem', 'nodes').find(({ kind, path }) => kind === 'text' && isReadable(String(path)))!.path,
  )
  const looks = [
    ['read_file', { file }],
    ['show_file_info', { file }],
    ['read_lines', { file, part: 'first', lines: 1 }],
  ] as const
  const fits = (follows: readonly string[]): boolean =>
    lookUpsAreWorthIt(played('filesystem', looks, { read_file: follows, show_file_info: ['read_lines'] }), open)
  assert.ok(fits(['show_file_info', 'read_lines']))
  assert.not.ok(fits(['show_file_info']))
})

test('finds no place that somebody spells out in another call', () => {
  const session = open(CATALOGUE.get('filesystem')!)
  const file = String(
    rowsOf('filesystem', 'nodes').find(
      ({ kind, path }) => kind === 'text' && /^\/home\/\w+\/notes\//.test(String(path)) && isReadable(String(path)),
    )!.path,
  )
  const [, home, directory] = /^((\/home\/\w+)\/notes)/.exec(file)!.reverse() as [string, string, string]
  const found = session.fork().call('find_directories', { pattern: 'notes', directory: home })
  assert.ok(found.ok)
  const linked = (of: string): Step[] => {
    const steps = played('filesystem', [
      ['find_directories', { pattern: 'notes', directory: home }],
      ['create_link', { file: of, directory, name: 'my-link' }],
    ])
    const binding = { field: 'directory', value: directory, source: 0, entity: 'directory', ways: [] }
    return [steps[0]!, { ...steps[1]!, bindings: [binding] }]
  }
  const elsewhere = String(
    rowsOf('filesystem', 'nodes').find(
      ({ kind, path }) => kind === 'text' && !String(path).startsWith(`${directory}/`) && isReadable(String(path)),
    )!.path,
  )
  assert.not.ok(lookUpsAreWorthIt(linked(file), open))
  assert.ok(lookUpsAreWorthIt(linked(elsewhere), open))
})

test.run()
