import * as fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Distribution } from '../../../engine/distribution.js'
import { createDrawTable, noiseOf } from '../../../engine/draw.js'
import { aheadOf, select } from '../../../engine/selection.js'
import type { Draw } from '../../../engine/types.js'
import { seededRandom } from '../../../servers/kernel/index.js'
import { distributionOf } from '../../support/listed-distribution.js'

/** That a token is found with little of a distribution, and that it is the one of the rule. */
const test = suite('selection')

const selectedByAll = (values: readonly number[], draw: Draw, temperature: number): number => {
  const scores = values.map((logit, token) => logit + temperature * noiseOf(draw, token))
  return scores.indexOf(Math.max(...scores))
}

/** Logits as a policy of that standard deviation has them, as float32 numbers. */
function logitsOf(seed: number, size: number, spread: number): number[] {
  const random = seededRandom(seed)
  const unit = (): number => (random.int(0, 2 ** 30) + 0.5) / (2 ** 30 + 1)
  return Array.from({ length: size }, () =>
    Math.fround(spread * Math.sqrt(-2 * Math.log(unit())) * Math.cos(2 * Math.PI * unit())),
  )
}

const VOCABULARIES = [2, 40, 400, 10_000] as const
const SPREADS = [0, 0.3, 1.5, 3, 4, 6, 20] as const

test('the token whose logit and noise are the largest is selected, however sure the policy and large its vocabulary', async () => {
  for (const size of VOCABULARIES) {
    const table = createDrawTable(size)
    for (const spread of SPREADS) {
      const values = logitsOf(size, size, spread)
      const distribution = distributionOf(values)
      for (let position = 0; position < (size > 1000 ? 12 : 60); position++) {
        const draw = { seed: size, position }
        for (const temperature of [1, 0.5, 3]) {
          const { token, logit } = await select(distribution, table.noise(draw), table, temperature)
          assert.is(token, selectedByAll(values, draw, temperature), `${size} ${spread} ${position} ${temperature}`)
          assert.is(logit, values[token])
        }
      }
    }
  }
})

test('what float32 does not tell apart is decided by the logits themselves', async () => {
  const table = createDrawTable(10_000)
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: 1000 }), fc.constantFrom(1e-7, 1e-5, 1e-3), async (position, gap) => {
      const draw = { seed: 11, position }
      const values = logitsOf(position, 10_000, 1)
      const best = Math.max(...values.map((logit, token) => logit + noiseOf(draw, token)))
      // Another one behind the winner by next to nothing, and one before it.
      for (const [token, by] of [
        [7, -gap],
        [8, gap],
      ] as const)
        values[token] = best + by - noiseOf(draw, token)
      assert.is((await select(distributionOf(values), table.noise(draw), table)).token, 8)
    }),
    { numRuns: 20, seed: 20261123 },
  )
})

test('a best score that is lower than was guessed is looked for again', async () => {
  const table = createDrawTable(10_000)
  // Of hundreds of equal tokens the best has little noise for once: those that the guess left out are looked at too.
  let again = 0
  for (let position = 0; position < 40; position++) {
    const draw = { seed: 3, position }
    const noise = table.noise(draw)
    const quiet = Array.from({ length: 10_000 }, (_, token) => token).filter((token) => noise.of(token) < -1)
    const values = Array.from({ length: 10_000 }, () => -40)
    for (const token of quiet) values[token] = 0
    let looks = 0
    const distribution = distributionOf(values, (look) => {
      if (look === 'raised') looks += 1
    })
    assert.is((await select(distribution, noise, table)).token, selectedByAll(values, draw, 1))
    again += Number(looks > 1)
  }
  assert.is(again, 40)
})

test('most draws find what they want in what they asked for ahead', async () => {
  const table = createDrawTable(2048)
  let [asked, further] = [0, 0]
  for (const spread of [1.5, 3, 6]) {
    const values = logitsOf(9, 2048, spread)
    for (let position = 0; position < 100; position++) {
      const noise = table.noise({ seed: 9, position })
      const { reach, raised } = aheadOf(noise, table, 1)
      const whole = distributionOf(values)
      const distribution: Distribution = {
        ...whole,
        near(wanted, by) {
          asked += 1
          further += Number(by !== raised || wanted > reach)
          return whole.near(Math.max(wanted, reach), by)
        },
      }
      const { token } = await select(distribution, noise, table, 1, raised)
      assert.is(token, selectedByAll(values, { seed: 9, position }, 1))
    }
  }
  assert.ok(asked >= 200 && further < asked / 10, `${further} of ${asked} looks went further`)
})

test('greedily the likeliest token is taken without a further look', async () => {
  const values = logitsOf(1, 400, 1)
  const looks: string[] = []
  const table = createDrawTable(400)
  const { token } = await select(
    distributionOf(values, (look) => looks.push(look)),
    table.noise({ seed: 1, position: 0 }),
    table,
    0,
  )
  assert.is(token, values.indexOf(Math.max(...values)))
  assert.equal(looks, [])
})

test('of a large vocabulary few tokens are looked at, however many matter', async () => {
  const size = 10_000
  const table = createDrawTable(size)
  const most = 20 * Math.E * Math.sqrt(size)
  for (const spread of SPREADS.slice(1)) {
    let seen = 0
    const distribution = distributionOf(logitsOf(2, size, spread), (_, tokens) => {
      seen += tokens
    })
    for (let position = 0; position < 20; position++) {
      const noise = table.noise({ seed: 5, position })
      assert.ok(noise.loud.length < 1.3 * Math.E * Math.sqrt(size), `${noise.loud.length} loud ones`)
      await select(distribution, noise, table)
    }
    assert.ok(seen <= most, `${seen} tokens in 20 draws at a spread of ${spread}`)
  }
})

test.run()
