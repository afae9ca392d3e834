import '../../../swarm/polyfill.js'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { firstTermMs, fitOf, groupTime } from '../../../coordinator/leases/lease-fit.js'
import { rateAfter } from '../../../coordinator/ledger/delivery-rate.js'
import { RunReducer } from '../../../coordinator/ledger/run-reducer.js'
import { openServiceRun, type ServiceRun } from '../../support/lease-service-run.js'

const MINUTE_MS = 60_000
/** A lease lasts four minutes, and sixteen when it is renewed. */
const LEASES = { durationMs: 4 * MINUTE_MS, perNode: 4 }
const HOUR_MS = 60 * MINUTE_MS

/** A run with room for everybody, in which a usual group samples 24,000 tokens. */
async function begin(keys: readonly string[]): Promise<ServiceRun> {
  const run = await openServiceRun({ batchGroups: 40, leases: LEASES, influence: { perKey: 1, perAddressBlock: 1 } })
  await run.admit([...keys, 'pioneer'])
  const { leases } = await run.ask('pioneer')
  await run.deliver(leases[0]!.leaseId, { sampledTokens: 24_000, tookMs: MINUTE_MS })
  return run
}

/** Takes a lease, and delivers a usual group after so long. */
async function deliverAfter(run: ServiceRun, node: string, ms: number): Promise<void> {
  const { leases } = await run.ask(node)
  run.clock.advance(ms)
  await run.deliver(leases[0]!.leaseId, { sampledTokens: 24_000, tookMs: ms })
}

const termOf = async (run: ServiceRun, node: string, tokensPerSecond = 0): Promise<number> => {
  const { leases, reason } = await run.ask(node, { tokensPerSecond })
  assert.is(reason, null)
  return leases[0]!.deadlineMs - run.clock.now()
}

test('a node that could never deliver in time gets no lease, and a detail with alternatives', async () => {
  const run = await begin(['slow', 'quick', 'silent'])
  const { leases, reason, detail } = await run.ask('slow', { tokensPerSecond: 6.6 })
  assert.equal([leases, reason], [[], 'too_slow'])
  assert.is(
    detail,
    'a usual group samples 24000 tokens, which take this node 61 min, and a lease lasts at most 16 min. The node can serve adapters (all of them with --mirror), verify its groups (prove-node verify-group), or join a run of a smaller model',
  )
  assert.is((await run.ask('quick', { tokensPerSecond: 26 })).leases.length, 1)
  assert.is((await run.ask('silent')).leases.length, 1, 'who says nothing is taken for quick')
})

test('before any group was timed, no node is too slow; the coordinator’s own groups are the first', async () => {
  const run = await openServiceRun({ batchGroups: 4, leases: LEASES })
  await run.admit(['ann', 'ben'])
  assert.is((await run.ask('ann', { tokensPerSecond: 0.1 })).leases.length, 1)
  const rehearsed = {
    ...{ type: 'rehearsed' as const, atMs: 0, groups: 2, zeroVariance: 0, rollouts: 8, solved: 0, reward: 0, calls: 0 },
    ...{ callsDue: 0, asked: 0, silent: 0, cut: 0, sampledTokens: 48_000, isWhole: true },
  }
  await run.recorder.record(() => rehearsed)
  assert.is((await run.ask('ben', { tokensPerSecond: 0.1 })).reason, 'too_slow')
})

test('the measured speed of a key counts, not the reported one', async () => {
  for (const tokensPerSecond of [0, 1, 1_000_000]) {
    const run = await begin(['boaster', 'modest'])
    await deliverAfter(run, 'boaster', 15 * MINUTE_MS)
    await deliverAfter(run, 'modest', MINUTE_MS)
    assert.is(await termOf(run, 'modest', tokensPerSecond), LEASES.durationMs)
    assert.is(await termOf(run, 'boaster', tokensPerSecond), 4 * LEASES.durationMs)
  }
})

test('a reported speed gains neither a longer lease nor more leases', async () => {
  const run = await begin(['plain', 'fast', 'slow'])
  for (const [node, tokensPerSecond] of [
    ['plain', 0],
    ['fast', 1_000_000],
    ['slow', 100],
  ] as const) {
    const { leases } = await run.ask(node, { count: 8, tokensPerSecond })
    assert.is(leases.length, 4, node)
    for (const { deadlineMs } of leases) assert.is(deadlineMs - run.clock.now(), LEASES.durationMs, node)
  }
})

test('a node that needs long gets long leases, as few as it can work off, and no batch waits for them', async () => {
  const run = await begin(['slow'])
  const { state } = run.recorder
  await deliverAfter(run, 'slow', 6 * MINUTE_MS)
  assert.is(await termOf(run, 'slow'), 9 * MINUTE_MS, 'half as long again as it took')
  assert.not.ok(state.suppliers.has('slow'))
  assert.is(RunReducer.of((state as RunReducer).snapshot).suppliers.has('slow'), false)
  // Two groups take it twelve minutes, and three would take eighteen.
  assert.is((await run.ask('slow', { count: 3 })).leases.length, 1)
  assert.is((await run.ask('slow')).reason, 'too_many_leases')
  // As long as it needs for one, whether the verdict has come or not: it begins the next.
  run.clock.advance(6 * MINUTE_MS)
  assert.is((await run.ask('slow')).leases.length, 1)
})

test('a key that left its last lease lying gets none that lasts longer', async () => {
  const run = await begin(['slow'])
  await deliverAfter(run, 'slow', 12 * MINUTE_MS)
  assert.is(await termOf(run, 'slow'), 16 * MINUTE_MS)
  run.clock.advance(16 * MINUTE_MS + 1)
  await run.leases.releaseLapsed()
  assert.is(await termOf(run, 'slow'), LEASES.durationMs)
})

test('one group that was held up makes a machine slow and not hopeless; four in a row do', async () => {
  const run = await begin(['slow'])
  const deliver = async (): Promise<void> => {
    const { leases } = await run.ask('slow', { tokensPerSecond: 1000 })
    run.clock.advance(10 * MINUTE_MS)
    // A tenth of what a usual group samples.
    await run.deliver(leases[0]!.leaseId, { sampledTokens: 2400, tookMs: 10 * MINUTE_MS })
  }
  for (let i = 0; i < 3; i++) await deliver()
  const { leases, reason } = await run.ask('slow', { count: 2, tokensPerSecond: 1000 })
  assert.equal([leases.length, reason], [1, 'too_many_leases'])
  await run.deliver(leases[0]!.leaseId, { sampledTokens: 2400, tookMs: 10 * MINUTE_MS })
  assert.is((await run.ask('slow', { tokensPerSecond: 1000 })).reason, 'too_slow')
})

test('a pace of long ago is no reason any more', () => {
  const pace = { ms: 20 * MINUTE_MS, tokens: 24_000, groups: 1, atMs: 0 }
  const at = (nowMs: number) => groupTime(24_000, { deliveryRate: pace, reportedTokensPerSecond: 0 }, nowMs)
  assert.equal(at(6 * HOUR_MS - 1), { ms: 20 * MINUTE_MS, isProven: true, isSure: false })
  assert.is(at(6 * HOUR_MS), null)
})

test('a delivery rate follows the newest groups, weighs them by their tokens, and ignores unverified ones', () => {
  const first = rateAfter(null, { tookMs: 8000, sampledTokens: 400, atMs: 1 })!
  assert.equal(first, { ms: 8000, tokens: 400, groups: 1, atMs: 1 })
  assert.is(rateAfter(first, { sampledTokens: 0, atMs: 2 }), first)
  assert.is(rateAfter(first, { sampledTokens: 400, atMs: 2 }), first, 'an earlier version did not say how long it took')
  let deliveryRate = first
  for (let i = 0; i < 40; i++) deliveryRate = rateAfter(deliveryRate, { tookMs: 1000, sampledTokens: 400, atMs: 3 })!
  assert.ok(Math.abs(deliveryRate.ms / deliveryRate.tokens - 2.5) < 1e-3)
  assert.is(deliveryRate.groups, 41)
})

test('a lease fits exactly as long as the last group is ready when it can last no longer', () => {
  const now = 100 * MINUTE_MS
  const time = { ms: 5 * MINUTE_MS, isProven: true, isSure: true }
  const fit = (ages: readonly number[], longest: number) =>
    fitOf(
      ages.map((age) => ({ atMs: now - age * MINUTE_MS })),
      time,
      longest * MINUTE_MS,
      now,
    )
  assert.is(fit([], 5), 'fits')
  assert.is(fit([], 4.99), 'too_slow')
  assert.is(fit([0], 10), 'fits')
  assert.is(fit([0], 9.99), 'too_many_leases')
  assert.is(fit([3, 1], 11), 'fits')
  assert.is(fit([90, 90, 90], 5), 'fits', 'they are done, and wait for their verdicts')
  // A clock that was set back adds nothing.
  assert.is(fit([-50], 10), 'fits')
  assert.is(firstTermMs(4000, { ms: 1, isProven: true, isSure: true }), 4000)
  assert.is(firstTermMs(4000, { ms: 1e9, isProven: true, isSure: true }), 16_000)
  assert.is(firstTermMs(4000, { ms: 1e9, isProven: false, isSure: true }), 4000)
})

test.run()
