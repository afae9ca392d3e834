import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createPauseControl, type Duty } from '../../node/work/pause-control.js'
import type { Engine } from '../../rollout/engine/index.js'
import { createTestSwarm, eventually, type TestSwarm } from '../support/swarm-nodes.js'
import { engine, lease, policyOf, type Setting, type Worked, work } from './node-at-work.js'

const test = suite('pauses of a node')

let swarm: TestSwarm
test.before.each(async () => {
  swarm = await createTestSwarm()
})
test.after.each(() => swarm.close())

const policy = policyOf(1)
/** Between two looks at whether groups have got their verdicts. */
const LOOK_MS = 1000
const again = { manifestId: policy.manifestId, leases: [lease] }
const LATER: Duty = { kind: 'rest', why: 'at night', untilMs: 5000, atOnce: false }
const NOW: Duty = { kind: 'rest', why: 'somebody is here', untilMs: null, atOnce: true }

/** An engine that generates nothing before its release, but stops when its signal fires. */
function heldEngine(): { readonly held: Engine; readonly begun: () => number; release(): void } {
  const released = Promise.withResolvers<void>()
  let begun = 0
  const held: Engine = {
    ...engine,
    async openSlots(requests, signal) {
      begun += 1
      await new Promise<void>((resolve, reject) => {
        void released.promise.then(resolve)
        signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      })
      return engine.openSlots(requests, signal)
    },
  }
  return { held, begun: () => begun, release: () => released.resolve() }
}

const working = (setting: Setting): Promise<Worked> =>
  work(swarm, [again], { update: async () => policy, pace: (ms) => (ms === LOOK_MS ? 20 : ms), ...setting })
const types = ({ progress }: Worked): string[] => progress.map(({ type }) => type)

test('a paused node asks for no lease, frees the engine’s memory once, and works again after the pause', async () => {
  const gate = createPauseControl()
  gate.set(LATER)
  let unloads = 0
  const worked = await working({ pauseControl: gate, onRest: async () => void unloads++ })
  try {
    await eventually('the rest', () => unloads === 1)
    assert.equal(worked.progress, [{ type: 'rest', why: 'at night', untilMs: 5000 }])
    assert.equal([worked.asked, worked.groups], [[], []])
    gate.set({ kind: 'work' })
    await eventually('a group', () => worked.groups.length > 0)
    assert.equal(types(worked).slice(0, 3), ['rest', 'resumed', 'policy'])
    assert.is(unloads, 1)
  } finally {
    await worked.stop()
  }
})

test('the group in progress is finished before a pause, and no other group begins', async () => {
  const gate = createPauseControl()
  const { held, begun, release } = heldEngine()
  const worked = await working({ pauseControl: gate, engine: held })
  try {
    await eventually('a group in progress', () => begun() === 1)
    gate.set(LATER)
    release()
    await eventually('the rest', () => types(worked).includes('rest'))
    assert.is(worked.groups.length, 1)
    assert.equal([worked.asked.length, worked.returned], [1, []])
  } finally {
    await worked.stop()
  }
})

test('an urgent pause gives the group in progress back, and its lease is worked on later', async () => {
  const gate = createPauseControl()
  const { held, begun, release } = heldEngine()
  const worked = await working({ pauseControl: gate, engine: held })
  try {
    await eventually('a group in progress', () => begun() === 1)
    gate.set(LATER)
    gate.set(NOW)
    await eventually('the rest', () => types(worked).includes('rest'))
    assert.equal(worked.returned, [lease.leaseId])
    assert.equal(worked.groups, [])
    release()
    gate.set({ kind: 'work' })
    await eventually('a group', () => worked.groups.length > 0)
  } finally {
    await worked.stop()
  }
})

test('a lease that arrives after the start of a pause is given back', async () => {
  const gate = createPauseControl()
  // Turned by the news that the coordinator has been asked.
  const worked = await work(swarm, [again], {
    pauseControl: gate,
    update: async () => policy,
    engine: {
      ...engine,
      get build() {
        gate.set(LATER)
        return engine.build
      },
    },
  })
  try {
    await eventually('the rest', () => types(worked).includes('rest'))
    assert.equal([worked.asked.length, worked.returned], [1, [lease.leaseId]])
    assert.equal(worked.groups, [])
  } finally {
    await worked.stop()
  }
})

test('a node that is to finish delivers the group in progress, waits for its verdict, and ends', async () => {
  const gate = createPauseControl()
  const waiting = ['aa'.repeat(16)]
  const { held, begun, release } = heldEngine()
  const worked = await working({ pauseControl: gate, engine: held, waiting })
  await eventually('a group in progress', () => begun() === 1)
  gate.set({ kind: 'finish' })
  release()
  await eventually('it waits for the verdict', () => types(worked).includes('finishing'))
  assert.is(worked.groups.length, 1)
  waiting.pop()
  assert.is(await worked.ended, 'finished')
  assert.equal([worked.asked.length, worked.returned], [1, []])
})

test('a node that is to finish waits at most two minutes for verdicts', async () => {
  const gate = createPauseControl()
  gate.set({ kind: 'finish' })
  const worked = await working({ pauseControl: gate, waiting: ['aa'.repeat(16)], pace: () => 0 })
  assert.is(await worked.ended, 'finished')
  assert.is(worked.order.length, 120)
  assert.is(types(worked).filter((type) => type === 'finishing').length, 1, 'reported once')
})

test('a node that waits for work can be paused and ended', async () => {
  const gate = createPauseControl()
  const none = { manifestId: policy.manifestId, reason: 'no_work', retryAfterMs: 60_000 } as const
  const worked = await work(swarm, [none], { pauseControl: gate, update: async () => policy })
  await eventually('no work', () => types(worked).includes('idle'))
  gate.set(LATER)
  await eventually('the rest', () => types(worked).includes('rest'))
  gate.set({ kind: 'finish' })
  assert.is(await worked.ended, 'finished')
})

test('a node ends when the run is complete, unless it stays', async () => {
  const over = { manifestId: policy.manifestId, reason: 'complete', retryAfterMs: 60_000 } as const
  const worked = await work(swarm, [over], { update: async () => policy, stay: false })
  assert.is(await worked.ended, 'complete')
  const staying = await work(await createTestSwarmOf(), [over], { update: async () => policy, stay: true })
  try {
    await eventually('it waits', () => staying.order.includes(60_000))
  } finally {
    await staying.stop()
  }
})

/** The nodes of a second run. */
async function createTestSwarmOf(): Promise<TestSwarm> {
  await swarm.close()
  swarm = await createTestSwarm()
  return swarm
}

test.run()
