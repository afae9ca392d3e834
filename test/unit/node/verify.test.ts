import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { GroupOrigin, KeptGroup } from '../../../node/store/kept-group.js'
import { checkSeed, type VerifiedCheck, verifyGroup } from '../../../node/verification/verify-group.js'
import { groupBody } from '../../../proto/index.js'
import type { Engine } from '../../../rollout/engine/index.js'
import {
  type Calibration,
  CHECKS,
  fitThresholds,
  leaseSeed,
  roundSecretHash,
} from '../../../rollout/verification/index.js'
import { syntheticGroup } from '../../support/audit-groups.js'
import { patience } from '../../support/patience.js'
import { AMPLE, bodyOf, lendingTask, play, runtimeOf } from '../../support/scripted.js'

const test = suite('verification by the node')

const replayContext = runtimeOf()
const task = lendingTask()
const secret = 'c3'.repeat(32)
const peerId = '12D3KooWKRYhZeD3sAWvz1zaSsEXnwnktvv4iaprLHrCgZBZWyEq'
const seedFrom = (text: string) => leaseSeed(Buffer.from(text, 'hex'), 'b2'.repeat(32), peerId, 3).toString('hex')

const origin: GroupOrigin = {
  peerId,
  lease: {
    leaseId: 'a1'.repeat(16),
    index: 3,
    policyId: 'b2'.repeat(32),
    version: 4,
    taskId: task.id,
    task: JSON.stringify(task),
    seed: seedFrom(secret),
    groupSize: 2,
  },
  round: 6,
  roundSecretHash: roundSecretHash(Buffer.from(secret, 'hex')),
  limits: AMPLE,
  base: { name: 'village-model', sha256: 'd4'.repeat(32), quantisation: 'f16' },
  adapterSha256: null,
  toolCallFormat: 'hermes',
  reward: 'paper',
  cacheType: 'f16',
}

test('a seed is checked against the secret of its round once a manifest contains the secret', () => {
  assert.is(checkSeed(origin, [{ round: 5, secret: 'ee'.repeat(32) }]).outcome, 'not checked')
  assert.equal(checkSeed(origin, [{ round: 6, secret }]), {
    name: 'lease seed',
    outcome: 'ok',
    detail: 'derived from the secret of round 6',
  })
  const chosen = { ...origin, lease: { ...origin.lease, seed: 'f5'.repeat(32) } }
  assert.match(checkSeed(chosen, [{ round: 6, secret }]).detail, /not derived from the secret of round 6/)
  assert.match(checkSeed(origin, [{ round: 6, secret: 'ee'.repeat(32) }]).detail, /does not fit its published hash/)
})

test('a lease that a later round reuses keeps its seed', () => {
  const first = 'ab'.repeat(32)
  const again = { ...origin, lease: { ...origin.lease, seed: seedFrom(first) } }
  const rounds = [
    { round: 5, secret: first },
    { round: 6, secret },
  ]
  assert.is(checkSeed(again, rounds).detail, 'derived from the secret of round 5')
})

/** An engine that gives every token this log-probability and this logit error (nats). */
const engineWith = (logprob: (k: number) => number, logitError: number, asked: number[][] = []): Engine => ({
  build: { nodeLlamaCpp: 'none', backend: 'cpu' },
  usePolicy: () => Promise.reject(new Error('not asked for')),
  openSlots: () => Promise.reject(new Error('not asked for')),
  score: () => Promise.reject(new Error('not asked for')),
  close: () => Promise.reject(new Error('not asked for')),
  async scoreTokens(tokens, from, _signal, draws) {
    asked.push([tokens.length - from, draws!.length, draws!.filter((draw) => draw !== null).length])
    let sampled = 0
    return draws!.map((draw) => ({
      logprob: draw === null ? -9 : logprob(sampled++),
      expectedMismatch: 0.5,
      logitError: draw === null ? 9 : logitError,
    }))
  },
})
/** The log-probabilities that the scripted policy claims. */
const claimed = (k: number): number => -(k % 64) / 64

const thresholds = fitThresholds(
  Array.from({ length: 60 }, (_, seed) => syntheticGroup(seed)),
  0.005,
)
const calibration = { thresholds } as Calibration

async function kept(change: (body: ReturnType<typeof bodyOf>) => ReturnType<typeof bodyOf> = (body) => body) {
  const rollouts = [await play(task, ['No.', 'No.'], replayContext), await play(task, ['Sorry.', 'No.'], replayContext)]
  const body = groupBody.encode(change(bodyOf(task, rollouts)))
  return { group: { origin, bodySha256: 'e6'.repeat(32), body } satisfies KeptGroup, rollouts }
}
const verify = (group: KeptGroup, engine: Engine, thresholdsToUse: Calibration | null) =>
  verifyGroup(group, { replayContext, engine, calibration: thresholdsToUse, closedRounds: [] }, patience())
const outcomes = (checks: readonly VerifiedCheck[]): string[] => checks.map(({ outcome }) => outcome)

test('an honest group passes with thresholds, and is measured without them', async () => {
  const { group, rollouts } = await kept()
  const asked: number[][] = []
  const engine = engineWith(claimed, 0, asked)
  assert.equal(outcomes(await verify(group, engine, calibration)), [
    'not checked',
    'not checked',
    'ok',
    'ok',
    'ok',
    'not checked',
    'ok',
    'ok',
    'ok',
  ])
  // Environment tokens get no draw, and every sampled one gets its own.
  assert.equal(
    asked,
    rollouts.map(({ tokens, promptLength, logprobs }) => {
      const after = tokens.length - promptLength
      return [after, after, logprobs.length]
    }),
  )
  const measured = await verify(group, engine, null)
  assert.equal(outcomes(measured), [
    'not checked',
    'not checked',
    'ok',
    'ok',
    'ok',
    'not checked',
    'measured',
    'measured',
    'measured',
  ])
  assert.match(measured[6]!.detail, /^\d+ tokens, claimed log-probabilities 0 nats off on average, the worst 0 nats$/)
  assert.match(measured[7]!.detail, /^the draws do not select 0 tokens/)
})

test('the results are the seed and every verification check, in their order', async () => {
  const { group } = await kept()
  const names = (await verify(group, engineWith(claimed, 0), null)).map(({ name }) => name)
  assert.equal(names, ['lease seed', ...CHECKS.map(({ number, name }) => `check ${number}, ${name}`)])
})

test('log-probabilities of another policy fail check 5, and later checks do not run', async () => {
  const { group } = await kept()
  const checks = await verify(
    group,
    engineWith((k) => claimed(k) - 1, 0),
    calibration,
  )
  assert.equal(outcomes(checks), [
    'not checked',
    'not checked',
    'ok',
    'ok',
    'ok',
    'not checked',
    'failed',
    'not checked',
    'not checked',
  ])
  assert.match(checks[6]!.detail, /^logprob_mismatch: /)
})

test('tokens of another sampler fail check 6', async () => {
  const { group } = await kept()
  const checks = await verify(group, engineWith(claimed, 2), calibration)
  assert.equal(outcomes(checks), [
    'not checked',
    'not checked',
    'ok',
    'ok',
    'ok',
    'not checked',
    'ok',
    'failed',
    'not checked',
  ])
  assert.match(checks[7]!.detail, /^sampler_mismatch: /)
})

test('a group that fails its replay is not scored', async () => {
  const { group } = await kept((body) => ({
    ...body,
    rollouts: body.rollouts.map((rollout) => ({ ...rollout, stateHash: '00'.repeat(32) })),
  }))
  const asked: number[][] = []
  const checks = await verify(group, engineWith(claimed, 0, asked), calibration)
  assert.equal(outcomes(checks), [
    'not checked',
    'not checked',
    'ok',
    'ok',
    'failed',
    'not checked',
    'not checked',
    'not checked',
    'not checked',
  ])
  assert.match(checks[4]!.detail, /^state_mismatch/)
  assert.equal(asked, [])
})

test.run()
