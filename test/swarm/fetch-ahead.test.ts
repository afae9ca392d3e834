import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { NodeEvent } from '../../node/network/events.js'
import type { Engine } from '../../rollout/engine/index.js'
import { flightManifest } from '../support/proto-samples.js'
import { createTestSwarm, eventually, type TestSwarm } from '../support/swarm-nodes.js'
import { engine, lease, policyOf, type Worked, work } from './node-at-work.js'

const test = suite('fetching ahead')

let swarm: TestSwarm
test.before.each(async () => {
  swarm = await createTestSwarm()
})
test.after.each(() => swarm.close())

const loaded = policyOf(1)
const announced = (version: number): NodeEvent => ({
  type: 'announced',
  announcement: {
    ...{ manifestId: '00'.repeat(32), manifestSizeBytes: 1000, round: 2, version, policyId: flightManifest.policyId },
    ...{ expiresAtMs: 1e13, capacity: 0, waiting: 3, providers: [], shards: 1 },
  },
})

/** A node with a group in progress that the test finishes. */
async function busy(
  fetchAhead: (signal: AbortSignal) => Promise<void>,
): Promise<Worked & { finish(): void; begun(): number }> {
  let begun = 0
  let finish = (): void => undefined
  const held = new Promise<void>((resolve) => {
    finish = resolve
  })
  const slow: Engine = {
    ...engine,
    openSlots: async (requests, ...rest) => {
      begun += 1
      await held
      return engine.openSlots(requests, ...rest)
    },
  }
  const worked = await work(swarm, [{ leases: [lease], manifestId: loaded.manifestId }, {}], {
    ...{ engine: slow, update: async () => loaded, fetchAhead },
    pace: (ms) => (ms === 2000 ? 20 : ms),
  })
  return { ...worked, finish, begun: () => begun }
}

test('versions announced during a group are fetched meanwhile, each once, even after a failure', async () => {
  let fetched = 0
  const worked = await busy(async () => {
    fetched += 1
    throw new Error('nobody has it yet')
  })
  try {
    await eventually('a group in progress', () => worked.begun() > 0)
    worked.events.publish(announced(loaded.manifest.version))
    worked.events.publish(announced(loaded.manifest.version + 1))
    await eventually('the first', () => fetched >= 1)
    worked.events.publish(announced(loaded.manifest.version + 1))
    worked.events.publish(announced(loaded.manifest.version + 2))
    await eventually('the second', () => fetched >= 2)
    assert.is(fetched, 2)
    assert.equal(worked.groups, [])
    worked.finish()
    await eventually('the group', () => worked.groups.length > 0)
  } finally {
    worked.finish()
    await worked.stop()
  }
})

test('the end of the group stops an unfinished fetch', async () => {
  const stated: string[] = []
  const worked = await busy(
    (signal) =>
      new Promise((_, reject) => {
        stated.push('begun')
        signal.addEventListener('abort', () => {
          stated.push('given up')
          reject(signal.reason)
        })
      }),
  )
  try {
    await eventually('a group in progress', () => worked.begun() > 0)
    worked.events.publish(announced(loaded.manifest.version + 1))
    await eventually('it is fetched', () => stated.length > 0)
    worked.finish()
    await eventually('the next question', () => worked.asked.length > 1)
    assert.equal([stated, worked.groups.length], [['begun', 'given up'], 1])
  } finally {
    worked.finish()
    await worked.stop()
  }
})

test.run()
