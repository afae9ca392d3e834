import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createAuditLottery } from '../../../coordinator/intake/audit-lottery.js'
import { auditShare, Reputation } from '../../../coordinator/ledger/reputation.js'
import { afterAudit, isBeyondChance, UNSUSPECTED } from '../../../coordinator/ledger/suspicion.js'
import type { RunConfig } from '../../../coordinator/settings/config.js'
import { seededRandom } from '../../../servers/kernel/index.js'

const HOUR = 3_600_000

const shareOf = (reputation: Reputation): number =>
  auditShare(reputation, { probation: 20, leastShare: 0.1 } as RunConfig['audit'])

const honest = (groups: number, reputation = new Reputation()): Reputation => {
  for (let i = 0; i < groups; i++) reputation.accepted(i % 10 === 0)
  return reputation
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

test('a doubtful group resets the streak of a key, and an internal fault does not', () => {
  const reputation = honest(100)
  assert.not(reputation.refused('stale_policy', 0))
  assert.not(reputation.refused('environment_nondeterministic', 0))
  assert.is(shareOf(reputation), 0.2)
  assert.ok(reputation.refused('sampler_mismatch', 0))
  assert.is(shareOf(reputation), 1)
  assert.not(reputation.isQuarantined(0))
})

test('a provable lie is final, however long the key was honest', () => {
  const reputation = honest(10_000)
  reputation.refused('reward_mismatch', 0)
  assert.ok(reputation.isQuarantined(1e15))
  assert.is(reputation.quarantinedUntilMs, null)
})

test('a copy costs an hour, the next a day, a third the key', () => {
  const reputation = new Reputation()
  reputation.refused('duplicate', 0)
  assert.ok(reputation.isQuarantined(HOUR - 1))
  assert.not(reputation.isQuarantined(HOUR))
  reputation.refused('duplicate', HOUR)
  assert.ok(reputation.isQuarantined(25 * HOUR - 1))
  assert.not(reputation.isQuarantined(25 * HOUR))
  reputation.refused('duplicate', 25 * HOUR)
  assert.is(reputation.quarantinedUntilMs, null)
})

test('copies that were under way together are one offence', () => {
  const reputation = new Reputation()
  for (let i = 0; i < 5; i++) reputation.refused('duplicate', i)
  assert.not(reputation.isQuarantined(HOUR))
})

/** Groups until not all are audited. */
const probation = (reputation: Reputation): number => {
  let groups = 0
  for (; shareOf(reputation) === 1; groups++) reputation.accepted(true)
  return groups
}

test('each failed audit doubles the probation and the share afterwards', () => {
  const reputation = new Reputation()
  const lengths = [probation(reputation)]
  for (let i = 0; i < 2; i++) {
    reputation.refused('logprob_mismatch', 0)
    lengths.push(probation(reputation))
  }
  assert.equal(lengths, [21, 41, 81], 'the last group of each finds so many before it')
  for (let i = 0; i < 10_000; i++) reputation.accepted(false)
  assert.is(shareOf(reputation), 0.4, 'what nobody has looked at makes good for nothing')
  for (let i = 0; i < 600; i++) reputation.accepted(true)
  assert.is(reputation.doubt, 0)
  assert.is(shareOf(reputation), 0.1)
})

test('honest work makes good for what was before it, and saves up for nothing', () => {
  const old = new Reputation()
  for (let i = 0; i < 10_000; i++) old.accepted(true)
  for (const reputation of [old, new Reputation()]) {
    for (const atMs of [0, 1]) reputation.refused('logprob_mismatch', atMs)
    assert.is(reputation.doubt, 2)
    assert.not(reputation.isQuarantined(1))
    reputation.refused('implausible_end', 2)
    assert.ok(reputation.isQuarantined(2))
  }
})

test('failures stay on record through any honest work between them, and beyond chance they quarantine', () => {
  const reputation = new Reputation()
  let failures = 0
  for (; failures < 100 && !reputation.isQuarantined(0); failures++) {
    for (let k = 0; k < 20; k++) reputation.accepted(true)
    reputation.refused('sampler_mismatch', 0)
  }
  assert.is(failures, 11)
  const { audits } = reputation.record
  assert.equal([audits, reputation.record.failures], [21 * failures, failures])
})

test('a key whose audits mostly fail is quarantined with its third group, then for a day, then for good', () => {
  const reputation = new Reputation()
  for (const atMs of [0, 1, 2]) reputation.refused('logprob_mismatch', atMs)
  assert.ok(reputation.isQuarantined(HOUR + 1))
  assert.not(reputation.isQuarantined(HOUR + 2))
  reputation.refused('logprob_mismatch', 2 * HOUR)
  assert.ok(reputation.isQuarantined(26 * HOUR - 1))
  reputation.refused('logprob_mismatch', 27 * HOUR)
  assert.is(reputation.quarantinedUntilMs, null)
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
      const reputation = new Reputation()
      for (const [atMs, next] of moves.entries()) {
        if (next === 'passed' || next === 'unaudited') reputation.accepted(next === 'passed')
        else reputation.refused(next as 'stale_policy', atMs)
        assert.ok(shareOf(reputation) >= 0.1 && shareOf(reputation) <= 1)
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
