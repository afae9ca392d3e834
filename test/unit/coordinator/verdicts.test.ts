import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ReplayedGroup } from '../../../coordinator/intake/body-judge.js'
import { BodyError } from '../../../coordinator/intake/group-bodies.js'
import { accepted, refused } from '../../../coordinator/intake/outcome.js'
import {
  afterAudit,
  createVerdicts,
  inForce,
  isLie,
  judgeAuthorship,
  type TakenGroup,
  type VerdictParts,
} from '../../../coordinator/intake/verdicts.js'
import type { RunEvent } from '../../../coordinator/ledger/events.js'
import { openRecorder } from '../../../coordinator/ledger/recorder.js'
import type { LeaseRecord } from '../../../coordinator/ledger/run-state.js'
import { type GroupAnnouncement, REFUSALS, type RefusalCode, refusal, type SwarmRefusal } from '../../../proto/index.js'
import type { Rollout } from '../../../rollout/episode/index.js'
import { type Overlap, UNWATCHED } from '../../../rollout/verification/index.js'
import { silentLogger, systemClock } from '../../../swarm/index.js'
import { NO_LOGIT_ERRORS } from '../../support/audit-groups.js'
import { configurationOf } from '../../support/lease-configuration.js'
import { memoryLog } from '../../support/memory-log.js'
import { agreed, audited, done, hex, judged, leased, published } from '../../support/run-events.js'

test('who repeats an earlier group is believed as far as its draws prove', () => {
  const [yes, no] = [true, false]
  const rows: [overlap: Overlap['kind'] | null, proved: boolean, provable: boolean, decision: string][] = [
    [null, no, no, 'accept'],
    [null, no, yes, 'accept'],
    [null, yes, yes, 'accept'],
    ['equal', yes, yes, 'accept'],
    ['equal', no, yes, 'audit'],
    ['equal', no, no, 'duplicate'],
    ['alike', yes, yes, 'accept'],
    ['alike', no, yes, 'audit'],
    ['alike', no, no, 'accept'],
  ]
  for (const [overlap, proved, provable, decision] of rows)
    assert.is(judgeAuthorship({ overlap, proved, provable }), decision)
})

test('tokens that are not one’s own draws are a copy where somebody else had them, and what we cannot compute is no audit', () => {
  assert.equal(afterAudit('sampler_mismatch', true), ['duplicate', 'failed'])
  assert.equal(afterAudit('sampler_mismatch', false), ['sampler_mismatch', 'failed'])
  assert.equal(afterAudit('logprob_mismatch', true), ['logprob_mismatch', 'failed'])
  assert.equal(afterAudit('internal', true), ['internal', 'none'])
})

test('a group that comes too many versions late is refused, and a refusal stays what it is', () => {
  const group = { rollouts: [], completions: [] } as unknown as ReplayedGroup
  const fine = accepted(group, null, () => 5)
  const timely = { late: 2, maxStaleness: 2, ban: undefined }
  const late = { ...timely, late: 3 }
  const ban = { atMs: 0, by: { who: 'operator', via: 'a test' }, reason: 'two keys, one person' }
  assert.is(inForce(fine, timely), fine)
  assert.is(inForce(fine, late).code, 'stale_policy')
  const banned = inForce(fine, { ...timely, ban })
  assert.equal([banned.code, banned.detail, banned.credit], ['banned', 'two keys, one person', 0])
  const lie = refused('reward_mismatch', '')
  assert.is(inForce(lie, late), lie)
  assert.is(inForce(lie, { ...timely, ban }), lie)
})

test('a lie is what the table of refusals punishes as one', () => {
  for (const code of Object.keys(REFUSALS) as RefusalCode[])
    assert.is(isLie(refused(code, '')), ['quarantine', 'exclusion'].includes(REFUSALS[code].consequence), code)
  assert.not(isLie({ code: null }))
})

/** What a verdict looks at in a rollout. */
const EVEN = { reward: { total: 1, components: null }, calls: [], solved: false } as unknown as Rollout

interface Scene {
  readonly overlap?: (lease: LeaseRecord) => Overlap | null
  readonly audit?: (leaseId: string) => SwarmRefusal | null
  readonly canAudit?: boolean
  readonly maxStaleness?: number
  /** Bodies that the disk has lost. */
  readonly lost?: readonly string[]
}

/** Verdicts over a real recorder; what was written, in order, the log and the proofs together. */
async function scene({
  overlap = () => null,
  audit = () => null,
  canAudit = true,
  maxStaleness = 4,
  lost = [],
}: Scene = {}) {
  const wrote: string[] = []
  const events: RunEvent[] = [agreed(), published(0), leased('lease', 'ann', 0)]
  const recorder = await openRecorder(memoryLog(events), (event) => {
    if ('leaseId' in event) wrote.push(`${event.type} ${'code' in event ? event.code : ''}`)
  })
  const penalised: string[] = []
  const replayed = (leaseId: string): ReplayedGroup => ({
    lease: recorder.state.leases.get(leaseId)!,
    rollouts: [EVEN, EVEN],
    completions: [],
    logprobs: [],
    sketches: [],
    sampled: 50,
  })
  const parts: VerdictParts = {
    recorder,
    judge: {
      canAudit: () => canAudit,
      overlap: ({ lease }) => overlap(lease),
      audit: async ({ lease }) => {
        const fault = audit(lease.leaseId)
        if (fault) throw fault
        return NO_LOGIT_ERRORS
      },
      restore: async (leaseId) => {
        if (lost.includes(leaseId)) throw new BodyError('body_lost', leaseId)
        return replayed(leaseId)
      },
    },
    judgedBodies: { giveUp: async (leaseId, why) => void wrote.push(`${why.code} of ${leaseId}`) },
    configurationOf: configurationOf({ maxStaleness }),
    proofs: {
      keep: async (leaseId, sealed, body) =>
        void wrote.push(`proof of ${leaseId}, ${sealed.length} B${body ? ' and its body' : ''}`),
      drop: async (leaseId) => void wrote.push(`no proof of ${leaseId}`),
    },
    addressBlockOf: () => 'ip4/7f0000',
    host: {
      clock: { ...systemClock, now: () => 0 },
      logger: silentLogger,
      penalise: (node) => void penalised.push(node),
    },
    watch: UNWATCHED,
    signal: new AbortController().signal,
  }
  const taken = (leaseId: string, body: Uint8Array | null = new Uint8Array(3)): TakenGroup => ({
    lease: recorder.state.leases.get(leaseId)!,
    group: { announcement: { bodySha256: hex(6) } as GroupAnnouncement, sealed: new Uint8Array(9) },
    body,
    arrivedMs: 0,
  })
  const add = async (...more: RunEvent[]) => {
    for (const event of more) await recorder.record(() => event)
    wrote.length = 0
  }
  return { wrote, events, penalised, recorder, replayed, taken, add, verdicts: createVerdicts(parts) }
}

test('the proof of a lie is on disk before the verdict, with the body if it came', async () => {
  for (const body of [new Uint8Array(3), null]) {
    const { verdicts, wrote, taken, penalised, recorder } = await scene()
    assert.ok(await verdicts.conclude(taken('lease', body), () => refused('reward_mismatch', 'rollout 1')))
    assert.equal(wrote, [`proof of lease, 9 B${body ? ' and its body' : ''}`, 'judged reward_mismatch'])
    assert.equal(penalised, ['ann'])
    assert.is(recorder.state.judged.get('lease')!.addressBlock, 'ip4/7f0000')
  }
})

test('nothing is kept of groups that are accepted, late or doubtful', async () => {
  for (const outcome of [refused('stale_policy', ''), refused('sampler_mismatch', '', 'failed')]) {
    const { verdicts, wrote, taken, penalised } = await scene()
    await verdicts.conclude(taken('lease'), () => outcome)
    assert.equal(wrote, [`judged ${outcome.code}`])
    assert.equal(penalised, [])
  }
  const { verdicts, wrote, taken, replayed } = await scene()
  await verdicts.settle(replayed('lease'), taken('lease'), true)
  assert.equal(wrote, ['judged null'])
})

test('a group gets one verdict, and a proof that turns out to prove nothing is taken back', async () => {
  const { verdicts, wrote, taken } = await scene()
  let looks = 0
  const lieAtFirst = () => (looks++ === 0 ? refused('duplicate', '') : null)
  assert.not(await verdicts.conclude(taken('lease'), lieAtFirst), 'it has to be looked at again')
  assert.equal(wrote.splice(0), ['proof of lease, 9 B and its body', 'no proof of lease'])
  await verdicts.conclude(taken('lease'), () => refused('reward_mismatch', ''))
  wrote.length = 0
  assert.ok(await verdicts.conclude(taken('lease'), () => refused('state_mismatch', '')))
  assert.equal(wrote, [])
})

test('a verdict is by the staleness that its lease was promised, in the version in which it is recorded', async () => {
  const { verdicts, wrote, taken, replayed, add } = await scene({ maxStaleness: 1 })
  await add(published(1), leased('other', 'ann', 0))
  await verdicts.settle(replayed('lease'), taken('lease'), false)
  await add(published(2))
  await verdicts.settle(replayed('other'), taken('other'), false)
  assert.equal(wrote, ['judged stale_policy'])
})

const copyOf = (leaseId: string): Overlap => ({ leaseId, rollouts: 2, kind: 'equal' })

test('who proves to have drawn tokens that came before has the earlier group audited, and its author caught', async () => {
  const { verdicts, wrote, replayed, taken, add, penalised } = await scene({
    overlap: ({ leaseId }) => (leaseId === 'lease' ? copyOf('earlier') : null),
    audit: (leaseId) => (leaseId === 'earlier' ? refusal('sampler_mismatch') : null),
  })
  await add(...done('earlier', 'thief', 0))
  await verdicts.settle(replayed('lease'), taken('lease'), false)
  assert.equal(wrote, ['audited duplicate', 'judged null'])
  assert.equal(penalised, ['thief'])
})

test('a copy without proof of authorship is refused, and the first author is not affected', async () => {
  const caught = await scene({ overlap: () => copyOf('earlier'), audit: () => refusal('sampler_mismatch') })
  await caught.add(...done('earlier', 'victim', 0))
  await caught.verdicts.settle(caught.replayed('lease'), caught.taken('lease'), false)
  assert.equal(caught.wrote, ['proof of lease, 9 B and its body', 'judged duplicate'])
  const unaudited = await scene({ overlap: () => copyOf('earlier'), canAudit: false })
  await unaudited.add(...done('earlier', 'victim', 0))
  await unaudited.verdicts.settle(unaudited.replayed('lease'), unaudited.taken('lease'), false)
  assert.equal(unaudited.wrote, ['proof of lease, 9 B and its body', 'judged duplicate'])
})

test('a copy that is found only when the verdict is recorded is audited then', async () => {
  const audits: string[] = []
  let looks = 0
  const { verdicts, wrote, replayed, taken, add } = await scene({
    overlap: () => (looks++ === 0 ? null : copyOf('earlier')),
    audit: (leaseId) => {
      audits.push(leaseId)
      return null
    },
  })
  await add(...done('earlier', 'ben', 0))
  await verdicts.settle(replayed('lease'), taken('lease'), false)
  assert.equal(audits, ['lease', 'earlier'])
  assert.equal(wrote, ['audited null', 'judged null'])
})

test('an accepted group is audited afterwards once, what was never seen is not believed, and batches are left alone', async () => {
  const { verdicts, wrote, add } = await scene({ audit: () => refusal('logprob_mismatch', '9 nats') })
  const unseen = { zeroVariance: true, completions: [], rewards: [1, 1] }
  await add(...done('seen', 'ben', 0), leased('unseen', 'cleo', 0), judged('unseen', 'cleo', 0, unseen))
  await verdicts.auditAccepted('seen', false)
  await verdicts.auditAccepted('unseen', false)
  await verdicts.auditAccepted('seen', false)
  assert.equal(wrote, ['audited logprob_mismatch', 'audited unconfirmed'])
  await add(...done('passed', 'dora', 0), audited('passed', 'dora', null))
  await verdicts.auditAccepted('passed', false)
  assert.equal(wrote, [])
})

test('a suspect group whose body is lost is given up, and neither refused nor held against its node', async () => {
  const { verdicts, wrote, add, penalised } = await scene({ lost: ['lease'] })
  await add(judged('lease', 'ann', 0))
  await verdicts.auditAccepted('lease', false)
  assert.equal(wrote, ['body_lost of lease'])
  assert.equal(penalised, [])
})

test.run()
