import * as assert from 'uvu/assert'
import { configurationChanges } from '../../coordinator/ledger/run-configuration.js'
import type { OrderAsk } from '../../coordinator/service/order-service.js'
import type { RunConfig } from '../../coordinator/settings/config.js'
import { connect } from '../support/swarm-nodes.js'
import type { TestRun, Volunteer } from '../support/test-run.js'
import { leaseFor, offer, runSuite, verdictOn } from './run-suite.js'

const { test } = runSuite('run configurations that change', { batchGroups: 50 })

/** For each field of the run configuration that may change, a value that differs from that of the test run. */
const EDITS: Readonly<Record<string, (config: RunConfig) => Partial<RunConfig>>> = {
  groupSize: ({ groupSize }) => ({ groupSize: groupSize + 1 }),
  'limits.maxTurnTokens': ({ limits }) => ({ limits: { ...limits, maxTurnTokens: 1 } }),
  'limits.maxRolloutTokens': ({ limits }) => ({ limits: { ...limits, maxRolloutTokens: 110 } }),
  'limits.maxAssistantTurns': ({ limits }) => ({ limits: { ...limits, maxAssistantTurns: 1 } }),
  reward: () => ({ reward: 'outcome' }),
  cacheType: () => ({ cacheType: 'q8_0' }),
  maxStaleness: ({ maxStaleness }) => ({ maxStaleness: maxStaleness - 1 }),
  batchGroups: () => ({ batchGroups: 60 }),
  versions: () => ({ versions: 90 }),
  'leases.durationMs': ({ leases }) => ({ leases: { ...leases, durationMs: 1000 } }),
  'leases.perNode': ({ leases }) => ({ leases: { ...leases, perNode: 1 } }),
  'audit.probation': ({ audit }) => ({ audit: { ...audit, probation: 1 } }),
  'audit.leastShare': ({ audit }) => ({ audit: { ...audit, leastShare: 1 } }),
  'influence.perKey': ({ influence }) => ({ influence: { ...influence, perKey: 0.9 } }),
  'training.optimizer.lr': ({ trainer }) => ({ trainer: { ...trainer, settings: { optimizer: { lr: 0.002 } } } }),
  'training.optimizer.warmupSteps': ({ trainer }) => ({
    trainer: { ...trainer, settings: { optimizer: { warmupSteps: 9 } } },
  }),
  'influence.perAddressBlock': ({ influence }) => ({ influence: { ...influence, perAddressBlock: 0.9 } }),
}

/** Not set by a number in `run.yaml`: of the program itself, or the content of files (test/unit/coordinator/calibrations.test.ts). */
const OTHERS = ['limits.maxCalls', 'audit.calibrations', 'canaryTolerance.mean', 'canaryTolerance.max']
/** Follows another field. */
const FOLLOWS: Readonly<Record<string, string>> = { 'training.loss.maxStaleness': 'maxStaleness' }

/** How a run comes to go by another `run.yaml`. */
const WAYS: Readonly<Record<string, (run: TestRun, config: RunConfig, ann: Volunteer) => Promise<unknown>>> = {
  'over a restart': async (run, config, ann) => {
    await run.restart(config)
    await connect(ann, run.coordinator.node)
  },
  'while the coordinator runs': (run, config) => run.coordinator.order(settingsOf(config)),
}
const settingsOf = (config: RunConfig, reason: string | null = null): OrderAsk => ({
  ...{ order: 'settings', reason, file: '/run.yaml', text: JSON.stringify(config) },
})

for (const [way, change] of Object.entries(WAYS))
  test(`whatever field changes ${way} between a lease and its group, no honest group is refused and no honest node loses standing`, async ({
    open,
  }) => {
    const run = await open()
    const ann = await run.admitted(2)
    const usual = run.config
    for (const [field, edit] of Object.entries(EDITS)) {
      await change(run, usual, ann)
      await run.coordinator.publisher.openRound()
      const lease = await leaseFor(ann)
      const group = await ann.finish(lease)
      const before = run.coordinator.recorder.state
      const { configuration } = before
      const streak = before.nodes.get(ann.host.peerId)?.reputation.streak ?? 0
      await change(run, { ...usual, ...edit(usual) }, ann)
      const { state } = run.coordinator.recorder
      const changes = configurationChanges(configuration!, state.configuration!).map((one) => one.field)
      assert.equal(
        changes.filter((one) => FOLLOWS[one] === undefined),
        [field],
      )
      assert.equal(
        run
          .eventsOf('configured')
          .at(-1)!
          .changes.map((one) => one.field),
        changes,
        'the log says so',
      )
      await offer(ann, group)
      const { accepted, code, detail } = await verdictOn(run, lease.leaseId)
      assert.ok(accepted, `${field}: ${code} ${detail}`)
      const { reputation } = state.nodes.get(ann.host.peerId)!
      assert.is(reputation.isQuarantined(run.clock.now()), false, field)
      assert.is(reputation.streak, streak + 1, field)

      await run.coordinator.publisher.openRound()
      const { manifest } = run.coordinator.snapshots.newest()!
      assert.is(manifest.configurationId, state.round!.configurationId, field)
      assert.is(manifest.policy.reward, state.round!.configuration.reward, field)
      const next = await leaseFor(ann)
      assert.equal([next.groupSize, next.configurationId], [manifest.limits.groupSize, manifest.configurationId], field)
      await run.coordinator.leases.answer(
        { kind: 'return', leaseIds: [next.leaseId], reason: 'shutdown' },
        ann.host.peerId,
      )
    }
  })

test('a setting that changes while the coordinator runs says who did it, and what may not change is refused with what to do', async ({
  open,
}) => {
  const run = await open()
  const usual = run.config
  const { changed, effects } = await run.coordinator.order(settingsOf({ ...usual, batchGroups: 7 }, 'fewer volunteers'))
  assert.ok(changed)
  assert.match(effects.join('\n'), /^batchGroups: 50 -> 7\na new round opens under this run configuration/)
  const { ordered, changes } = run.eventsOf('configured').at(-1)!
  assert.equal(ordered, { by: { who: 'operator', via: 'a test' }, reason: 'fewer volunteers' })
  assert.equal(changes, [{ field: 'batchGroups', from: '50', to: '7' }])
  const { length } = run.events
  assert.is((await run.coordinator.order(settingsOf({ ...usual, batchGroups: 7 }))).changed, false)
  const refusals: readonly (readonly [object, RegExp])[] = [
    [
      { listen: ['/ip4/0.0.0.0/tcp/1'] },
      /listen is .* and would be .*Stop the coordinator and start it with this file/,
    ],
    [{ base: { ...usual.base, name: 'another' } }, /base\.name is "village-model".*start a new run in another dataDir/],
    [{ trainer: { settings: { lora: { rank: 2 } } } }, /trainer\.settings\.lora\.rank is null and would be 2/],
    [{ limits: { ...usual.limits, maxRolloutTokens: 20 } }, /limits\.maxRolloutTokens is too small for the tasks/],
    [{ batchGroups: 0 }, /batchGroups: Too small/],
    [{ colour: 'red' }, /colour/],
  ]
  for (const [change, words] of refusals) {
    const text = JSON.stringify({ ...usual, batchGroups: 7, ...change })
    const why = await run.coordinator
      .order({ order: 'settings', reason: null, file: '/run.yaml', text })
      .catch((error: Error) => error)
    assert.match(String(why), words)
  }
  assert.is(run.events.length, length, 'the log stays as it was')
})

test('a run configuration that changes while a round opens is the one of its manifest', async ({ open }) => {
  const run = await open()
  const ann = await run.admitted(2)
  const { coordinator, config } = run
  for (const reward of ['outcome', 'paper', 'outcome'] as const) {
    // A publication and a change at once: whichever comes first.
    await Promise.all([coordinator.publish(), coordinator.order(settingsOf({ ...config, reward }))])
    const { round } = coordinator.recorder.state
    const { manifest } = coordinator.snapshots.newest()!
    assert.equal(
      [manifest.configurationId, manifest.policy.reward],
      [round!.configurationId, round!.configuration.reward],
    )
    await coordinator.publisher.openRound()
    assert.is(coordinator.recorder.state.round!.configuration.reward, reward)
    await leaseFor(ann)
  }
})

test('the tests cover every field of the run configuration that can change, and no other', async ({ open }) => {
  const { configuration } = (await open()).coordinator.recorder.state
  const leaves = configurationChanges({} as never, configuration!).map(({ field }) => field)
  const fixed = /^(base|dataset|environments|toolCallFormat|draw)\b/
  const open_ = leaves.filter((field) => !fixed.test(field) && !OTHERS.includes(field) && !FOLLOWS[field])
  assert.equal(open_.toSorted(), Object.keys(EDITS).toSorted())
})

test('a group is verified under the run configuration of its lease, however many came after', async ({ open }) => {
  const run = await open()
  const ann = await run.admitted(2)
  const lease = await leaseFor(ann)
  const group = await ann.finish(lease)
  for (const groupSize of [3, 4, 5]) {
    await run.restart({ groupSize })
    await run.coordinator.publisher.openRound()
  }
  await connect(ann, run.coordinator.node)
  await offer(ann, group)
  assert.ok((await verdictOn(run, lease.leaseId)).accepted)
  const { round, configurationHistory } = run.coordinator.recorder.state
  assert.equal([round!.configuration.groupSize, configurationHistory.length], [5, 4])
})

test('an abandoned lease is not given again under another run configuration', async ({ open }) => {
  const run = await open({ leases: { durationMs: 1000, perNode: 1 } })
  const ann = await run.admitted(2)
  const lease = await leaseFor(ann)
  await run.coordinator.leases.answer({ kind: 'return', leaseIds: [lease.leaseId], reason: 'failed' }, ann.host.peerId)
  await run.restart({ groupSize: 3 })
  await run.coordinator.publisher.openRound()
  await connect(ann, run.coordinator.node)
  const next = await leaseFor(ann)
  assert.is.not(next.leaseId, lease.leaseId)
  assert.is(next.groupSize, 3)
})

test('the same run.yaml changes nothing, and one that a run cannot change is refused with what to do', async ({
  open,
}) => {
  const run = await open()
  const { length } = run.events
  await run.restart()
  assert.is(run.events.length, length)
  const base = { ...run.config.base, name: 'another-model' }
  const error = await run.restart({ base }).catch((why: Error) => why)
  assert.instance(error, Error)
  assert.match(
    (error as Error).message,
    /base\.name was "village-model" when the run started and is now "another-model"/,
  )
  assert.match((error as Error).message, /Name the base model that the run started with, or start a new run/)
  assert.is(run.events.length, length, 'the log stays as it was')
  await run.restart({ base: run.config.base })
})

test.run()
