import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createAuditLottery } from '../../../coordinator/intake/audit-lottery.js'
import { auditShare, Standing } from '../../../coordinator/ledger/reputation.js'
import { afterAudit, isBeyondChance, UNSUSPECTED } from '../../../coordinator/ledger/suspicion.js'
import type { RunConfig } from '../../../coordinator/settings/config.js'
import { seededRandom } from '../../../servers/kernel/index.js'

const HOUR = 3_600_000

const shareOf = (standing: Standing): number =>
  auditShare(standing, { probation: 20, leastShare: 0.1 } as RunConfig['audit'])

const honest = (groups: number, standing = new Standing()): Standing => {
  for (let i = 0; i < groups; i++) standing.accepted(i % 10 === 0)
  return standing
}

test('all of a new key’s first 20 groups are audited, then fewer the longer it is honest, never below a tenth', () => {
  assert.equal(
    [0, 19, 20, 40, 100, 200, 10_000].map((groups) => shareOf(honest(groups))),
    [1, 1, 1, 0.5, 0.2, 0.1, 0.1],
  )
})

test('a key that cheats after a long honest time gets nine groups past the audits on average, and hardly ever forty', () => {
  const lottery = createAuditLottery(Buffer.alloc(32, 5))
  const share = shareOf(honest(1000))
  const passed = Array.from({ length: 2000 }, (_, key) => {
    let groups = 0
    while (!lottery.draws(`group ${groups} of key ${key}`, share)) groups += 1
    return groups
  }).sort((a, b) => a - b)
  const mean = passed.reduce((sum, groups) => sum + groups, 0) / passed.length
  assert.ok(Math.abs(mean - 9) < 0.7, `mean ${mean}`)
  assert.ok(passed[1900]! <= 30, `95 % within ${passed[1900]}`)
  assert.ok(passed[1960]! <= 40, `98 % within ${passed[1960]}`)
})

test('a doubtful group puts a key back to its beginning, and one that is nobody’s fault does not', () => {
  const standing = honest(100)
  assert.not(standing.refused('stale_policy', 0))
  assert.not(standing.refused('world_unstable', 0))
  assert.is(shareOf(standing), 0.2)
  assert.ok(standing.refused('sampler_mismatch', 0))
  assert.is(shareOf(standing), 1)
  assert.not(standing.isQuarantined(0))
})

test('a provable lie is final, however long the key was honest', () => {
  const standing = honest(10_000)
  standing.refused('reward_mismatch', 0)
  assert.ok(standing.isQuarantined(1e15))
  assert.is(standing.quarantinedUntilMs, null)
})

test('a copy costs an hour, the next a day, a third the key', () => {
  const standing = new Standing()
  standing.refused('duplicate', 0)
  assert.ok(standing.isQuarantined(HOUR - 1))
  assert.not(standing.isQuarantined(HOUR))
  standing.refused('duplicate', HOUR)
  assert.ok(standing.isQuarantined(25 * HOUR - 1))
  assert.not(standing.isQuarantined(25 * HOUR))
  standing.refused('duplicate', 25 * HOUR)
  assert.is(standing.quarantinedUntilMs, null)
})

test('copies that were under way together are one offence', () => {
  const standing = new Standing()
  for (let i = 0; i < 5; i++) standing.refused('duplicate', i)
  assert.not(standing.isQuarantined(HOUR))
})

/** Groups until not all are audited. */
const probation = (standing: Standing): number => {
  let groups = 0
  for (; shareOf(standing) === 1; groups++) standing.accepted(true)
  return groups
}

test('each failed audit doubles the probation and the share afterwards', () => {
  const standing = new Standing()
  const lengths = [probation(standing)]
  for (let i = 0; i < 2; i++) {
    standing.refused('logprob_mismatch', 0)
    lengths.push(probation(standing))
  }
  assert.equal(lengths, [21, 41, 81], 'the last group of each finds so many before it')
  for (let i = 0; i < 10_000; i++) standing.accepted(false)
  assert.is(shareOf(standing), 0.4, 'what nobody has looked at makes good for nothing')
  for (let i = 0; i < 600; i++) standing.accepted(true)
  assert.is(standing.doubt, 0)
  assert.is(shareOf(standing), 0.1)
})

test('honest work makes good for what was before it, and saves up for nothing', () => {
  const old = new Standing()
  for (let i = 0; i < 10_000; i++) old.accepted(true)
  for (const standing of [old, new Standing()]) {
    for (const atMs of [0, 1]) standing.refused('logprob_mismatch', atMs)
    assert.is(standing.doubt, 2)
    assert.not(standing.isQuarantined(1))
    standing.refused('implausible_end', 2)
    assert.ok(standing.isQuarantined(2))
  }
})

test('failures stay on record through any honest work between them, and beyond chance they quarantine', () => {
  const standing = new Standing()
  let failures = 0
  for (; failures < 100 && !standing.isQuarantined(0); failures++) {
    for (let k = 0; k < 20; k++) standing.accepted(true)
    standing.refused('sampler_mismatch', 0)
  }
  assert.is(failures, 11)
  const { audits } = standing.record
  assert.equal([audits, standing.record.failures], [21 * failures, failures])
})

test('a key whose audits mostly fail is quarantined with its third group, then for a day, then for good', () => {
  const standing = new Standing()
  for (const atMs of [0, 1, 2]) standing.refused('logprob_mismatch', atMs)
  assert.ok(standing.isQuarantined(HOUR + 1))
  assert.not(standing.isQuarantined(HOUR + 2))
  standing.refused('logprob_mismatch', 2 * HOUR)
  assert.ok(standing.isQuarantined(26 * HOUR - 1))
  standing.refused('logprob_mismatch', 27 * HOUR)
  assert.is(standing.quarantinedUntilMs, null)
})

test('a key whose audits fail as seldom as calibrations allow is quarantined once in 100,000 audits, or more seldom', () => {
  const random = seededRandom(11)
  let [suspicion, alarms] = [UNSUSPECTED, 0]
  for (let audits = 1; audits <= 1_000_000; audits++) {
    suspicion = afterAudit(suspicion, random.chance(0.005))
    if (!isBeyondChance(suspicion)) continue
    alarms += 1
    suspicion = UNSUSPECTED
  }
  assert.ok(alarms <= 10, `${alarms}`)
})

test('whatever happens, a key is audited on a tenth to all of its groups', () => {
  const move = fc.constantFrom('passed', 'unaudited', 'sampler_mismatch', 'reward_mismatch', 'stale_policy')
  fc.assert(
    fc.property(fc.array(move, { maxLength: 400 }), (moves) => {
      const standing = new Standing()
      for (const [atMs, next] of moves.entries()) {
        if (next === 'passed' || next === 'unaudited') standing.accepted(next === 'passed')
        else standing.refused(next as 'stale_policy', atMs)
        assert.ok(shareOf(standing) >= 0.1 && shareOf(standing) <= 1)
      }
    }),
    { seed: 7, numRuns: 200 },
  )
})

test('a body is drawn by its hash and a secret: the same every time, as often as the share says', () => {
  const lottery = createAuditLottery(new Uint8Array(32).fill(1))
  const other = createAuditLottery(new Uint8Array(32).fill(2))
  const bodies = Array.from({ length: 4000 }, (_, i) => i.toString(16).padStart(64, '0'))
  const drawn = bodies.filter((body) => lottery.draws(body, 0.1))
  assert.ok(Math.abs(drawn.length / bodies.length - 0.1) < 0.02, `${drawn.length}`)
  assert.equal(
    bodies.filter((body) => lottery.draws(body, 0.1)),
    drawn,
  )
  assert.ok(bodies.some((body) => lottery.draws(body, 0.1) !== other.draws(body, 0.1)))
  for (const body of drawn) assert.ok(lottery.draws(body, 0.5), 'a larger share draws the same and more')
  assert.is(bodies.filter((body) => lottery.draws(body, 1)).length, bodies.length)
  assert.is(bodies.filter((body) => lottery.draws(body, 0)).length, 0)
})

test.run()
