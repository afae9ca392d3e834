import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { termsOf } from '../../../coordinator/ledger/agree-run-configuration.js'
import { parseEvent } from '../../../coordinator/ledger/events.js'
import {
  checkTermsChanges,
  type RunTerms,
  termsChanges,
  termsIdOf,
} from '../../../coordinator/ledger/run-configuration.js'
import { smallRun } from '../../support/run-config.js'
import { agreed, TERMS } from '../../support/run-events.js'

/** As a settings file of another program might have them. */
const adapting = (modules: readonly string[]) =>
  ({ lora: { targetModules: modules } }) as unknown as RunTerms['training']
const MANY = Array.from({ length: 200 }, (_, i) => `layers.${i}.q_proj`)
const LONG = adapting(MANY)

test('terms without a difference have no changes and one name, in whatever order their fields come', () => {
  const turned = Object.fromEntries(Object.entries(TERMS).toReversed()) as unknown as RunTerms
  assert.equal(termsChanges(TERMS, turned), [])
  assert.is(termsIdOf(turned), termsIdOf(TERMS))
})

test('a change names the field by its path, and says what was and what is', () => {
  const now = { ...TERMS, groupSize: 3, limits: { ...TERMS.limits, maxTurnTokens: 64 }, training: { seed: 1 } }
  assert.equal(termsChanges(TERMS, now), [
    { field: 'groupSize', from: '2', to: '3' },
    { field: 'limits.maxTurnTokens', from: '96', to: '64' },
    { field: 'training.seed', from: 'null', to: '1' },
  ])
})

test('an object without fields is a value of its own where nothing inside it says so', () => {
  const lora = { ...TERMS, training: { lora: {} } }
  assert.equal(termsChanges(TERMS, lora), [{ field: 'training.lora', from: 'null', to: '{}' }])
  assert.equal(termsChanges(lora, { ...TERMS, training: { lora: { rank: 4 } } }), [
    { field: 'training.lora.rank', from: 'null', to: '4' },
  ])
})

test('a run asks for caches that one of its calibrations is for', () => {
  const asked = (cacheType: 'f16' | 'q8_0', backends: readonly string[]) => () =>
    termsOf(smallRun({ cacheType }), {
      ...{ baseSha256: '', chatTemplateSha256: '', parameters: 1 },
      taskSet: { datasetSha256: '', tasks: [], servers: [] },
      calibrations: Object.fromEntries(backends.map((backend) => [backend, ''])),
    })
  const both = ['cuda-flash-q8_0@3.22.1', 'cpu@3.22.1']
  assert.is(asked('q8_0', both)().cacheType, 'q8_0')
  assert.is(asked('f16', both)().cacheType, 'f16')
  assert.is(asked('q8_0', [])().cacheType, 'q8_0')
  assert.throws(asked('q8_0', ['cpu@3.22.1']), /cacheType is q8_0, and audit\.calibrations has cpu@3\.22\.1: nobody/)
  assert.throws(asked('f16', ['cuda-flash-q8_0@3.22.1']), /cacheType is f16/)
})

test('values that differ only in what is too long to show are different, and their event fits the log', () => {
  const now = adapting([...MANY.slice(0, -1), 'lm_head'])
  const changes = termsChanges({ ...TERMS, training: LONG }, { ...TERMS, training: now })
  assert.equal(
    changes.map(({ field, from, to }) => [field, from.length, to.length]),
    [['training.lora.targetModules', 512, 512]],
  )
  assert.ok(parseEvent(agreed({ training: now }, changes)))
})

test('base, data set, dialect and worlds of a run stay what they were, and the refusal says what to do', () => {
  for (const [change, expected] of [
    [
      { base: { ...TERMS.base, quantisation: 'q8_0' } },
      /base\.quantisation was "f16" .* and is "q8_0"\. Name the base/,
    ],
    [{ dataset: { ...TERMS.dataset, tasks: 4 } }, /dataset\.tasks was 3 .*Name the data set/],
    [{ dialect: 'llama' }, /dialect was "hermes".*Go on with the dialect/],
    [{ worlds: { ...TERMS.worlds, mill: TERMS.worlds.library! } }, /worlds\.mill was null .*the program/],
    [{ worlds: {} }, /worlds\.library was .* and is null/],
  ] as const) {
    const changes = termsChanges(TERMS, { ...TERMS, ...change })
    assert.throws(() => checkTermsChanges(changes), expected)
    assert.throws(() => checkTermsChanges(changes), /begin a new run in another dataDir/)
  }
  checkTermsChanges(termsChanges(TERMS, { ...TERMS, groupSize: 9, versions: 1, training: LONG }))
})

test('whatever terms are put into the log are read from it, and differ by name when they differ in a value', () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true })
  const count = fc.nat(1e6)
  const terms = fc.record({
    groupSize: count,
    versions: count,
    influence: fc.record({ perKey: share, perAddressBlock: share }),
    training: fc.dictionary(fc.string(), fc.jsonValue()),
  })
  fc.assert(
    fc.property(terms, terms, (one, other) => {
      const [a, b] = [one, other].map((change) => JSON.parse(JSON.stringify({ ...TERMS, ...change })) as RunTerms)
      assert.ok(parseEvent(JSON.parse(JSON.stringify(agreed(a)))))
      assert.is(termsIdOf(a!) === termsIdOf(b!), termsChanges(a!, b!).length === 0)
    }),
  )
})

test('what earlier terms did not say of the base is no other base', () => {
  const now: RunTerms = { ...TERMS, base: { ...TERMS.base, parameters: 5_246_976 } }
  checkTermsChanges(termsChanges(TERMS, now))
  const other: RunTerms = { ...TERMS, base: { ...TERMS.base, parameters: 7 } }
  assert.throws(() => checkTermsChanges(termsChanges(now, other)), /base\.parameters was 5246976/)
})

test.run()
