import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { progressLine, verdictLine } from '../../../node/report/progress.js'
import { totalsOf } from '../../../node/store/ledger.js'
import { REFUSALS, type RefusalCode, type Verdict } from '../../../proto/index.js'

const test = suite('progress lines')

const verdict = (lease: string, code: RefusalCode | null, credit: number, detail = ''): Verdict => ({
  leaseId: lease.repeat(32),
  bodySha256: 'b'.repeat(64),
  accepted: code === null,
  code,
  detail,
  credit,
  receivedAtMs: 1000,
})

test('a refusal is shown with its code, meaning, detail and consequence', () => {
  assert.is(
    progressLine({
      type: 'verdict',
      verdict: verdict('a', 'reward_mismatch', 0, 'rollout 2: claimed 1'),
      earlier: null,
    }),
    `group aaaaaaaa refused: reward_mismatch - ${REFUSALS.reward_mismatch.meaning} (rollout 2: claimed 1); consequence: no more leases for this key (exclusion); \`prove-node verify-group\` repeats the check on this machine`,
  )
  assert.match(verdictLine(verdict('a', 'sampler_mismatch', 0), null), /closer audits$/)
  assert.match(verdictLine(verdict('a', 'stale_policy', 0), null), /no further consequence$/)
})

test('a verdict that replaces another says so', () => {
  const accepted = verdict('a', null, 120)
  assert.is(verdictLine(accepted, null), 'group aaaaaaaa accepted, credit 120')
  assert.match(
    verdictLine(verdict('a', 'logprob_mismatch', 0), accepted),
    /^group aaaaaaaa revoked by a later audit, replaces credit 120: logprob_mismatch - /,
  )
  assert.match(verdictLine(accepted, verdict('a', 'internal', 0)), /accepted, credit 120, replaces internal$/)
})

test('the reason for a wait is shown unless it is routine', () => {
  const idle = (reason: string) => progressLine({ type: 'idle', reason, detail: 'cuda', waiting: 0 })
  assert.is(idle('no_work'), null)
  for (const reason of ['uncalibrated', 'quarantined'] as const)
    assert.is(idle(reason), `no work: ${reason} - ${REFUSALS[reason].meaning} (cuda)`)
  assert.match(idle('not_registered')!, /^the run has registered this node; work begins with the next round/)
  assert.match(idle('complete')!, /^the run is complete/)
})

test('the last of several verdicts on a group counts, also for credit', () => {
  assert.equal(totalsOf([]), { groups: 0, accepted: 0, refused: 0, revoked: 0, credit: 0, reasons: [] })
  const ledger = [
    verdict('a', null, 100),
    verdict('b', null, 50),
    verdict('c', 'stale_policy', 0),
    verdict('d', 'sampler_mismatch', 0),
    verdict('a', 'sampler_mismatch', 0),
  ]
  assert.equal(totalsOf(ledger), {
    groups: 4,
    accepted: 1,
    refused: 3,
    revoked: 1,
    credit: 50,
    reasons: [
      { code: 'sampler_mismatch', groups: 2 },
      { code: 'stale_policy', groups: 1 },
    ],
  })
})

test.run()
