import '../../../swarm/polyfill.js'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { stepsOf } from '../../support/counted-steps.js'
import { openServiceRun } from '../../support/lease-service-run.js'

const named = (count: number, name: string): string[] => Array.from({ length: count }, (_, i) => `${name}-${i}`)

/** Steps through maps and sets for what a coordinator does all the time, with so many nodes at work. */
async function stepsWith(nodes: number): Promise<Record<string, number>> {
  const names = named(nodes, 'node')
  const influence = { perKey: 0.5, perAddressBlock: 1 }
  const run = await openServiceRun({ batchGroups: 2 * nodes, leases: { durationMs: 60_000, perNode: 2 }, influence })
  await run.admit([...names, 'late'])
  for (const node of names) {
    const { leases } = await run.ask(node, { count: 2 })
    await run.deliver(leases[0]!.leaseId)
    run.clock.advance(1)
  }
  const { state } = run.recorder
  const [first] = state.openLeases.keys()
  const steps = {
    'a question that is answered with a lease': await stepsOf(() => run.ask('node-1')),
    'a question that is refused': await stepsOf(() => run.ask('node-1')),
    'the first question of a key': await stepsOf(() => run.ask('late')),
    'looking for leases that lapsed': await stepsOf(() => run.leases.releaseLapsed()),
    'a verdict': await stepsOf(() => run.deliver(first!)),
  }
  assert.is(state.openLeases.size, nodes + 1, 'two were given, and one was delivered')
  run.clock.advance(60_000 - nodes + 2)
  const releasing = await stepsOf(() => run.leases.releaseLapsed())
  assert.is(state.openLeases.size, nodes, 'that of the second node')
  return { ...steps, 'releasing one that lapsed': releasing }
}

test('neither a question nor a verdict nor a lapsed lease costs more with a hundred times as many nodes', async () => {
  assert.equal(await stepsWith(3000), await stepsWith(30))
})

test('leases that lapse together are released in few writes', async () => {
  const nodes = named(100, 'node')
  const run = await openServiceRun({ batchGroups: 200, leases: { durationMs: 60_000, perNode: 1 } })
  await run.admit(nodes)
  for (const node of nodes) await run.ask(node)
  assert.is(run.recorder.state.openLeases.size, 100)
  run.clock.advance(60_001)
  const before = run.writes.length
  await run.leases.releaseLapsed()
  assert.is(run.recorder.state.openLeases.size, 0)
  assert.equal(run.writes.slice(before), [64, 36])
})

test('steps are counted wherever somebody walks', async () => {
  const walked = new Map(named(40, 'key').map((name) => [name, 1]))
  assert.is(await stepsOf(() => [...walked.values()].filter(Boolean)), 41)
  assert.is(await stepsOf(() => walked.get('key-7')), 0)
})

test.run()
