import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { RunEvent } from '../../../coordinator/ledger/events.js'
import { RunReducer } from '../../../coordinator/ledger/run-reducer.js'
import type { JudgedGroup } from '../../../coordinator/ledger/run-state.js'
import type { Verdict } from '../../../proto/index.js'
import { leaseSeed } from '../../../rollout/verification/lease-seed.js'
import { checkLog, type RunBounds } from '../../chaos/check-log.js'
import { checkMemory } from '../../chaos/check-memory.js'
import { checkDeliveries, checkLedgers, type VolunteerRecord } from '../../chaos/check-volunteers.js'
import {
  agreed,
  audited,
  batched,
  batchRefused,
  bodyLost,
  type EventOf,
  hex,
  judged,
  leased,
  published,
  released,
  reopened,
  trained,
} from '../../support/run-events.js'

/** Every rule that the checker of the chaos scenarios knows, broken in a log that is in order otherwise. */

const BOUNDS: RunBounds = { versions: 1, maxStaleness: 0, leasesPerNode: 2 }
const registered = (node: string, round: number): RunEvent => ({ type: 'registered', atMs: 0, node, round })

/** A lease as the round's secret has it. */
const lease = (
  leaseId: string,
  node: string,
  round: number,
  index: number,
  change: Partial<EventOf<'leased'>> = {},
): EventOf<'leased'> => {
  const seed = leaseSeed(Buffer.from(hex(4), 'hex'), hex(1), node, index).toString('hex')
  return leased(leaseId, node, 0, { round, index, seed, ...change })
}

const START: readonly RunEvent[] = [agreed(), published(0), registered('ann', 0), registered('ben', 0), reopened(1, 0)]
const MIDDLE: readonly RunEvent[] = [
  lease('a', 'ann', 1, 0),
  judged('a', 'ann', 0, { credit: 5 }),
  lease('b', 'ben', 1, 0),
  released('b'),
  lease('b', 'ben', 1, 0),
  judged('b', 'ben', 0, { credit: 7 }),
  lease('c', 'ann', 1, 1),
  judged('c', 'ann', 0, { credit: 2 }),
]
const END: readonly RunEvent[] = [
  batched('one', 1, ['a', 'b']),
  audited('c', 'ann', 'sampler_mismatch'),
  published(1, { round: 2 }),
  trained('one', 1),
]
const GOOD = [...START, ...MIDDLE, ...END]

const rulesOf = (events: readonly RunEvent[], bounds = BOUNDS): string[] => [
  ...new Set(checkLog(events, bounds).map(({ rule }) => rule)),
]
const without = (event: RunEvent): RunEvent[] => GOOD.filter((other) => other !== event)
/** The good log with something after an event of it. */
const after = (event: RunEvent, ...more: RunEvent[]): RunEvent[] =>
  GOOD.flatMap((other) => (other === event ? [other, ...more] : [other]))
const replaced = (event: RunEvent, by: RunEvent): RunEvent[] => GOOD.map((other) => (other === event ? by : other))
const [leaseA, judgedA, , releasedB] = MIDDLE as [RunEvent, RunEvent, RunEvent, RunEvent]
const judgedC = MIDDLE.at(-1)!
const [batch, audit, publication, training] = END as [RunEvent, RunEvent, RunEvent, RunEvent]

test('a log that is in order has no violations', () => {
  assert.equal(checkLog(GOOD, BOUNDS), [])
})

const broken: Record<string, readonly RunEvent[]> = {
  'work before the terms': GOOD.slice(1),
  'order of versions': [...GOOD, published(1, { round: 3 })],
  'order of rounds': after(START[4]!, reopened(1, 0)),
  'order of steps': replaced(batch, batched('one', 2, ['a', 'b'])),
  'lease of an unknown round': replaced(leaseA, lease('a', 'ann', 9, 0)),
  'lease of a key that is not admitted': after(START[3]!, lease('x', 'ann', 0, 0)),
  'lease with another seed': replaced(leaseA, lease('a', 'ann', 1, 0, { seed: hex(7) })),
  'lease given out twice': without(releasedB),
  'more leases than one key may hold': after(
    START[4]!,
    ...[5, 6, 7].map((index) => lease(`held ${index}`, 'ann', 1, index)),
  ),
  'renewal of no lease': after(judgedA, { type: 'renewed', atMs: 0, leaseId: 'a', deadlineMs: 9 }),
  'event of an unknown lease': after(leaseA, released('nobody’s')),
  'verdict of another lease': replaced(judgedA, judged('a', 'ben', 0, { credit: 5 })),
  'second verdict': after(judgedA, judged('a', 'ann', 0, { credit: 5 })),
  'second audit': after(audit, audited('c', 'ann', null)),
  'audit too late': replaced(audit, audited('a', 'ann', 'sampler_mismatch')),
  'second batch': replaced(batch, batched('one', 1, ['a', 'b', 'a'])),
  'batch beside a batch': after(batch, batched('two', 1, ['c'])),
  'batch of an unusable group': after(judgedC, audited('a', 'ann', 'sampler_mismatch')),
  'batch of a stale group': [...GOOD, batched('two', 2, ['c'])].filter((event) => event !== audit),
  'batch of a withdrawn adapter': [
    ...GOOD.slice(0, -2).filter((event) => event !== audit),
    published(1, { round: 2, adapterStep: 1 }),
    trained('one', 1),
    lease('d', 'ann', 2, 0, { version: 1 }),
    judged('d', 'ann', 1),
    batched('two', 2, ['c']),
    published(2, { round: 3, adapterStep: 0 }),
    trained('two', 2),
    batched('three', 3, ['d']),
  ],
  'outcome of no batch': after(training, trained('one', 1)),
  'version of no batch': without(batch),
  'run not complete': without(publication),
}
for (const [rule, events] of Object.entries(broken)) {
  test(`the checker finds: ${rule}`, () => {
    assert.ok(rulesOf(events).includes(rule), rulesOf(events).join(', '))
  })
}

test('the checker finds every broken promise about batches: refused, zero-variance and unverified groups', () => {
  const refused = judged('c', 'ann', 0, { accepted: false, code: 'reward_mismatch', credit: 0, rewards: [] })
  const batchOfC = batched('one', 1, ['a', 'c'])
  for (const [bad, credit] of [
    [refused, true],
    [judged('c', 'ann', 0, { zeroVariance: true }), true],
    [null, true],
  ] as const) {
    const events = GOOD.flatMap((event) =>
      event === judgedC ? (bad ? [bad] : []) : event === batch ? [batchOfC] : event === audit ? [] : [event],
    )
    assert.is(rulesOf(events).includes('batch of an unusable group'), credit)
  }
})

test('a refused group that earns credit, and a revoked one that keeps it, are found', () => {
  const paid = judged('c', 'ann', 0, { accepted: false, code: 'reward_mismatch', credit: 2 })
  assert.ok(rulesOf(without(audit).map((event) => (event === judgedC ? paid : event))).includes('credit'))
})

test('a batch that the trainer refused frees its step, and its groups are in no other batch', () => {
  const again = [
    ...START,
    ...MIDDLE,
    batched('one', 1, ['a', 'b']),
    batchRefused('one'),
    batched('two', 1, ['c']),
    published(1, { round: 2 }),
    trained('two', 1),
  ]
  assert.equal(checkLog(again, BOUNDS), [])
  assert.equal(
    rulesOf(
      again.map((event) => (event.type === 'batched' && event.batchId === 'two' ? batched('two', 1, ['a']) : event)),
    ),
    ['second batch'],
  )
})

test('a lost body gives the other groups of its batch back, and there is one to lose', () => {
  const lost = [
    ...[...START, ...MIDDLE, batched('one', 1, ['a', 'b']), bodyLost('a')],
    ...[batched('two', 1, ['b', 'c']), published(1, { round: 2 }), trained('two', 1)],
  ]
  assert.equal(checkLog(lost, BOUNDS), [])
  const again = lost.map((event) =>
    event.type === 'batched' && event.batchId === 'two' ? batched('two', 1, ['a', 'b']) : event,
  )
  assert.equal(rulesOf(again), ['batch of an unusable group'])
  assert.equal(rulesOf([...GOOD, bodyLost('a')]), ['loss of no usable group'])
})

test('books of the coordinator that lose a group, or count its credit twice, are found', () => {
  class Forgetful extends RunReducer {
    override trainable(): JudgedGroup[] {
      return []
    }
  }
  class Generous extends RunReducer {
    override apply(event: RunEvent): void {
      super.apply(event)
      if (event.type === 'judged') this.nodes.get(event.node)!.credit += event.credit
    }
  }
  const unfinished = [...START, ...MIDDLE]
  const rules = (state: RunReducer): string[] => [
    ...new Set(checkLog(unfinished, { ...BOUNDS, versions: 0 }, state).map(({ rule }) => rule)),
  ]
  assert.equal(rules(new RunReducer()), [])
  assert.equal(rules(new Forgetful()), ['group lost'])
  assert.equal(rules(new Generous()), ['credit'])
})

const verdict = (leaseId: string, accepted: boolean, credit: number): Verdict => ({
  ...{ leaseId, bodySha256: hex(6), accepted, code: null, detail: '', credit, receivedAtMs: 0 },
})

const ANN: VolunteerRecord = { node: 'ann', verdicts: [], waiting: [], finished: [], dropped: [] }

test('a volunteer with a verdict that the log does not contain is found', () => {
  const stated = [verdict('a', true, 5), verdict('c', true, 2), verdict('c', false, 0)]
  const check = (verdicts: Verdict[]): string[] => checkLedgers(GOOD, [{ ...ANN, verdicts }]).map(({ rule }) => rule)
  assert.equal(check(stated), [])
  assert.equal(check(stated.slice(0, 1)), [], 'not told yet')
  assert.equal(check([verdict('a', true, 6)]), ['ledger'])
  assert.equal(check([verdict('a', false, 5)]), ['ledger'])
  assert.equal(check([...stated, verdict('d', true, 1)]), ['ledger'])
  assert.equal(check([stated[1]!, stated[0]!, stated[2]!]), ['ledger', 'ledger'])
})

test('what a coordinator knew and its log does not say is found, whatever kind of event it comes from', () => {
  const reducer = (events: readonly RunEvent[]): RunReducer => {
    const state = new RunReducer()
    for (const event of events) state.apply(event)
    return state
  }
  const whole = reducer(GOOD)
  assert.equal(checkMemory(whole, whole), [])
  assert.equal(checkMemory(reducer(START), whole), [], 'more on disk than was applied')
  const found = GOOD.map((event, end) => [
    event.type,
    checkMemory(reducer(GOOD.slice(0, end + 1)), reducer(GOOD.slice(0, end))),
  ])
  // A lease that is given out again, or given back, changes nothing that anybody is told for good.
  const again = GOOD.filter(
    ({ type }, i) => type === 'released' || (type === 'leased' && GOOD[i - 1]!.type === 'released'),
  )
  assert.is(found.filter(([, violations]) => violations!.length === 0).length, again.length)
})

test('a finished group that its volunteer has forgotten is found, and so is one that still waits at the end', () => {
  const events: RunEvent[] = [...START, lease('x', 'ann', 1, 0), { ...released('x'), reason: 'forgotten' }]
  const check = (change: Partial<VolunteerRecord>): string[] =>
    checkDeliveries(events, [{ ...ANN, finished: ['x'], ...change }]).map(({ rule }) => rule)
  assert.equal(check({}), ['finished group lost'])
  assert.equal(check({ dropped: ['x'] }), [])
  assert.equal(check({ waiting: ['x'] }), ['finished group kept'])
  events.push(lease('y', 'ann', 1, 1), judged('y', 'ann', 0, { accepted: false, code: 'replay_mismatch', credit: 0 }))
  assert.equal(check({ waiting: ['x'] }), [])
  events.push(judged('x', 'ann', 0))
  assert.equal(check({}), [])
})

test.run()
