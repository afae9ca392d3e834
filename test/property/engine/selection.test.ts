import * as fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createDrawTable, noiseOf } from '../../../rollout/engine/gumbel-max.js'
import { searchOf, select } from '../../../rollout/engine/selection.js'
import type { Draw } from '../../../rollout/engine/types.js'
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
          const { token, logits } = await select(distribution, searchOf(table.noise(draw), table, temperature))
          assert.is(token, selectedByAll(values, draw, temperature), `${size} ${spread} ${position} ${temperature}`)
          if (logits !== null) assert.equal(logits, { own: values[token]!, top: Math.max(...values) })
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
      assert.is((await select(distributionOf(values), searchOf(table.noise(draw), table))).token, 8)
    }),
    { numRuns: 20, seed: 20261123 },
  )
})

test('a best score that is lower than was hoped for is looked for again', async () => {
  const table = createDrawTable(10_000)
  // The likeliest token has hardly any noise, and the one that wins is just below the end of the first read.
  let again = 0
  for (let position = 0; position < 40; position++) {
    const draw = { seed: 3, position }
    const noise = table.noise(draw)
    const tokens = Array.from({ length: 10_000 }, (_, token) => token).filter((token) => !noise.isCandidate(token))
    const byNoise = tokens.sort((a, b) => noise.of(a) - noise.of(b))
    const [likeliest, winner] = [byNoise[0]!, byNoise.at(-1)!]
    const values = Array.from({ length: 10_000 }, () => -40)
    values[likeliest] = 0
    values[winner] = -searchOf(noise, table).reach - 0.1
    let reads = 0
    const distribution = distributionOf(values, (read) => {
      if (read === 'raised') reads += 1
    })
    assert.is(selectedByAll(values, draw, 1), winner)
    assert.is((await select(distribution, searchOf(noise, table))).token, winner)
    again += Number(reads > 1)
  }
  assert.is(again, 40)
})

test('most draws need one read, which is requested at once', async () => {
  const table = createDrawTable(2048)
  let [draws, reads] = [0, 0]
  for (const spread of [1.5, 3, 6]) {
    const values = logitsOf(9, 2048, spread)
    const distribution = distributionOf(values, () => {
      reads += 1
    })
    for (let position = 0; position < 100; position++) {
      draws += 1
      const before = reads
      const selected = select(distribution, searchOf(table.noise({ seed: 9, position }), table))
      assert.is(reads, before + 1)
      assert.is((await selected).token, selectedByAll(values, { seed: 9, position }, 1))
    }
  }
  assert.ok(reads < 1.1 * draws, `${reads} reads for ${draws} draws`)
})

test('for a certain policy the search mostly finds the logit of the token and the largest one', async () => {
  const table = createDrawTable(10_000)
  const distribution = distributionOf(logitsOf(4, 10_000, 6))
  let stated = 0
  for (let position = 0; position < 100; position++) {
    const { logits } = await select(distribution, searchOf(table.noise({ seed: 4, position }), table))
    stated += Number(logits !== null)
  }
  assert.ok(stated > 60, `${stated} of 100`)
})

test('the largest logit is not reported where a candidate may have it', async () => {
  const table = createDrawTable(400)
  for (let position = 0; position < 60; position++) {
    const noise = table.noise({ seed: 2, position })
    const values = logitsOf(position, 400, 3)
    values[noise.candidates[0]!] = Math.max(...values) + 1e-6
    const { logits } = await select(distributionOf(values), searchOf(noise, table))
    assert.is(logits, null)
  }
})

test('non-finite logits select nothing', async () => {
  const table = createDrawTable(2)
  const reads = { near: async () => [[0, Number.NaN] as [number, number]], logitOf: async () => Number.NaN }
  const selected = select(reads, searchOf(table.noise({ seed: 1, position: 0 }), table))
  await selected.then(
    () => assert.unreachable(),
    (error: Error) => assert.match(error.message, 'not finite numbers'),
  )
})

test('of a large vocabulary a tenth is looked at at most, however many tokens matter', async () => {
  const size = 10_000
  const table = createDrawTable(size)
  const draws = 20
  for (const spread of SPREADS.slice(1)) {
    let seen = 0
    const distribution = distributionOf(logitsOf(2, size, spread), (_, tokens) => {
      seen += tokens
    })
    for (let position = 0; position < draws; position++) {
      const noise = table.noise({ seed: 5, position })
      assert.ok(noise.candidates.length < 1.3 * Math.E * Math.sqrt(size), `${noise.candidates.length} candidates`)
      await select(distribution, searchOf(noise, table))
    }
    assert.ok(seen <= (draws * size) / 10, `${seen} tokens in ${draws} draws at a spread of ${spread}`)
  }
})

test.run()
