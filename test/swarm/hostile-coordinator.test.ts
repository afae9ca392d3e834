import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openOutbox } from '../../node/outbox.js'
import { openNodeStore } from '../../node/store.js'
import { encodeFrame, PROTOCOLS, sealVerdictDigest } from '../../proto/index.js'
import { requestLeases, serveVerdicts } from '../../swarm/index.js'
import { ask, hash, id16 } from '../unit/proto-samples.js'
import { connect, createTestSwarm, soon, type TestSwarm } from './swarm-nodes.js'

let swarm: TestSwarm
test.before.each(async () => {
  swarm = await createTestSwarm()
})
test.after.each(() => swarm.close())

test('a coordinator that always promises more verdicts does not keep a node asking', async () => {
  const [coordinator, volunteer] = [await swarm.node(1), await swarm.node(2)]
  await connect(volunteer, coordinator)
  let asked = 0
  await serveVerdicts(coordinator.host, async ({ cursor }, { peer }) => {
    asked += 1
    const nothing = { peerId: peer, fromCursor: cursor, verdicts: [], totalCredit: 0, issuedAtMs: 0 }
    return { digest: await sealVerdictDigest(coordinator.key, swarm.runId, nothing), more: true }
  })
  const store = await openNodeStore(await swarm.folder(), swarm.runId)
  const group = { leaseId: id16('l'), bodySha256: hash('b'), sealed: new Uint8Array(3), body: new Uint8Array(3) }
  await store.addPending(group)
  const parts = { host: volunteer.host, coordinator: swarm.runId, store, onVerdict: () => {}, onDropped: () => {} }
  const outbox = await openOutbox(parts)
  try {
    await sleep(1500)
    // Once per turn of a second; without the check, as often as the line allows.
    assert.ok(asked >= 1 && asked <= 3, `${asked} requests`)
  } finally {
    await outbox.close()
    await store.close()
  }
})

test('a coordinator that answers with hostile bytes costs a node an error with a code, and no more', async () => {
  const [coordinator, volunteer] = [await swarm.node(1), await swarm.node(2)]
  await connect(volunteer, coordinator)
  const huge = new Uint8Array(4).fill(0xff)
  const answers = [
    huge,
    encodeFrame(new Uint8Array(300).fill(0xff)),
    encodeFrame(new Uint8Array()),
    new Uint8Array(),
    huge.subarray(2),
  ]
  let next = 0
  await coordinator.host.handle(
    PROTOCOLS.lease,
    (stream) => {
      const answer = answers[next++]!
      if (answer.length > 0) stream.send(answer)
      void stream.close({ signal: soon() }).catch(() => undefined)
    },
    { overRelay: false },
  )
  const codes: unknown[] = []
  for (const _ of answers) {
    const why: unknown = await requestLeases(volunteer.host, swarm.runId, ask, soon(), 3000).catch(
      (error: unknown) => error,
    )
    codes.push((why as { code?: unknown }).code)
  }
  assert.equal(codes, ['too_large', 'malformed', 'malformed', 'stream_ended', 'stream_ended'])
  assert.ok(volunteer.host.isConnected(swarm.runId))
})

test.run()
