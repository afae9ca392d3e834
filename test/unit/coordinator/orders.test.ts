import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { tasksToSkip } from '../../../coordinator/leases/withheld-tasks.js'
import type { RunEvent } from '../../../coordinator/ledger/events.js'
import { RunReducer } from '../../../coordinator/ledger/run-reducer.js'
import { GroupsTally } from '../../../coordinator/report/group-report.js'
import { NodesTally } from '../../../coordinator/report/node-report.js'
import { orderWords } from '../../../coordinator/report/order-words.js'
import { RunTally } from '../../../coordinator/report/run-report.js'
import { decodeTaskSet } from '../../../proto/index.js'
import type { Task } from '../../../rollout/episode/index.js'
import { agreed, batched, done, leased, ORDERED, published, released, trained } from '../../support/run-events.js'

const reducer = (...log: readonly RunEvent[]): RunReducer => {
  const state = new RunReducer()
  for (const event of [agreed({ maxStaleness: 4, audit: { calibrations: {}, probation: 3, leastShare: 0.1 } }), ...log])
    state.apply(event)
  return state
}
const ban: RunEvent = { type: 'banned', ...ORDERED, node: 'ann', reason: 'two keys, one person' }
const unban: RunEvent = { type: 'unbanned', ...ORDERED, node: 'ann' }
const trainable = (state: RunReducer): string[] => state.trainable(4).map(({ leaseId }) => leaseId)

test('groups of a banned key wait until it is let in again, in their old order, and no longer than any other', () => {
  const log = [published(0), ...done('a', 'ann', 0), ...done('b', 'ben', 0), ban, ...done('c', 'ann', 0)]
  const banned = reducer(...log)
  assert.equal(trainable(banned), ['b'])
  assert.equal([banned.trainableCount(4), banned.trainableCountOf('ann', 4)], [1, 0])
  assert.equal(
    banned.heldBack.map(({ leaseId }) => leaseId),
    ['a', 'c'],
  )
  assert.equal(trainable(reducer(...log, unban)), ['a', 'b', 'c'])
  const later = [1, 2, 3, 4, 5].map((version) => published(version))
  assert.equal(trainable(reducer(...log, ...later, unban)), [])
})

test('a lease that is taken back from a banned key does not count as abandoned', () => {
  const back: RunEvent = { ...released('a'), reason: 'banned' }
  const state = reducer(published(0), ...done('z', 'ann', 0), leased('a', 'ann', 0), ban, back)
  assert.equal([state.openLeases.size, state.nodes.get('ann')!.abandoned], [0, 0])
  assert.is(state.owedLease('ann'), undefined)
  assert.is(state.kindOf('ann'), 'proven')
})

test('an unban gives back the streak that a lie has cost, ends the exclusion, and leaves credit and verdicts alone', () => {
  const before = [1, 2, 3, 4, 5].flatMap((i) => done(`a${i}`, 'ann', 0))
  const lie = done('lie', 'ann', 0, { accepted: false, code: 'replay_mismatch', credit: 0 })
  const accused = reducer(published(0), ...before, ...lie)
  const { reputation } = accused.nodes.get('ann')!
  assert.equal([reputation.isQuarantined(1e15), reputation.streak, reputation.doubt], [true, 0, 1])
  assert.equal(trainable(accused), [], 'its groups are under suspicion')
  accused.apply(unban)
  assert.equal([reputation.isQuarantined(0), reputation.streak, reputation.doubt], [false, 5, 0])
  assert.equal(reputation.record.failures, 1, 'what was recorded of its life stays')
  assert.not(reputation.isBlemished)
  assert.equal([accused.nodes.get('ann')!.credit, accused.nodes.get('ann')!.verdictCount], [5, 6])
  assert.equal(trainable(accused), ['a1', 'a2', 'a3', 'a4', 'a5'])
  assert.ok(accused.reliable.has('ann'))
})

test('no batch takes groups of a dropped task, also not those that come later, and its leases are not given again', () => {
  const drop: RunEvent = { type: 'task-dropped', ...ORDERED, taskIndex: 1, taskId: 'task-1' }
  const log = [
    published(0),
    ...done('a', 'ann', 0, {}, 1),
    ...done('b', 'ben', 0, {}, 0),
    leased('left', 'ann', 0, { taskIndex: 1 }),
    released('left'),
    drop,
    ...done('c', 'ben', 0, {}, 1),
  ]
  const state = reducer(...log)
  assert.equal(trainable(state), ['b'])
  assert.is(state.owedLease('ann'), undefined)
  assert.equal([state.nodes.get('ann')!.credit, state.nodes.get('ben')!.credit], [1, 2], 'the work is paid')
  const groups = new GroupsTally()
  for (const event of log) groups.add(event)
  assert.equal(
    ['a', 'b', 'c'].map((leaseId) => groups.find(leaseId)[0]!.unusedFor),
    ['task dropped', null, 'task dropped'],
  )
})

const TASKS = ['banking', 'banking', 'email', 'library'].map(
  (environmentName, i) => ({ id: `task-${i}`, environments: [{ environment: environmentName }] }) as unknown as Task,
)

test('a round skips tasks that are dropped or of disabled environments, and the curriculum leaves at least an eighth of the others', () => {
  const state = reducer(
    published(0),
    { type: 'environment-disabled', ...ORDERED, environment: 'banking' },
    { type: 'task-dropped', ...ORDERED, taskIndex: 2, taskId: 'task-2' },
    ...done('flat', 'ann', 0, { zeroVariance: true }, 3),
  )
  const isSkipped = decodeTaskSet(tasksToSkip(state, TASKS, 0))
  assert.equal([0, 1, 2, 3].map(isSkipped), [true, true, true, false])
  assert.not(state.enabledSinceRound)
  state.apply({ type: 'environment-enabled', ...ORDERED, environment: 'banking' })
  assert.ok(state.enabledSinceRound)
  const isSkippedAfterwards = decodeTaskSet(tasksToSkip(state, TASKS, 0))
  assert.equal([0, 1, 2, 3].map(isSkippedAfterwards), [false, false, true, true])
})

test('a published rollback withdraws the versions after its target, and is over then', () => {
  const order: RunEvent = { type: 'rollback-ordered', ...ORDERED, version: 1 }
  const log: RunEvent[] = [
    published(0),
    published(1),
    ...done('kept', 'ann', 1),
    published(2),
    ...done('gone', 'ann', 2),
    published(3),
    ...done('gone too', 'ben', 3),
    order,
    { ...batched('back', 4, []), backTo: 1 },
  ]
  const state = reducer(...log)
  assert.is(state.orders.rollback?.version, 1)
  assert.equal(trainable(state), ['kept', 'gone', 'gone too'], 'nothing is withdrawn before it is done')
  const end = [published(4, { adapterStep: 1 }), { ...trained('back', 4), skipped: true, reason: 'rollback' }]
  for (const event of end) state.apply(event)
  assert.is(state.orders.rollback, null)
  assert.equal([...state.withdrawn], [2, 3])
  assert.equal(trainable(state), ['kept'])
  const run = new RunTally()
  for (const event of [agreed(), ...log, ...end]) run.add(event)
  const { versions, orders } = run.report()
  assert.equal(
    versions.map(({ withdrawn }) => withdrawn),
    [false, false, true, true, false],
  )
  assert.is(orders.rollback, null)
  assert.is(versions[4]!.skippedFor, 'rollback')
})

test('a rollback that the trainer cannot make is over, and the run continues unchanged', () => {
  const state = reducer(
    published(0),
    published(1),
    { type: 'rollback-ordered', ...ORDERED, version: 0 },
    { ...batched('back', 2, []), backTo: 0 },
    { type: 'batch-refused', atMs: 0, batchId: 'back', code: 'policy_missing', detail: 'step 0 is gone' },
  )
  assert.equal([state.orders.rollback, state.pendingBatch, [...state.withdrawn]], [null, undefined, []])
})

test('the orders in force are described, those that stop the run first', () => {
  const state = reducer(
    published(0),
    { type: 'announced', ...ORDERED, message: 'we move on Monday', addresses: ['/dns4/new.example.org/tcp/4001'] },
    ban,
    { type: 'environment-disabled', ...ORDERED, environment: 'banking', reason: 'its rules are wrong' },
    { type: 'paused', ...ORDERED, reason: 'maintenance' },
  )
  const words = orderWords(state.orders).map((line) => line.replace(/(since )?\d{4}-\d\d-\d\d [\d:]{8}/, '<then>'))
  assert.equal(words, [
    'paused <then>, by the operator: maintenance',
    'environment banking is disabled <then>, by the operator: its rules are wrong',
    '1 key is banned',
    'announced <then>: we move on Monday /dns4/new.example.org/tcp/4001',
  ])
  const nodes = new NodesTally()
  for (const event of [agreed(), published(0), { type: 'registered', atMs: 0, node: 'ann', round: 0 } as const, ban])
    nodes.add(event)
  assert.equal(nodes.report(0)[0]!.reputation, { kind: 'banned', reason: 'two keys, one person' })
})

test.run()
