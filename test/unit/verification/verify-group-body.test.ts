import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type GroupBody,
  groupBody,
  type RecordedCall,
  type RecordedRollout,
  type RefusalCode,
  SwarmRefusal,
} from '../../../proto/index.js'
import { type ExpectedGroup, verifyGroupBody } from '../../../rollout/verification/index.js'
import {
  AMPLE,
  bodyOf,
  END,
  groundTruthScript,
  lendingTask,
  play,
  runtimeOf,
  writeCall,
} from '../../support/scripted.js'

const runtime = runtimeOf()
const task = lendingTask()
const limits = { ...AMPLE, maxRolloutTokens: 1200 }
const lend = writeCall('lend_book', { book: 'emma', reader: 'Ada' })
const rollouts = [
  await play(task, groundTruthScript(task), runtime, limits),
  await play(
    task,
    ['<tool_call>{oops</tool_call>', writeCall('fly', {}), lend, lend, 'Done.', 'Done.'],
    runtime,
    limits,
  ),
  await play(task, ['No.', 'No.'], runtime, limits),
]
const honest = bodyOf(task, rollouts)
const expected: ExpectedGroup = { leaseId: honest.leaseId, policyId: honest.policyId, task, groupSize: 3, limits }
// All files of a suite are loaded before the first test runs, so a timeout that starts here might be over by then.
const { signal } = new AbortController()

async function verified(body: GroupBody, group = expected): Promise<string> {
  try {
    await verifyGroupBody(body, group, runtime, signal)
    return 'accepted'
  } catch (error) {
    if (error instanceof SwarmRefusal) return error.code
    throw error
  }
}

test('an honest group is accepted, and what the coordinator gets are the rollouts as replayed', async () => {
  assert.equal(await verifyGroupBody(honest, expected, runtime, signal), rollouts)
})

test('an honest group is accepted after its journey over the wire', async () => {
  const arrived = groupBody.parse(groupBody.encode(honest))
  assert.equal(await verifyGroupBody(arrived, expected, runtime, signal), rollouts)
})

test('a group with rollouts that were cut off is accepted under the limits that cut them', async () => {
  const narrow = { ...limits, maxTurnTokens: 20 }
  const cut = [await play(task, [lend], runtime, narrow), await play(task, ['No.', 'No.'], runtime, narrow)]
  const group = { ...expected, groupSize: 2, limits: narrow }
  assert.is(await verified(bodyOf(task, cut), group), 'accepted')
  assert.is(await verified(bodyOf(task, cut), { ...group, limits }), 'termination')
})

test('a group for a task whose answer is no call is accepted without components', async () => {
  const quiet = lendingTask({ kind: 'abstention', groundTruth: [], turns: ['What is the capital of Peru?'] })
  const body = bodyOf(quiet, [
    await play(quiet, ['Lima.'], runtime, limits),
    await play(quiet, [lend, 'Lima.'], runtime, limits),
  ])
  assert.is(await verified(body, { ...expected, task: quiet, groupSize: 2 }), 'accepted')
})

const first = honest.rollouts[0]!
const withRollout = (at: number, change: (rollout: RecordedRollout) => Partial<RecordedRollout>): GroupBody => ({
  ...honest,
  rollouts: honest.rollouts.map((rollout, i) => (i === at ? { ...rollout, ...change(rollout) } : rollout)),
})
const withCall = (at: number, call: number, change: Partial<RecordedCall>): GroupBody =>
  withRollout(at, ({ calls }) => ({ calls: calls.with(call, { ...calls[call]!, ...change }) }))
const withToken = (at: number, token: number): GroupBody =>
  withRollout(0, ({ tokens }) => ({ tokens: tokens.with(at, token) }))
const withLogprob = (logprob: number): GroupBody =>
  withRollout(1, ({ logprobs }) => ({ logprobs: logprobs.with(3, logprob) }))
const [promptRun, turnRun] = first.maskRuns as [number, number]
const components = (
  change: (list: RecordedRollout['reward']['components']) => RecordedRollout['reward']['components'],
) => withRollout(0, ({ reward }) => ({ reward: { ...reward, components: change(reward.components) } }))

const FORGERIES: readonly (readonly [string, GroupBody, RefusalCode])[] = [
  ['another lease', { ...honest, leaseId: 'c3'.repeat(16) }, 'body_mismatch'],
  ['another task', { ...honest, taskId: 'c3'.repeat(32) }, 'body_mismatch'],
  ['another policy', { ...honest, policyId: 'c3'.repeat(32) }, 'body_mismatch'],
  ['a rollout too few', { ...honest, rollouts: honest.rollouts.slice(1) }, 'wrong_group_size'],
  ['a rollout too many', { ...honest, rollouts: [...honest.rollouts, first] }, 'wrong_group_size'],
  ['no rollouts', { ...honest, rollouts: [] }, 'wrong_group_size'],
  ['a token outside the vocabulary', withToken(promptRun + 1, 0x110000), 'out_of_bounds'],
  [
    'more tokens than a rollout may have',
    withRollout(2, ({ tokens }) => ({ tokens: [...tokens, ...new Array<number>(1200).fill(65)] })),
    'out_of_bounds',
  ],
  ['a positive log-probability', withLogprob(0.5), 'out_of_bounds'],
  ['a log-probability that is not a number', withLogprob(Number.NaN), 'out_of_bounds'],
  ['an infinite log-probability', withLogprob(Number.NEGATIVE_INFINITY), 'out_of_bounds'],
  ['another prompt', withToken(2, 66), 'prompt_mismatch'],
  [
    'a prompt said to be sampled',
    withRollout(0, ({ maskRuns }) => ({ maskRuns: [promptRun - 1, turnRun + 1, ...maskRuns.slice(2)] })),
    'prompt_mismatch',
  ],
  ['another tool response in the tokens', withToken(promptRun + turnRun + 40, 66), 'environment_mismatch'],
  [
    'a turn said to be longer than it was',
    withRollout(0, ({ maskRuns }) => ({ maskRuns: [promptRun, turnRun + 1, maskRuns[2]! - 1, ...maskRuns.slice(3)] })),
    'environment_mismatch',
  ],
  ['another word from the policy', withToken(promptRun + turnRun - 3, 66), 'environment_mismatch'],
  ['another name of a call', withCall(0, 0, { name: 'list_books' }), 'replay_mismatch'],
  ['other arguments of a call', withCall(0, 0, { argumentsJson: '{"book":"emma","reader":"Bo"}' }), 'replay_mismatch'],
  [
    'arguments with another key order',
    withCall(0, 0, { argumentsJson: '{"reader":"Ada","book":"emma"}' }),
    'replay_mismatch',
  ],
  ['a failed call said to have succeeded', withCall(1, 3, { ok: true }), 'replay_mismatch'],
  ['a call said to have failed', withCall(0, 0, { ok: false }), 'replay_mismatch'],
  ['another result', withCall(0, 0, { resultJson: '{}' }), 'replay_mismatch'],
  ['a malformed call said to be well-formed', withCall(1, 0, { malformed: false }), 'replay_mismatch'],
  ['a call said to be malformed', withCall(0, 0, { malformed: true }), 'replay_mismatch'],
  ['other text of a malformed call', withCall(1, 0, { raw: '<tool_call>{' }), 'replay_mismatch'],
  ['another answer to a malformed call', withCall(1, 0, { resultJson: '{}' }), 'replay_mismatch'],
  ['a call left out of the log', withRollout(0, ({ calls }) => ({ calls: calls.slice(1) })), 'replay_mismatch'],
  ['a call added to the log', withRollout(2, () => ({ calls: [first.calls[0]!] })), 'replay_mismatch'],
  ['another final state', withRollout(1, () => ({ stateHash: first.stateHash })), 'state_mismatch'],
  ['a better total', withRollout(2, ({ reward }) => ({ reward: { ...reward, total: 1.3 } })), 'reward_mismatch'],
  [
    'a total off by one unit in the last place',
    withRollout(0, ({ reward }) => ({ reward: { ...reward, total: 1.3 - 2 ** -52 } })),
    'reward_mismatch',
  ],
  ['another component', components((list) => list.with(1, { name: 'coverage', value: 0.5 })), 'reward_mismatch'],
  [
    'a component without a value',
    components((list) => list.with(1, { name: 'coverage', value: null })),
    'reward_mismatch',
  ],
  ['another name of a component', components((list) => list.with(0, { name: 'valid', value: 1 })), 'reward_mismatch'],
  ['components in another order', components((list) => list.toReversed()), 'reward_mismatch'],
  ['the first component left out', components((list) => list.slice(1)), 'reward_mismatch'],
  ['the last component left out', components((list) => list.slice(0, -1)), 'reward_mismatch'],
  ['a component added', components((list) => [...list, { name: 'charm', value: 1 }]), 'reward_mismatch'],
  ['another reason for the end', withRollout(0, () => ({ endReason: 'turn_limit' })), 'termination'],
  [
    'no end token',
    withRollout(0, ({ tokens, maskRuns, logprobs }) => ({
      tokens: tokens.slice(0, -1),
      maskRuns: maskRuns.with(-1, maskRuns.at(-1)! - 1),
      logprobs: logprobs.slice(0, -1),
    })),
    'termination',
  ],
  [
    'tokens after the end',
    withRollout(0, ({ tokens, maskRuns, logprobs }) => ({
      tokens: [...tokens, END],
      maskRuns: maskRuns.with(-1, maskRuns.at(-1)! + 1),
      logprobs: [...logprobs, -1],
    })),
    'mask_mismatch',
  ],
  ['a log-probability too few', withRollout(0, ({ logprobs }) => ({ logprobs: logprobs.slice(1) })), 'mask_mismatch'],
]
for (const [what, body, code] of FORGERIES) {
  test(`a group with ${what} is refused as ${code}`, async () => {
    assert.is(await verified(body), code)
  })
}

test('other closing words pass the replay: only their log-probabilities could tell', async () => {
  assert.is(await verified(withToken(first.tokens.length - 2, 66)), 'accepted')
})

test('every refusal tells the volunteer which rollout it is about', async () => {
  const forged = withRollout(1, () => ({ stateHash: first.stateHash }))
  const error = await verifyGroupBody(forged, expected, runtime, signal).catch((cause: unknown) => cause)
  assert.ok(error instanceof SwarmRefusal)
  assert.is(error.effect, 'reject')
  assert.match(error.message, 'rollout 1')
})

test('the same rollouts for another environment seed do not pass', async () => {
  const elsewhere = lendingTask({ environments: [{ environment: 'library', seed: 2 }] })
  const code = await verified({ ...honest, taskId: elsewhere.id }, { ...expected, task: elsewhere })
  assert.is(code, 'environment_mismatch')
})

test('a task of our own that is wrong is an internal failure, which costs the node nothing', async () => {
  const bad = lendingTask({ toolset: [{ environment: 'library', tool: 'fly' }] })
  const error = await verifyGroupBody({ ...honest, taskId: bad.id }, { ...expected, task: bad }, runtime, signal).catch(
    (cause: unknown) => cause,
  )
  assert.ok(error instanceof SwarmRefusal)
  assert.is(error.code, 'internal')
  assert.is(error.effect, 'ignore')
})

test.run()
