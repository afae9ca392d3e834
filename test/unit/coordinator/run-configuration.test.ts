import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { configurationOf } from '../../../coordinator/ledger/agree-run-configuration.js'
import { parseEvent } from '../../../coordinator/ledger/events.js'
import {
  checkConfigurationChanges,
  configurationChanges,
  configurationIdOf,
  type RunConfiguration,
} from '../../../coordinator/ledger/run-configuration.js'
import { smallRun } from '../../support/run-config.js'
import { agreed, CONFIGURATION } from '../../support/run-events.js'

/** As a settings file of another program might have them. */
const adapting = (modules: readonly string[]) =>
  ({ lora: { targetModules: modules } }) as unknown as RunConfiguration['training']
const MANY = Array.from({ length: 200 }, (_, i) => `layers.${i}.q_proj`)
const LONG = adapting(MANY)

test('equal run configurations have no changes and the same id, whatever the order of their fields', () => {
  const turned = Object.fromEntries(Object.entries(CONFIGURATION).toReversed()) as unknown as RunConfiguration
  assert.equal(configurationChanges(CONFIGURATION, turned), [])
  assert.is(configurationIdOf(turned), configurationIdOf(CONFIGURATION))
})

test('a change names the field by its path, and says what was and what is', () => {
  const now = {
    ...CONFIGURATION,
    groupSize: 3,
    limits: { ...CONFIGURATION.limits, maxTurnTokens: 64 },
    training: { seed: 1 },
  }
  assert.equal(configurationChanges(CONFIGURATION, now), [
    { field: 'groupSize', from: '2', to: '3' },
    { field: 'limits.maxTurnTokens', from: '96', to: '64' },
    { field: 'training.seed', from: 'null', to: '1' },
  ])
})

test('an object without fields is a value of its own where nothing inside it says so', () => {
  const lora = { ...CONFIGURATION, training: { lora: {} } }
  assert.equal(configurationChanges(CONFIGURATION, lora), [{ field: 'training.lora', from: 'null', to: '{}' }])
  assert.equal(configurationChanges(lora, { ...CONFIGURATION, training: { lora: { rank: 4 } } }), [
    { field: 'training.lora.rank', from: 'null', to: '4' },
  ])
})

test('a run asks for caches that one of its calibrations is for', () => {
  const asked = (cacheType: 'f16' | 'q8_0', backends: readonly string[]) => () =>
    configurationOf(smallRun({ cacheType }), {
      ...{ baseSha256: '', chatTemplateSha256: '', parameters: 1 },
      taskSet: { datasetSha256: '', tasks: [], environments: [] },
      calibrations: Object.fromEntries(backends.map((backend) => [backend, ''])),
      canaryTolerance: { mean: 0.02, max: 0.3 },
    })
  const both = ['cuda-flash-q8_0@3.22.1', 'cpu@3.22.1']
  assert.is(asked('q8_0', both)().cacheType, 'q8_0')
  assert.is(asked('f16', both)().cacheType, 'f16')
  assert.is(asked('q8_0', [])().cacheType, 'q8_0')
  assert.throws(
    asked('q8_0', ['cpu@3.22.1']),
    /cacheType is q8_0, and audit\.calibrations only covers cpu@3\.22\.1, so no group/,
  )
  assert.throws(asked('f16', ['cuda-flash-q8_0@3.22.1']), /cacheType is f16/)
})

test('values that differ only in what is too long to show are different, and their event fits the log', () => {
  const now = adapting([...MANY.slice(0, -1), 'lm_head'])
  const changes = configurationChanges({ ...CONFIGURATION, training: LONG }, { ...CONFIGURATION, training: now })
  assert.equal(
    changes.map(({ field, from, to }) => [field, from.length, to.length]),
    [['training.lora.targetModules', 512, 512]],
  )
  assert.ok(parseEvent(agreed({ training: now }, changes)))
})

test('base, data set, tool-call format and environments cannot change within a run, and the refusal says what to do', () => {
  for (const [change, expected] of [
    [
      { base: { ...CONFIGURATION.base, quantisation: 'q8_0' } },
      /base\.quantisation was "f16" .* and is now "q8_0"\. Name the base/,
    ],
    [{ dataset: { ...CONFIGURATION.dataset, tasks: 4 } }, /dataset\.tasks was 3 .*Name the data set/],
    [{ toolCallFormat: 'llama' }, /toolCallFormat was "hermes".*Keep the tool-call format/],
    [
      { environments: { ...CONFIGURATION.environments, mill: CONFIGURATION.environments.library! } },
      /environments\.mill was null .*the program/,
    ],
    [{ environments: {} }, /environments\.library was .* and is now null/],
  ] as const) {
    const changes = configurationChanges(CONFIGURATION, { ...CONFIGURATION, ...change })
    assert.throws(() => checkConfigurationChanges(changes), expected)
    assert.throws(() => checkConfigurationChanges(changes), /start a new run in another dataDir/)
  }
  checkConfigurationChanges(
    configurationChanges(CONFIGURATION, { ...CONFIGURATION, groupSize: 9, versions: 1, training: LONG }),
  )
})

test('a run configuration survives the log, and a different value gives a different id', () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true })
  const count = fc.nat(1e6)
  const configuration = fc.record({
    groupSize: count,
    versions: count,
    influence: fc.record({ perKey: share, perAddressBlock: share }),
    training: fc.dictionary(fc.string(), fc.jsonValue()),
  })
  fc.assert(
    fc.property(configuration, configuration, (one, other) => {
      const [a, b] = [one, other].map(
        (change) => JSON.parse(JSON.stringify({ ...CONFIGURATION, ...change })) as RunConfiguration,
      )
      assert.ok(parseEvent(JSON.parse(JSON.stringify(agreed(a)))))
      assert.is(configurationIdOf(a!) === configurationIdOf(b!), configurationChanges(a!, b!).length === 0)
    }),
  )
})

test('a field of the base that earlier run configurations omitted does not change the base', () => {
  const now: RunConfiguration = { ...CONFIGURATION, base: { ...CONFIGURATION.base, parameters: 5_246_976 } }
  checkConfigurationChanges(configurationChanges(CONFIGURATION, now))
  const other: RunConfiguration = { ...CONFIGURATION, base: { ...CONFIGURATION.base, parameters: 7 } }
  assert.throws(() => checkConfigurationChanges(configurationChanges(now, other)), /base\.parameters was 5246976/)
})

test.run()
