import '../../../swarm/polyfill.js'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { progressLine } from '../../../coordinator/commands/progress-line.js'
import type { RunEvent } from '../../../coordinator/ledger/events.js'
import { openRecorder } from '../../../coordinator/ledger/recorder.js'
import { nameDoubtedBatches } from '../../../coordinator/service/doubted-batches.js'
import { memoryLog } from '../../support/memory-log.js'
import { agreed, batched, done, published } from '../../support/run-events.js'

const CAUGHT: readonly RunEvent[] = [
  agreed(),
  published(0),
  ...done('first', 'node-ann', 0),
  ...done('second', 'node-ann', 0),
  ...done('other', 'node-ben', 0),
  batched('step-1', 1, ['first', 'other']),
  batched('step-2', 2, ['second']),
  ...done('lie', 'node-ann', 0, { accepted: false, code: 'reward_mismatch' }),
]

test('every batch with groups of a key that was caught is put on record once, also by a coordinator that was stopped in between', async () => {
  const log = memoryLog([...CAUGHT])
  const seen: RunEvent[] = []
  const clock = { now: () => 9 }
  await nameDoubtedBatches(await openRecorder(log, (event) => void seen.push(event)), clock)
  assert.equal(seen, [
    { type: 'batch-doubted', atMs: 9, batchId: 'step-1', node: 'node-ann', leaseIds: ['first'] },
    { type: 'batch-doubted', atMs: 9, batchId: 'step-2', node: 'node-ann', leaseIds: ['second'] },
  ])
  assert.is(
    progressLine({ type: 'event', event: seen[0]! }),
    'batch step-1 contains unaudited groups of node-ann, which was caught later: first',
  )
  // One of them was on record when it stopped.
  const again = await openRecorder(memoryLog([...CAUGHT, seen[0]!]), (event) => void seen.push(event))
  await nameDoubtedBatches(again, clock)
  await nameDoubtedBatches(again, clock)
  assert.equal(seen.slice(2), [seen[1]])
})

test.run()
