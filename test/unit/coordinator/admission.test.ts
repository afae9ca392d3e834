import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type AdmissionFault,
  admissionFault,
  createAdmission,
  InProgress,
  type LeaseFacts,
  nextStep,
} from '../../../coordinator/intake/admission.js'
import type { GroupAnnouncement, RefusalCode } from '../../../proto/index.js'
import { largestBody, UNWATCHED } from '../../../rollout/verification/index.js'
import type { ReceivedGroup } from '../../../swarm/index.js'
import { configurationOf } from '../../support/lease-configuration.js'
import { begun, hex, judged, leased, published } from '../../support/run-events.js'
import { AMPLE } from '../../support/scripted.js'

const DEADLINE = 1000
const announcement: GroupAnnouncement = {
  leaseId: 'lease',
  taskId: 'lend emma',
  policyId: hex(1),
  rewards: [0, 1.3],
  bodySha256: hex(6),
  bodySizeBytes: 500,
  nonce: 'ab'.repeat(16),
  tokensGenerated: 40,
}
const from = (signer: string, change: Partial<GroupAnnouncement> = {}): ReceivedGroup => ({
  announcement: { ...announcement, ...change },
  signer,
  body: null,
  sealed: new Uint8Array(1),
})
const lease = leased('lease', 'ann', 0)
const facts: LeaseFacts = {
  lease,
  configuration: configurationOf()(lease),
  taskId: 'lend emma',
  policyId: hex(1),
  fixedBodySha256: null,
  isJudged: false,
  isQuarantined: false,
}
const judgedFacts = { ...facts, isJudged: true, fixedBodySha256: hex(6) }

const DECISIONS: readonly (readonly [
  what: string,
  group: ReceivedGroup,
  facts: LeaseFacts | null,
  nowMs: number,
  code: RefusalCode | null,
])[] = [
  ['an honest group in time', from('ann'), facts, 0, null],
  ['a lease that nobody gave out', from('ann'), null, 0, 'unknown_lease'],
  ['another node’s lease', from('ben'), facts, 0, 'lease_owner'],
  ['another task', from('ann', { taskId: 'lend ulysses' }), facts, 0, 'body_mismatch'],
  ['another policy', from('ann', { policyId: hex(2) }), facts, 0, 'wrong_policy'],
  ['a reward too many', from('ann', { rewards: [0, 1, 0] }), facts, 0, 'wrong_group_size'],
  ['a moment after the deadline', from('ann'), facts, DEADLINE + 5000, null],
  ['longer after the deadline', from('ann'), facts, DEADLINE + 5001, 'lease_expired'],
  ['a node in quarantine', from('ann'), { ...facts, isQuarantined: true }, 0, 'quarantined'],
  ['the body that a draw has fixed', from('ann'), { ...facts, fixedBodySha256: hex(6) }, 0, null],
  ['another body than the one drawn', from('ann'), { ...facts, fixedBodySha256: hex(7) }, 0, 'replayed'],
  ['a group with its verdict, long after', from('ann'), judgedFacts, 1e6, null],
  ['a judged group of a node in quarantine', from('ann'), { ...judgedFacts, isQuarantined: true }, 0, null],
  ['another body for a judged lease', from('ann', { bodySha256: hex(7) }), judgedFacts, 0, 'replayed'],
  ['a stranger with another body', from('ben', { bodySha256: hex(7) }), judgedFacts, 0, 'lease_owner'],
]
const codeOf = (fault: AdmissionFault | null): RefusalCode | null => fault?.[0] ?? null

for (const [what, group, known, nowMs, code] of DECISIONS) {
  test(`${what} is ${code === null ? 'let in' : `turned down as ${code}`}`, () => {
    assert.is(codeOf(admissionFault(group, known, nowMs)), code)
  })
}

test('admission uses the log’s facts about a lease, and the run configuration of its round', () => {
  const state = begun()
  state.apply(published(0))
  state.apply(lease)
  state.apply(leased('pair', 'ann', 0, { index: 1 }))
  state.apply(leased('triple', 'ann', 0, { index: 2 }))
  let nowMs = 0
  const owed = new Map<string, string>()
  const admission = createAdmission({
    state,
    tasks: [{ id: 'lend emma' }],
    configurationOf: (given) => configurationOf({ groupSize: given.leaseId === 'triple' ? 3 : 2 })(given),
    owedBody: (leaseId) => owed.get(leaseId),
    clock: { now: () => nowMs },
    watch: UNWATCHED,
  })
  const refusalOf = (group: ReceivedGroup): string | null => {
    const checked = ((): string | null => {
      try {
        admission.check(group)
        return null
      } catch (why) {
        return (why as { code: string }).code
      }
    })()
    try {
      assert.is(admission.admit(group), state.leases.get(group.announcement.leaseId))
      assert.is(checked, null)
    } catch (why) {
      if (!(why instanceof Error && 'code' in why) || why instanceof assert.Assertion) throw why
      assert.is(checked, why.code)
    }
    return checked
  }
  assert.is(refusalOf(from('ann')), null)
  assert.is(refusalOf(from('ann', { leaseId: 'never' })), 'unknown_lease')
  assert.is(refusalOf(from('ann', { leaseId: 'triple' })), 'wrong_group_size')
  assert.is(refusalOf(from('ann', { leaseId: 'triple', rewards: [0, 1, 0] })), null)
  owed.set('pair', hex(7))
  assert.is(refusalOf(from('ann', { leaseId: 'pair' })), 'replayed')
  state.apply(judged('pair', 'ann', 0, { accepted: false, code: 'reward_mismatch', credit: 0 }))
  assert.is(refusalOf(from('ann', { leaseId: 'pair' })), null, 'its verdict counts, not what was owed before')
  assert.is(refusalOf(from('ann')), 'quarantined')
  nowMs = 5000 + DEADLINE + 1
  assert.is(refusalOf(from('ann')), 'lease_expired')
})

test('verification check 0 is counted once for a group that is checked and then admitted, and once for each refused group', () => {
  const state = begun()
  state.apply(published(0))
  state.apply(lease)
  const seen: string[] = []
  const admission = createAdmission({
    state,
    tasks: [{ id: 'lend emma' }],
    configurationOf: configurationOf(),
    owedBody: () => undefined,
    clock: { now: () => 0 },
    watch: { now: () => 0, onCheck: (number, outcome) => seen.push(`${number} ${outcome}`) },
  })
  admission.check(from('ann'))
  admission.admit(from('ann'))
  assert.equal(seen, ['0 passed'])
  assert.throws(() => admission.check(from('ben')), /lease_owner/)
  assert.equal(seen, ['0 passed', '0 refused'])
})

const configuration = configurationOf({ maxStaleness: 2 })(lease)
const largest = largestBody(configuration.groupSize, configuration.limits)
const step = (change: Partial<GroupAnnouncement>, late: number, drawn: boolean): string => {
  const next = nextStep({ ...announcement, ...change }, configuration, late, drawn)
  return next.do === 'refuse' ? next.code : next.do
}

test('groups that are too old or too large are refused before their bodies are requested, and zero-variance groups are believed unless drawn', () => {
  assert.is(step({}, 0, false), 'judge')
  assert.is(step({}, 2, false), 'judge')
  assert.is(step({}, 3, true), 'stale_policy')
  assert.is(step({ bodySizeBytes: largest }, 0, false), 'judge')
  assert.is(step({ bodySizeBytes: largest + 1 }, 0, false), 'too_large')
  assert.is(step({ bodySizeBytes: largest + 1 }, 3, false), 'stale_policy', 'lateness is no lie')
  assert.is(step({ rewards: [1, 1] }, 0, false), 'believe')
  assert.is(step({ rewards: [1, 1] }, 0, true), 'judge')
  assert.is(step({ rewards: [1, 1], bodySizeBytes: largest + 1 }, 0, false), 'too_large')
})

test('the largest body follows from the run configuration of the lease: wider limits accept every group that narrower ones accept', () => {
  const size = fc.integer({ min: 2, max: 8 })
  const tokens = fc.integer({ min: 100, max: 4000 })
  fc.assert(
    fc.property(size, size, tokens, tokens, (size1, size2, tokens1, tokens2) => {
      const narrow = {
        groupSize: Math.min(size1, size2),
        limits: { ...AMPLE, maxRolloutTokens: Math.min(tokens1, tokens2) },
      }
      const wide = {
        groupSize: Math.max(size1, size2),
        limits: { ...AMPLE, maxRolloutTokens: Math.max(tokens1, tokens2) },
      }
      const group = { ...announcement, bodySizeBytes: largestBody(narrow.groupSize, narrow.limits) }
      for (const change of [narrow, wide])
        assert.is(nextStep(group, configurationOf(change)(lease), 0, true).do, 'judge')
    }),
    { numRuns: 100, seed: 1 },
  )
})

test('a node cannot have more groups in progress than its limit, and unproven nodes leave capacity for proven ones', () => {
  const hand = new InProgress(() => 2, 3)
  const of = (node: string, leaseId: string) => leased(leaseId, node, 0)
  hand.take(of('ann', 'a1'), 'unknown')
  hand.take(of('ann', 'a2'), 'unknown')
  assert.throws(() => hand.take(of('ann', 'a3'), 'unknown'), /2 groups of this node/)
  hand.take(of('ben', 'b1'), 'unknown')
  assert.throws(() => hand.take(of('cleo', 'c1'), 'unknown'), /overloaded/)
  hand.take(of('dora', 'd1'), 'trusted')
  hand.take(of('emil', 'e1'), 'watched')
  assert.ok(hand.has('d1') && hand.has('e1') && !hand.has('c1'))
  hand.release('a1')
  hand.release('a1')
  hand.take(of('cleo', 'c1'), 'unknown')
  assert.ok(hand.has('c1') && !hand.has('a1'))
  assert.throws(
    () => hand.take(of('fay', 'f1'), 'unknown'),
    /0 groups of this node wait for verdicts, and 5 groups in all/,
  )
  hand.release('c1')
  hand.take(of('ann', 'a4'), 'unknown')
  assert.throws(() => hand.take(of('ann', 'a5'), 'watched'), /2 groups of this node/)
})

test.run()
