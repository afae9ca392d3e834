import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { GroupOrigin } from '../../../node/store/kept-group.js'
import { openNodeStore } from '../../../node/store/store.js'

const hash = (digit: string): string => digit.repeat(64)

const ORIGIN: GroupOrigin = {
  peerId: 'ann',
  lease: {
    ...{ leaseId: 'a', index: 0, policyId: hash('1'), version: 0 },
    ...{ taskId: 't', task: '{}', seed: hash('2'), groupSize: 2 },
  },
  round: 0,
  roundSecretHash: hash('3'),
  limits: { maxTurnTokens: 1, maxRolloutTokens: 1, maxAssistantTurns: 1, maxCalls: 1 },
  base: { name: 'base', sha256: hash('4'), quantisation: 'f16' },
  adapterSha256: null,
  toolCallFormat: 'hermes',
  reward: 'paper',
  cacheType: 'f16',
}

test('the node can still send the body of the newest group with a verdict, and no older one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'prove-store-'))
  const store = await openNodeStore(folder, 'run')
  try {
    for (const [i, leaseId] of ['a', 'b'].entries()) {
      const [bodySha256, body] = [hash(leaseId), Uint8Array.of(i)]
      await store.addPending({ leaseId, bodySha256, sealed: Uint8Array.of(9), body, origin: ORIGIN })
      assert.equal([...(await store.body(bodySha256))!], [i])
      const verdict = { leaseId, bodySha256, accepted: true, code: null, detail: '', credit: 1, receivedAtMs: 0 }
      await store.addVerdicts(i, [verdict])
      assert.equal([...(await store.body(bodySha256))!], [i])
    }
    assert.is(await store.body(hash('a')), null)
  } finally {
    await store.close()
    await rm(folder, { recursive: true })
  }
})

test.run()
