import '../../../swarm/polyfill.js'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { RunEvent } from '../../../coordinator/ledger/events.js'
import { openRecorder } from '../../../coordinator/ledger/recorder.js'
import { createHistoryService } from '../../../coordinator/service/history-service.js'
import { peerIdOfKey, SwarmRefusal, sealRederivation } from '../../../proto/index.js'
import { memoryLog } from '../../support/memory-log.js'
import { createMovedClock } from '../../support/moved-clock.js'
import { hash, keyOf } from '../../support/proto-samples.js'
import { agreed, batched, done, published, trained } from '../../support/run-events.js'

const keys = await Promise.all([1, 2, 3, 4, 5, 6].map(keyOf))
const run = keys[5]!
const runId = peerIdOfKey(run)
const CREDIT = 40

/** A run with version 1, whose first four keys have delivered; the fifth has only asked for work. */
async function openHistory(credit: number) {
  const nodes = keys.slice(0, 4).map(peerIdOfKey)
  const registered = keys
    .slice(0, 5)
    .map((key): RunEvent => ({ type: 'registered', atMs: 0, node: peerIdOfKey(key), round: 0 }))
  const log = [
    ...[agreed(), published(0), ...registered, ...nodes.flatMap((node, i) => done(`lease-${i}`, node, 0))],
    ...[batched('batch-1', 1, ['lease-0', 'lease-1']), trained('batch-1', 1), published(1)],
  ]
  const recorder = await openRecorder(memoryLog(log), () => undefined)
  const clock = createMovedClock()
  const history = createHistoryService({ recorder, key: run, runId, credit, clock })
  const creditOf = (key: number) => recorder.state.nodes.get(peerIdOfKey(keys[key]!))?.credit ?? 0
  const before = keys.map((_, key) => creditOf(key))
  return {
    state: recorder.state,
    earned: (key: number) => creditOf(key) - before[key]!,
    async report(key: number, version: number, fault: string | null = null) {
      const statement = { version, manifestId: hash('manifest'), fault, difference: 0, madeAtMs: 0 }
      const rederivation = await sealRederivation(keys[key]!, runId, statement)
      await history.answer({ rederivation }, `asker ${key} ${version}`)
    },
  }
}

test('the first three reports on a version earn the credit that the operator offers, whatever they state', async () => {
  const { report, earned, state } = await openHistory(CREDIT)
  await report(0, 1)
  await report(0, 1)
  await report(1, 1, 'update')
  await report(2, 1)
  await report(3, 1)
  assert.equal([0, 1, 2, 3].map(earned), [CREDIT, CREDIT, CREDIT, 0])
  assert.is(state.rederived.length, 4, 'the repeated report is not recorded')
})

test('keys that only report earn nothing, and unknown keys and versions are refused', async () => {
  const { report, earned, state } = await openHistory(CREDIT)
  await report(4, 1)
  assert.equal([earned(4), state.rederived.length], [0, 1])
  for (const [key, version] of [
    [5, 1],
    [0, 2],
  ] as const) {
    const why = await report(key, version).catch((error: unknown) => error)
    assert.instance(why, SwarmRefusal)
  }
})

test('without an offer nobody earns anything', async () => {
  const { report, earned } = await openHistory(0)
  await report(0, 1)
  assert.is(earned(0), 0)
})

test.run()
