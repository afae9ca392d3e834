import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type GroupBody,
  REFUSALS,
  type RecordedRollout,
  type RefusalCode,
  refusal,
  type SwarmRefusal,
} from '../../../proto/index.js'
import { runChecks } from '../../../rollout/verification/checks.js'
import { ELSEWHERE } from '../../../rollout/verification/describe-refusals.js'
import {
  AUDIT_CHECKS,
  BODY_CHECKS,
  CHECKS,
  type CheckWatch,
  checkOf,
  fitThresholds,
  type VerificationCheck,
  verifyGroupBody,
  verifyStatistics,
} from '../../../rollout/verification/index.js'
import { syntheticGroup } from '../../support/audit-groups.js'
import { AMPLE, bodyOf, groundTruthScript, lendingTask, play, runtimeOf } from '../../support/scripted.js'

const table: readonly VerificationCheck[] = CHECKS

test('checks are numbered from 0 in the order of the table, and each needs at least the input of the ones before', () => {
  assert.equal(
    table.map(({ number }) => number),
    table.map((_, i) => i),
  )
  const inputs = ['announcement', 'body', 'earlier groups', 'audit'] as const
  const steps = table.map(({ input }) => inputs.indexOf(input))
  assert.equal(steps, steps.toSorted())
  const costs = ['look-up', 'reading', 'replay', 'forward pass']
  for (const { forwardPass, input, cost } of table) {
    assert.is(forwardPass, input === 'audit')
    assert.is(cost === 'forward pass', forwardPass)
    assert.ok(costs.includes(cost))
  }
})

test('every refusal code belongs to one check, or is listed as belonging to none', () => {
  for (const code of Object.keys(REFUSALS) as RefusalCode[]) {
    const places = table.filter(({ refusals }) => refusals.includes(code)).map(({ name }) => name)
    if (Object.hasOwn(ELSEWHERE, code)) places.push('elsewhere')
    assert.is(places.length, 1, `${code}: ${places.join()}`)
    assert.is(checkOf(code)?.name ?? 'elsewhere', places[0])
  }
})

/** Records checks; every reading of the clock takes a millisecond. */
function watched(): { readonly watch: CheckWatch; readonly seen: [number, string, number][] } {
  const seen: [number, string, number][] = []
  let nowMs = 0
  return {
    seen,
    watch: { now: () => nowMs++, onCheck: (number, outcome, ms) => seen.push([number, outcome, ms]) },
  }
}

const { signal } = new AbortController()

test('checks run one after the other until one refuses, and each is reported with its outcome and time', async () => {
  const ran: number[] = []
  const check = (number: 1 | 2 | 3, fault?: Error) => ({
    number,
    run: async () => {
      ran.push(number)
      if (fault) throw fault
    },
  })
  const { watch, seen } = watched()
  const why = await runChecks([check(1), check(2, refusal('prompt_mismatch')), check(3)], null, watch, signal).catch(
    (error: unknown) => error,
  )
  assert.is((why as SwarmRefusal).code, 'prompt_mismatch')
  assert.equal(ran, [1, 2])
  assert.equal(seen, [
    [1, 'passed', 1],
    [2, 'refused', 1],
  ])
  for (const failure of [refusal('internal'), new Error('no space left on device')]) {
    const own = watched()
    await runChecks([check(3, failure)], null, own.watch, signal).catch(() => undefined)
    assert.equal(own.seen, [[3, 'failed', 1]])
  }
})

const replayContext = runtimeOf()
const task = lendingTask()
const rollouts = [
  await play(task, groundTruthScript(task), replayContext),
  await play(task, ['No.', 'No.'], replayContext),
]
const honest = bodyOf(task, rollouts)
const { leaseId, policyId } = honest
const expected = { leaseId, policyId, task, groupSize: 2, limits: AMPLE }
const announced = {
  rewards: rollouts.map(({ reward }) => reward.total),
  tokensGenerated: rollouts.reduce((sum, { logprobs }) => sum + logprobs.length, 0),
}
const codeOf = (body: GroupBody, options: Parameters<typeof verifyGroupBody>[4] = {}) =>
  verifyGroupBody(body, expected, replayContext, signal, options).then(
    () => 'accepted',
    (why: SwarmRefusal) => why.code,
  )
const changed = (...changes: Partial<RecordedRollout>[]): GroupBody => ({
  ...honest,
  rollouts: honest.rollouts.map((rollout, i) => ({ ...rollout, ...changes[i] })),
})

test('an honest group passes every check that needs its body', async () => {
  const { watch, seen } = watched()
  assert.is(await codeOf(honest, { announced, watch }), 'accepted')
  assert.equal(
    seen.map(([number, outcome]) => [number, outcome]),
    BODY_CHECKS.map(({ number }) => [number, 'passed']),
  )
})

test('of several faults the cheapest to find counts, in whichever rollout it is', async () => {
  const [first, second] = honest.rollouts as [RecordedRollout, RecordedRollout]
  const otherState = { stateHash: '00'.repeat(32) }
  const otherPrompt = { tokens: second.tokens.with(0, second.tokens[0]! + 1) }
  const impossible = { logprobs: second.logprobs.with(0, 1) }
  assert.is(await codeOf(changed(otherState)), 'state_mismatch')
  assert.is(await codeOf(changed(otherState, otherPrompt)), 'prompt_mismatch')
  assert.is(await codeOf(changed(otherState, { ...otherPrompt, ...impossible })), 'out_of_bounds')
  const { watch, seen } = watched()
  await codeOf(changed({ ...otherState, tokens: first.tokens.with(0, first.tokens[0]! + 1) }, impossible), { watch })
  assert.equal(seen, [[1, 'refused', 1]], 'nothing is rendered or played for it')
})

test('what was announced is held against the body', async () => {
  assert.is(await codeOf(honest, { announced: { ...announced, rewards: [1.3, 1] } }), 'reward_mismatch')
  assert.is(await codeOf(honest, { announced: { ...announced, tokensGenerated: 1 } }), 'body_mismatch')
})

const thresholds = fitThresholds(
  Array.from({ length: 60 }, (_, seed) => syntheticGroup(seed)),
  0.005,
)

test('the checks that need a forward pass stop at the first fault too, and its time counts for the first of them', () => {
  const { watch, seen } = watched()
  const sinceMs = watch.now() - 100
  assert.ok(verifyStatistics(syntheticGroup(99), thresholds, { watch, sinceMs }).accepted)
  assert.equal(
    seen.map(([number, outcome]) => [number, outcome]),
    AUDIT_CHECKS.map(({ number }) => [number, 'passed']),
  )
  assert.equal(
    seen.map(([, , ms]) => ms),
    [101, 1, 1],
  )
  const own = watched()
  const bent = syntheticGroup(99, 600, { otherDraws: 1 })
  const finding = verifyStatistics(bent, thresholds, { watch: own.watch })
  assert.ok(!finding.accepted && finding.code === 'sampler_mismatch')
  assert.equal(
    own.seen.map(([number, outcome]) => [number, outcome]),
    [
      [5, 'passed'],
      [6, 'refused'],
    ],
  )
})

test.run()
