// needs: python

import '../../swarm/polyfill.js'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Arena, openArena } from '../attackers/arena.js'
import { ATTACKS } from '../attackers/attack-suite.js'
import { DEMO_CALIBRATION } from '../attackers/calibration.js'
import { checkout } from '../support/checkout.js'
import { PATIENCE_MS } from '../support/patience.js'
import { stated } from '../support/stated.js'

/** The short form of `npm run attackers`: each attack once, against a real coordinator with real audits. */

const test = suite<{ arena: Arena }>('attackers')
/** One attack takes many groups, and each group many steps. */
const signal = (): AbortSignal => AbortSignal.timeout(4 * PATIENCE_MS)
/** A test on numbers may let one group pass. */
const TRIES_OF_NUMBERS = 2

test.before(
  stated(async (context) => {
    context.arena = await openArena({ seed: 1, calibration: DEMO_CALIBRATION })
  }),
)
test.after((context) => context.arena.close())

for (const { name, about, provable, places, attempt } of ATTACKS) {
  test(`${name}: who ${about} is caught`, async ({ arena }) => {
    const tries = provable ? 1 : TRIES_OF_NUMBERS
    const stated: string[] = []
    for (let i = 0; i < tries; i++) {
      const { caught, place, code, detail } = await attempt(arena, i, signal())
      stated.push(`${code}: ${detail}`)
      if (!caught) continue
      assert.ok(place !== null && places.includes(place), `${name} was stopped at ${place}`)
      return
    }
    assert.unreachable(stated.join('; '))
  })
}

test('no honest volunteer among the attackers was refused anything', ({ arena }) => {
  assert.ok(arena.honest.groups > 0)
  assert.equal(arena.honest.refused, [])
})

test('docs/explain/attackers.md lists every attack as it is', () => {
  const documented = readFileSync(join(checkout, 'docs', 'explain', 'attackers.md'), 'utf8').match(
    /^\| `[a-z-]+` \| .* \| (yes|no) \| .* \|$/gm,
  )
  const rows = ATTACKS.map(
    ({ name, about, provable, places }) =>
      `| \`${name}\` | ${about} | ${provable ? 'yes' : 'no'} | ${places.join(', ')} |`,
  )
  assert.equal(documented, rows)
})

test.run()
