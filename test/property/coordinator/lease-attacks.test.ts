import '../../../swarm/polyfill.js'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type LockoutOptions, lockout } from '../../support/lockout.js'

const HOUR = { minutes: 60, fromMinute: 0, newcomerEveryMs: 120_000 }
const WAITS_AT_MOST_S = 300

const attack = (change: Pick<LockoutOptions, 'sybils' | 'blocks' | 'habit'>) => lockout({ ...HOUR, ...change })
const alone = await attack({ sybils: 0, blocks: 1, habit: 'idle' })

for (const [sybils, blocks, share] of [
  [40, 1, 0.9],
  [80, 8, 0.7],
] as const)
  test(`${sybils} keys of ${blocks} blocks that hold leases of proven keys leave ${100 * share} % of the versions, and every newcomer a lease`, async () => {
    const beset = await attack({ sybils, blocks, habit: 'slow-holder' })
    assert.ok(beset.versions > share * alone.versions, `${beset.versions} of ${alone.versions}`)
    assert.ok(beset.waitedS.length > 20)
    for (const waited of beset.waitedS) assert.ok(waited !== null && waited <= WAITS_AT_MOST_S, `${waited} s`)
    assert.ok(beset.wasted > 500, 'they did take what they could get')
  })

test('16 keys that abandon half of their leases supply less than a third of the batches', async () => {
  const beset = await attack({ sybils: 16, blocks: 4, habit: 'seed-chooser' })
  assert.ok(beset.hostileShare < 0.35, `${beset.hostileShare}`)
  assert.ok(beset.abandoned > 1000, 'they did choose')
  assert.ok(beset.versions > 0.7 * alone.versions, `${beset.versions} of ${alone.versions}`)
})

test.run()
