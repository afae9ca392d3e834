import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  callBudget,
  ExampleError,
  type LoggedCall,
  PAPER,
  PresetError,
  REWARD_PRESETS,
  rewardPreset,
  type ScoredExample,
  solvedExactly,
} from '../../../rollout/reward/index.js'
import { equalValues } from '../../../rollout/reward/values.js'
import {
  anyJson,
  beyondBudget,
  example,
  hasTwins,
  orderRespectingEdges,
  perfectLog,
  plainFacts,
  reorderKeys,
  scored,
} from '../../support/reward-generators.js'

const RUNS = { numRuns: 400, seed: 20260302 }
const WEIGHTS = { validity: 0.5, coverage: 0.5, efficiency: 0.15, name: 0.2, arg: 0.1 }
const { score } = PAPER
const draws = fc.array(fc.nat({ max: 1000 }), { minLength: 8, maxLength: 8 })

const perfect = ({ groundTruth }: ScoredExample) => perfectLog(groundTruth)
const total = (given: ScoredExample, log: readonly LoggedCall[]): number => score(given, log).total

test('the ground truth replayed in order scores the double 1.3 and is solved', () => {
  fc.assert(
    fc.property(example, (given) => {
      const { total, components, covered } = score(given, perfect(given))
      assert.is(total, 1.3)
      assert.equal(components, { validity: 1, coverage: 1, efficiency: 0, name: 1, arg: 1 })
      assert.is(Object.is(components!.efficiency, -0), false)
      assert.ok(covered.every(Boolean))
      assert.ok(solvedExactly(given.groundTruth, perfect(given)))
    }),
    RUNS,
  )
})

test('nothing scores more than the ground truth, and no component leaves its bounds', () => {
  fc.assert(
    fc.property(scored, ([given, log]) => {
      const { total, components } = score(given, log)
      const budget = callBudget(given.groundTruth.length)
      const over = Math.max(0, log.length - budget)
      assert.ok(total <= PAPER.maximum.calls, `${total}`)
      assert.ok(total >= (-0.075 * over) / budget, `${total} with ${over} calls over the budget`)
      const { efficiency, ...others } = components!
      for (const [name, value] of Object.entries(others)) assert.ok(value >= 0 && value <= 1, `${name} is ${value}`)
      assert.ok(efficiency <= 0 && !Object.is(efficiency, -0), `efficiency is ${efficiency}`)
      assert.is(over === 0, efficiency === 0)
    }),
    RUNS,
  )
})

test('the total is the weighted sum of the components, added left to right', () => {
  fc.assert(
    fc.property(scored, ([given, log]) => {
      const { total, components } = score(given, log)
      let sum = 0
      for (const name of ['validity', 'coverage', 'efficiency', 'name', 'arg'] as const) {
        sum += WEIGHTS[name] * components![name]
      }
      assert.is(total, sum)
    }),
    RUNS,
  )
})

test('a perfect log with one call dropped, renamed or failing scores strictly less', () => {
  fc.assert(
    fc.property(example, fc.nat({ max: 1000 }), (given, draw) => {
      const log = perfect(given)
      const at = draw % log.length
      assert.ok(total(given, log.toSpliced(at, 1)) < 1.3, 'dropped')
      assert.ok(total(given, log.with(at, { ...log[at]!, name: 'unheard_of' })) < 1.3, 'renamed')
      assert.ok(total(given, log.with(at, { ...log[at]!, ok: false })) < 1.3, 'failing')
      assert.ok(total(given, log.with(at, { malformed: true, raw: '<tool_call>{' } as never)) < 1.3, 'malformed')
      for (const broken of [log.toSpliced(at, 1), log.with(at, { ...log[at]!, ok: false })]) {
        assert.not(solvedExactly(given.groundTruth, broken))
      }
    }),
    RUNS,
  )
})

test('a perfect log with one argument value changed scores strictly less', () => {
  fc.assert(
    fc.property(example, fc.nat({ max: 1000 }), anyJson, (given, draw, value) => {
      const log = perfect(given)
      const withArguments = log.flatMap(({ arguments: args }, i) => Object.keys(args).map((key) => [i, key] as const))
      fc.pre(withArguments.length > 0)
      const [at, key] = withArguments[draw % withArguments.length]!
      const entries = Object.entries(log[at]!.arguments)
      fc.pre(!equalValues(entries.find(([name]) => name === key)![1], value))
      const changed = Object.fromEntries(entries.map(([name, old]) => [name, name === key ? value : old]))
      const wrong = log.with(at, { ...log[at]!, arguments: changed })
      assert.ok(total(given, wrong) < 1.3)
      assert.not(solvedExactly(given.groundTruth, wrong))
    }),
    RUNS,
  )
})

test('no permutation of the perfect log scores more than 1.3', () => {
  fc.assert(
    fc.property(example, draws, (given, keys) => {
      const log = perfect(given)
        .map((call, i) => [keys[i]!, call] as const)
        .sort(([a], [b]) => a - b)
        .map(([, call]) => call)
      assert.ok(total(given, log) <= 1.3)
    }),
    RUNS,
  )
})

test('a permutation that respects the edges scores 1.3 when no two calls are identical', () => {
  fc.assert(
    fc.property(
      example.filter(({ groundTruth }) => !hasTwins(groundTruth)),
      draws,
      (given, keys) => {
        const log = perfect(given)
        const order = orderRespectingEdges(given.groundTruth, keys)
        assert.is(
          total(
            given,
            order.map((i) => log[i]!),
          ),
          1.3,
        )
      },
    ),
    RUNS,
  )
})

test('repeats after a perfect log are free up to the budget and cost 0.075 / B each beyond it', () => {
  fc.assert(
    fc.property(example, fc.array(fc.nat({ max: 1000 }), { maxLength: 20 }), (given, repeats) => {
      const log = perfect(given)
      const longer = [...log, ...repeats.map((draw) => log[draw % log.length]!)]
      const budget = callBudget(log.length)
      const expected = 1.3 - (0.075 * Math.max(0, longer.length - budget)) / budget
      assert.ok(Math.abs(total(given, longer) - expected) < 1e-9)
    }),
    RUNS,
  )
})

test('beyond the budget, one more repeat of a valid call that leaves the alignment alone lowers the total', () => {
  let compared = 0
  fc.assert(
    fc.property(beyondBudget, fc.nat({ max: 1000 }), ([given, log], draw) => {
      const longer = [...log, log[draw % log.length]!]
      const [before, after] = [score(given, log), score(given, longer)]
      fc.pre(equalValues([...before.alignment], [...after.alignment]))
      compared++
      assert.ok(after.total < before.total, `${after.total} after ${before.total}`)
    }),
    RUNS,
  )
  assert.is(compared, RUNS.numRuns)
})

test('the order of keys, a JSON round trip and a second run change nothing, and inputs stay as they were', () => {
  fc.assert(
    fc.property(scored, ([given, log]) => {
      const before = JSON.stringify([given, log])
      const first = score(given, log)
      assert.equal(score(given, log), first)
      assert.is(JSON.stringify([given, log]), before)
      const [again, logAgain] = JSON.parse(before) as [ScoredExample, LoggedCall[]]
      assert.equal(score(again, logAgain), first)
      const [turned, logTurned] = reorderKeys(JSON.parse(before)) as unknown as [ScoredExample, LoggedCall[]]
      assert.equal(score(turned, logTurned), first)
    }),
    RUNS,
  )
})

test('with an empty ground truth the total is 1 for no call and 0 for any', () => {
  fc.assert(
    fc.property(scored, ([given, log]) => {
      const { total, components, alignment } = score({ ...given, groundTruth: [] }, log)
      assert.is(total, log.length === 0 ? 1 : 0)
      assert.is(components, null)
      assert.equal(alignment, [])
      assert.is(solvedExactly([], log), log.length === 0)
    }),
    RUNS,
  )
})

test('an alignment binds a logged call once, to a ground-truth call of its name, and covers only what comes in order', () => {
  fc.assert(
    fc.property(scored, ([given, log]) => {
      const { alignment, covered } = score(given, log)
      const bound = alignment.filter((at) => at !== null)
      assert.is(new Set(bound).size, bound.length)
      for (const [i, truth] of given.groundTruth.entries()) {
        const at = alignment[i] ?? null
        const call = at === null ? undefined : log[at]
        if (call) {
          assert.ok(!call.malformed && call.name === truth.name)
          assert.ok(Object.keys(truth.arguments).every((key) => Object.hasOwn(call.arguments, key)))
        }
        const inOrder = at !== null && truth.after.every((j) => alignment[j] !== null && alignment[j]! < at)
        assert.is(covered[i], inOrder)
      }
    }),
    RUNS,
  )
})

const digest = fc.constantFrom('a', 'b')
const states = fc.array(fc.record({ initial: digest, expected: digest, actual: digest }), { maxLength: 3 })
type States = { initial: string; expected: string; actual: string }[]
const reached = (digests: States) => digests.map((each) => ({ ...each, actual: each.expected }))
const untouched = (digests: States) => digests.map((each) => ({ ...each, actual: each.initial }))

test('under every preset the ground truth earns exactly the maximum, and no log earns more', () => {
  for (const { score: scoreBy, maximum, components } of REWARD_PRESETS.values()) {
    fc.assert(
      fc.property(scored, states, ([given, log], digests) => {
        const best = scoreBy(given, perfect(given), plainFacts(perfect(given), reached(digests)))
        assert.is(best.total, maximum.calls)
        assert.equal(Object.keys(best.components!), components)
        assert.ok(scoreBy(given, log, plainFacts(log, digests)).total <= maximum.calls)
        const silent = { ...given, groundTruth: [] }
        assert.is(scoreBy(silent, [], plainFacts([], untouched(digests))).total, maximum.noCall)
        if (log.length > 0) assert.ok(scoreBy(silent, log, plainFacts(log, digests)).total <= 0)
      }),
      RUNS,
    )
  }
})

test('under every preset a run in which every call failed earns less than the ground truth', () => {
  for (const { score: scoreBy } of REWARD_PRESETS.values()) {
    fc.assert(
      fc.property(scored, states, ([given, log], digests) => {
        const failed = [...log, ...perfect(given)].map((call) => (call.malformed ? call : { ...call, ok: false }))
        for (const run of [failed, failed.slice(log.length), []]) {
          const { total } = scoreBy(given, run, plainFacts(run, untouched(digests)))
          assert.ok(
            total < scoreBy(given, perfect(given), plainFacts(perfect(given), reached(digests))).total,
            `${total}`,
          )
        }
      }),
      RUNS,
    )
  }
})

test('a reward that needs facts is not computed without them', () => {
  const needing = [...REWARD_PRESETS.values()].filter(({ needsFacts }) => needsFacts)
  assert.ok(needing.length > 0)
  for (const { score: scoreBy } of needing)
    assert.throws(() => scoreBy({ offered: [], groundTruth: [] }, []), TypeError)
})

test('a preset is found by its name, and another name is refused with those that there are', () => {
  for (const [name, preset] of REWARD_PRESETS) assert.is(rewardPreset(name), preset)
  assert.throws(
    () => rewardPreset('constructor'),
    (error: unknown) =>
      error instanceof PresetError &&
      error.code === 'unknown_reward' &&
      error.message.endsWith(`choose one of ${[...REWARD_PRESETS.keys()].join(', ')}`),
  )
})

test('calls of other tools in between leave a solved log solved', () => {
  fc.assert(
    fc.property(example, draws, (given, places) => {
      const log: LoggedCall[] = perfect(given)
      for (const place of places) {
        log.splice(place % (log.length + 1), 0, { name: 'unheard_of', arguments: {}, ok: true })
      }
      assert.ok(solvedExactly(given.groundTruth, log))
    }),
    RUNS,
  )
})

test('arguments with one key more or less do not solve a task exactly', () => {
  const truths = [{ name: 'pay', arguments: { amount: 5, note: 'tea' }, after: [] }]
  assert.ok(solvedExactly(truths, [{ name: 'pay', arguments: { note: 'tea', amount: 5 }, ok: true }]))
  assert.not(solvedExactly(truths, [{ name: 'pay', arguments: { amount: 5 }, ok: true }]))
  assert.not(solvedExactly(truths, [{ name: 'pay', arguments: { amount: 5, note: 'tea', tip: 1 }, ok: true }]))
})

test('an example that contradicts itself is refused with the code of what is wrong', () => {
  const pay = {
    name: 'pay',
    description: '',
    readOnly: false,
    inputSchema: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
  }
  const call = { name: 'pay', arguments: { amount: 5 }, after: [] as number[] }
  const code = (given: ScoredExample): string => {
    try {
      score(given, [])
    } catch (error) {
      if (error instanceof ExampleError) return error.code
      throw error
    }
    return 'accepted'
  }
  assert.is(code({ offered: [pay], groundTruth: [call] }), 'accepted')
  assert.is(code({ offered: [pay, pay], groundTruth: [call] }), 'duplicate_tool')
  assert.is(code({ offered: [pay, pay], groundTruth: [] }), 'duplicate_tool')
  for (const edge of [0, 1, -1, 0.5]) {
    assert.is(code({ offered: [pay], groundTruth: [{ ...call, after: [edge] }] }), 'forward_edge', `edge ${edge}`)
  }
  assert.is(code({ offered: [pay], groundTruth: [{ ...call, name: 'constructor' }] }), 'call_not_offered')
  assert.is(code({ offered: [pay], groundTruth: [{ ...call, arguments: { amount: '5' } }] }), 'call_does_not_fit')
})

test('a log of thousands of calls is scored in well under a second', () => {
  const pay = { name: 'pay', description: '', readOnly: false, inputSchema: { type: 'object' } }
  const groundTruth = Array.from({ length: 16 }, (_, i) => ({ name: 'pay', arguments: { amount: i }, after: [] }))
  const log = Array.from({ length: 5000 }, (_, i) => ({ name: 'pay', arguments: { amount: -i }, ok: true }))
  const begun = process.cpuUsage()
  score({ offered: [pay], groundTruth }, log)
  assert.ok(process.cpuUsage(begun).user < 1e6)
})

test.run()
