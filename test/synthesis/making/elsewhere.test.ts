import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createSeedStateCache, seededRandom, speechOf } from '../../../servers/kernel/index.js'
import { nodeName } from '../../../servers/kernel/tool-graph.js'
import { PAPER_PROFILE } from '../../../tasks/dataset/index.js'
import { contextFor } from '../../../tasks/synthesis/index.js'
import { hasOnePurpose } from '../../../tasks/synthesis/making/one-purpose.js'
import { goesOn } from '../../../tasks/synthesis/making/purpose.js'
import { commonValuesIn } from '../../../tasks/synthesis/making/references.js'
import { walk } from '../../../tasks/synthesis/making/walk.js'
import { wire } from '../../../tasks/synthesis/making/wiring.js'
import { CATALOGUE } from '../../support/spoken-catalogue.js'

const test = suite('chains that continue in another environment')
const seedStates = createSeedStateCache(64)
const { graph } = contextFor([...CATALOGUE.values()], PAPER_PROFILE, 5, seedStates)
const node = (name: string) => graph.nodes.find((each) => nodeName(each) === name)!

/** Walks two tools of different worlds until a state and draw has something that fits. */
function walked(from: string, to: string) {
  for (let seed = 1; seed <= 40; seed++) {
    const open = (environment: Parameters<typeof seedStates.open>[0]) => seedStates.open(environment, seed)
    const chain = [node(from), node(to)]
    const steps = walk(chain, { wiring: wire(chain)!, open, profile: PAPER_PROFILE, random: seededRandom(seed) })
    if (steps) return steps
  }
  throw new Error(`${from} leads nowhere`)
}

test('is declared only where a value of one is an argument of the other', () => {
  for (const from of graph.nodes) {
    for (const name of speechOf(from).elsewhere ?? []) {
      const link = graph.from(from).find(({ to, kind }) => kind === 'cross-environment' && nodeName(to) === name)
      assert.ok(link, `${nodeName(from)} > ${name}`)
    }
  }
})

test('takes over the one place that was found', () => {
  const [found, route] = walked('crm:find_companies', 'maps:get_travel_time')
  const [company] = found!.output.companies as { address: string }[]
  assert.equal(
    route!.bindings.map(({ value, entity }) => [value, entity]),
    [[company!.address, undefined]],
  )
  assert.not.equal(route!.args.from_address, route!.args.to_address)
  assert.ok(hasOnePurpose([found!, route!]))
})

test('keeps the name under which it was found', () => {
  const [found, saved] = walked('maps:list_saved_places', 'vehicle:save_destination')
  const [place] = found!.output.places as { name: string; address: string }[]
  assert.equal([saved!.args.name, saved!.args.address], [place!.name, place!.address])
})

test('is one errand only if the first environment declares it', () => {
  const steps = walked('maps:reverse_geocode', 'shopping:add_delivery_address')
  assert.not.ok(goesOn(steps[0]!, steps[1]!))
  assert.not.ok(hasOnePurpose(steps))
})

test('takes no value from a list with several entries or with further pages', () => {
  const { tool } = node('crm:find_companies')
  const rows = ['1 Mill Lane, Oslo', '2 Mill Lane, Oslo'].map((address) => ({
    name: 'A',
    company: 'a',
    address,
    owner: 'B',
  }))
  const values = (companies: readonly object[], more = {}) =>
    commonValuesIn({ tool, output: { companies, ...more } }, 'address')
  assert.equal(values(rows.slice(1)), ['2 Mill Lane, Oslo'])
  assert.equal(values(rows), [])
  assert.equal(values(rows.slice(1), { next_page: 2 }), [])
})

test.run()
