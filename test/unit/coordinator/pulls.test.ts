import '../../../swarm/polyfill.js'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createPulls } from '../../../coordinator/intake/pulls.js'
import type { GroupAnnouncement } from '../../../proto/index.js'
import type { ReceivedGroup } from '../../../swarm/index.js'
import { hex, leased } from '../../support/run-events.js'

const BODY = new Uint8Array([1, 2, 3])
const group = (signer: string, rewards = [0, 1], body: Uint8Array | null = null): ReceivedGroup => ({
  announcement: { leaseId: signer, rewards, bodySha256: hex(6) } as unknown as GroupAnnouncement,
  signer,
  body,
  sealed: new Uint8Array(1),
})
const leaseOf = (node: string) => leased(node, node, 0, { deadlineMs: 1000 })
const never = new AbortController().signal

/** Pulls that wait until a test answers them. */
function stalled(reliable: readonly string[] = []) {
  const asked: { readonly node: string; answer: PromiseWithResolvers<Uint8Array> }[] = []
  const time = { nowMs: 0 }
  const pulls = createPulls({
    fetch(node) {
      const answer = Promise.withResolvers<Uint8Array>()
      asked.push({ node, answer })
      return answer.promise
    },
    isReliable: (node) => reliable.includes(node),
    clock: { now: () => time.nowMs, timeout: () => never },
    signal: never,
  })
  return { pulls, asked, time }
}
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('a body that came along is not asked for', async () => {
  const { pulls, asked } = stalled()
  assert.is(await pulls.body(leaseOf('ann'), group('ann', [1, 1], BODY)), BODY)
  assert.equal(asked, [])
  assert.is(pulls.owed('ann'), undefined)
})

test('strangers that never deliver hold up each other, and no node that is known to deliver', async () => {
  const { pulls, asked } = stalled(['ann'])
  for (let i = 0; i < 12; i++) void pulls.body(leaseOf(`stranger ${i}`), group(`stranger ${i}`))
  const body = pulls.body(leaseOf('ann'), group('ann'))
  await turn()
  assert.is(asked.length, 9)
  const ann = asked.find(({ node }) => node === 'ann')!
  ann.answer.resolve(BODY)
  assert.is(await body, BODY)
  asked[0]!.answer.resolve(BODY)
  await turn()
  assert.is(asked.length, 10, 'the ninth stranger’s turn')
})

test('a drawn zero-variance group owes its body until it arrives, and counts as withheld after the deadline and its grace', async () => {
  const { pulls, asked, time } = stalled()
  const none = () => false
  const first = pulls.body(leaseOf('ann'), group('ann', [1, 1]))
  await turn()
  assert.is(pulls.owed('ann'), hex(6))
  asked[0]!.answer.reject(new Error('it hung up'))
  await first.catch(() => undefined)
  assert.is(pulls.owed('ann'), hex(6), 'a failed pull changes nothing')
  time.nowMs = 6000
  assert.equal(pulls.withheld(none, none), [])
  time.nowMs = 6001
  assert.equal(
    pulls.withheld(none, none).map(({ lease }) => lease.leaseId),
    ['ann'],
  )
  assert.equal(
    pulls.withheld(none, () => true),
    [],
    'it may be coming right now',
  )
  const again = pulls.body(leaseOf('ann'), group('ann', [1, 1]))
  await turn()
  asked[1]!.answer.resolve(BODY)
  await again
  assert.equal([pulls.owed('ann'), pulls.withheld(none, none)], [undefined, []])
})

test('what has its verdict owes nothing, and groups with reward variance never do', async () => {
  const { pulls, time } = stalled()
  void pulls.body(leaseOf('ann'), group('ann', [1, 1]))
  void pulls.body(leaseOf('ben'), group('ben', [0, 1]))
  await turn()
  assert.is(pulls.owed('ben'), undefined)
  time.nowMs = 10_000
  assert.equal(
    pulls.withheld(
      () => true,
      () => false,
    ),
    [],
  )
  assert.is(pulls.owed('ann'), undefined)
})

test.run()
