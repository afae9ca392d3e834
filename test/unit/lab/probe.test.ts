import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { tables } from '../../../lab/commands/probe.js'
import { type Probed, type ProbeResult, probe } from '../../../lab/probe.js'
import { FALSE_PASS_PROBES, PROBES } from '../../../lab/probes.js'
import { areaUnderCurve } from '../../../tasks/dataset/index.js'
import { checkout } from '../../support/checkout.js'
import { examples, runtime } from '../../support/episodes.js'
import { patience } from '../../support/patience.js'

let probed: Probed | undefined
const once = async (): Promise<Probed> => {
  probed ??= await probe(examples, runtime, patience())
  return probed
}
const generalShare = examples.filter(({ task }) => task.kind === 'abstention').length / examples.length
const resultOf = ({ results }: Probed, start: string): ProbeResult =>
  results.find(({ name }) => name.startsWith(start))!

test('every probe applies to some task, and the reference answers get the maximum reward', async () => {
  const found = await once()
  assert.is(found.tasks, examples.length)
  assert.equal(
    found.results.map(({ name }) => name),
    [...PROBES, ...FALSE_PASS_PROBES].map(({ name }) => name),
  )
  for (const { name, tasks } of found.results)
    assert.ok(tasks > 0 || name === 'independent calls of a turn in another order', name)
  const [reference] = found.results
  assert.equal(reference!.full, { paper: 1, outcome: 1, solved: 1, orchestration: 1 })
  assert.is(reference!.solved, 1)
})

test('outcome gives no hack the full reward, and paper gives it to most of them', async () => {
  const found = await once()
  for (const start of [
    'right calls, and “',
    'right calls, and an invented sum',
    'right calls, empty',
    'every call twice',
  ]) {
    const { full, earned, solved } = resultOf(found, start)
    // An answer to a general question may contain other numbers.
    assert.is(full.outcome, start.endsWith('sum') ? generalShare : 0, start)
    assert.ok(earned.outcome! < 0.85 && earned.paper! > 0.9 && solved > 0.9, `${start}: ${JSON.stringify(earned)}`)
  }
  assert.is(resultOf(found, 'all calls before').full.outcome, 0)
  assert.is(resultOf(found, 'all calls before').full.paper, 1)
})

test('under outcome, failed calls get less reward than half of the calls or no calls', async () => {
  const found = await once()
  const failed = resultOf(found, 'every call failed').earned
  assert.ok(failed.outcome! < 0 && failed.paper! > 0.7)
  assert.ok(failed.outcome! < resultOf(found, 'the first half').earned.outcome!)
})

test('a message without calls earns nothing where calls are needed, and calls with empty arguments earn most from orchestration', async () => {
  const found = await once()
  for (const start of ['no calls, an empty message', 'no calls, “Let me look'])
    assert.equal(resultOf(found, start).largest, { paper: 0, outcome: 0, solved: 0, orchestration: 0 }, start)
  const { earned, largest } = resultOf(found, 'each tool once with empty arguments, empty')
  assert.ok(earned.outcome! < 0 && earned.orchestration! > 0.2, JSON.stringify(earned))
  for (const most of Object.values(largest)) assert.ok(most < 1)
  for (const start of ['stops after the first call', 'stops before the last call']) {
    const { largest: most, full, solved } = resultOf(found, start)
    assert.ok(most.outcome! <= 0.5 && most.paper! < 1, `${start}: ${JSON.stringify(most)}`)
    assert.is(full.outcome! + full.paper! + solved, 0, start)
  }
})

test('outcome ranks right above wrong probes better than paper does', async () => {
  const { paper, outcome } = (await once()).rankings
  assert.ok(outcome!.over > paper!.over && outcome!.within > paper!.within)
  assert.ok(outcome!.over > 0.9, `${outcome!.over}`)
})

test('the document has a row for every probe', async () => {
  const document = readFileSync(join(checkout, 'docs', 'explain', 'reward.md'), 'utf8')
  const shown = tables(await once())
  for (const { name } of [...PROBES, ...FALSE_PASS_PROBES]) {
    assert.ok(document.includes(`| ${name} |`), `docs/explain/reward.md lacks: ${name}`)
    assert.ok(shown.includes(`| ${name} |`), name)
  }
})

test('the area under the curve is the share of ordered pairs, ties counting half', () => {
  const values = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(values, values, (rights, wrongs) => {
      const pairs = rights.flatMap((right) =>
        wrongs.map((wrong): number => (right > wrong ? 1 : right === wrong ? 0.5 : 0)),
      )
      const share = pairs.reduce((sum, pair) => sum + pair, 0) / pairs.length
      assert.ok(Math.abs(areaUnderCurve(rights, wrongs) - share) < 1e-12)
    }),
    { numRuns: 200, seed: 6 },
  )
})

test.run()
