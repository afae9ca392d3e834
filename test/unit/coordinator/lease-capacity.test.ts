import '../../../swarm/polyfill.js'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openServiceRun } from '../../support/lease-service-run.js'

test('a lease that is given back wakes waiting nodes also while first leases are open', async () => {
  const configuration = { batchGroups: 2, maxStaleness: 0, leases: { durationMs: 60_000, perNode: 2 } }
  // Each key has its own block of addresses.
  const run = await openServiceRun(configuration, (node) => node)
  const { state } = run.recorder
  await run.admit(['ann', 'ben', 'cleo', 'dan'])
  assert.is(run.leases.capacity(), 2)
  const [lease] = (await run.ask('ann')).leases
  await run.ask('ben')
  assert.is(run.leases.capacity(), 0)
  assert.is((await run.ask('cleo')).leases.length, 1, 'a first lease, in addition to the capacity')
  assert.is(run.leases.capacity(), 0)
  await run.leases.answer({ kind: 'return', leaseIds: [lease!.leaseId], reason: 'shutdown' }, 'ann')
  assert.is(run.leases.capacity(), 1, 'the first lease takes none of it')
  assert.is((await run.ask('dan')).leases.length, 1)
  assert.is(state.openLeases.size, 3)
})

test('a paused run has no capacity', async () => {
  const run = await openServiceRun({ batchGroups: 2, maxStaleness: 0 })
  const by = { who: 'operator', via: 'token' }
  await run.recorder.record(() => ({ type: 'paused', atMs: run.clock.now(), by, reason: null }))
  assert.is(run.leases.capacity(), 0)
})

test.run()
