import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { LoadedPolicy } from '../../../node/policy/policy-keeper.js'
import { NodeError } from '../../../node/report/errors.js'
import {
  CHANCE_FAILURES,
  MAX_CRASHES,
  next,
  type Situation,
  START,
  type WorkEvent,
  type WorkState,
} from '../../../node/work/work-state.js'
import type { LeaseResponse } from '../../../proto/index.js'
import { EngineError } from '../../../rollout/engine/index.js'
import { TransportError } from '../../../swarm/index.js'

const test = suite('the states of the work loop')

// The transitions compare policies by identity, and read nothing of them.
const policy = { manifestId: 'a' } as LoadedPolicy
const other = { manifestId: 'b' } as LoadedPolicy
const groupEnded = new AbortController().signal
const answer = (reason: LeaseResponse['reason']): LeaseResponse => ({
  leases: [],
  renewed: [],
  manifestId: 'a',
  reason,
  detail: 'slow',
  retryAfterMs: 0,
  providers: [],
})

const asking: WorkState = { name: 'asking', policy, isNew: false, timesIdle: 3 }
const waiting: WorkState = { ...asking, name: 'waiting', answer: answer('no_work'), groupEnded }
const measuring: WorkState = { ...asking, name: 'measuring', detail: 'slow' }
const draining = (then: WorkState): WorkState => ({ name: 'draining', then })
const connecting: WorkState = { name: 'connecting' }

const from = (state: WorkState, ...events: WorkEvent[]): Situation =>
  events.reduce((at, event) => next(at, event, true), { ...START, state })
const after = (state: WorkState, ...events: WorkEvent[]): WorkState => from(state, ...events).state

test('connecting: a loaded policy leads to a question for a lease', () => {
  assert.equal(after(connecting, { type: 'loaded', policy, isNew: true }), {
    name: 'asking',
    policy,
    isNew: true,
    timesIdle: 0,
  })
})

test('asking: a lease leads to the next question, under the policy of the newest round', () => {
  assert.equal(after(asking, { type: 'leased', policy }), { ...asking, timesIdle: 0 })
  assert.equal(after(asking, { type: 'leased', policy: other }), {
    ...asking,
    policy: other,
    isNew: true,
    timesIdle: 0,
  })
})

test('asking: an answer without a lease leads to a wait, and is counted', () => {
  const answered = after(asking, { type: 'no-lease', answer: answer('no_work'), groupEnded })
  assert.equal(answered, { ...waiting, timesIdle: 4 })
})

test('asking: a complete run ends the work only where the node does not stay', () => {
  const event: WorkEvent = { type: 'no-lease', answer: answer('complete'), groupEnded }
  assert.is(after(asking, event).name, 'waiting')
  const { state } = next({ ...START, state: asking }, event, false)
  assert.equal(state, draining({ name: 'delivering', end: 'complete' }))
})

test('asking: another manifest at the coordinator is loaded at once the first time, and after a pause from then on', () => {
  assert.equal(after({ ...asking, isNew: true }, { type: 'outdated' }), draining(connecting))
  assert.equal(after(asking, { type: 'outdated' }), draining({ name: 'retrying', trouble: null }))
})

test('asking: a machine that the coordinator finds too slow is measured', () => {
  assert.equal(after(asking, { type: 'no-lease', answer: answer('too_slow'), groupEnded }), measuring)
})

test('measuring: a faster machine asks again, another one rests', () => {
  assert.equal(after(measuring, { type: 'measured', isFaster: true, why: 'slow' }), asking)
  assert.equal(
    after(measuring, { type: 'measured', isFaster: false, why: 'slow' }),
    draining({ name: 'too-slow', why: 'slow' }),
  )
})

test('waiting: a newer round is loaded, any other end of the wait leads to a question', () => {
  assert.equal(after(waiting, { type: 'woken', isNewer: true }), draining(connecting))
  assert.equal(after(waiting, { type: 'woken', isNewer: false }), asking)
  assert.equal(after(waiting, { type: 'group-ended' }), { ...asking, timesIdle: 0 })
})

test('draining: the node does next what it was about to do', () => {
  assert.equal(after(draining({ name: 'paused' }), { type: 'drained', done: 1, stop: null }), { name: 'paused' })
})

test('draining: a group that did not end well counts before what the node was about to do', () => {
  const error = new NodeError('bad_lease', 'lease 1')
  const stop = { type: 'failed', error } as const
  assert.equal(after(draining(connecting), { type: 'drained', done: 0, stop }), { name: 'failed', error })
  const slow = { type: 'too-slow', why: 'slow' } as const
  assert.equal(after(draining(connecting), { type: 'drained', done: 0, stop: slow }), { name: 'too-slow', why: 'slow' })
})

test('draining: no failure keeps a node at work that is to close', () => {
  const stop = { type: 'failed', error: new Error('any') } as const
  const ended: WorkState = { name: 'ended', end: 'closed' }
  assert.equal(after(draining(ended), { type: 'drained', done: 0, stop }), ended)
})

test('paused: the end of the rest leads to the newest policy, the owner’s wish to end to the delivery', () => {
  assert.equal(after({ name: 'paused' }, { type: 'rested' }), connecting)
  assert.equal(after({ name: 'paused' }, { type: 'finish' }), { name: 'delivering', end: 'finished' })
})

test('too slow and retrying: the node tries again after the pause', () => {
  assert.equal(after({ name: 'too-slow', why: 'slow' }, { type: 'rested' }), connecting)
  assert.equal(after({ name: 'retrying', trouble: null }, { type: 'rested' }), connecting)
})

test('delivering: the work ends for the reason that it was about to end for', () => {
  const delivering: WorkState = { name: 'delivering', end: 'complete' }
  assert.equal(after(delivering, { type: 'delivered' }), { name: 'ended', end: 'complete' })
})

test('every state is left for a rest and for the end, after the groups in progress', () => {
  for (const state of [connecting, asking, waiting, measuring]) {
    assert.equal(after(state, { type: 'off-duty' }), draining({ name: 'paused' }))
    assert.equal(after(state, { type: 'closed' }), draining({ name: 'ended', end: 'closed' }))
  }
})

test('a failure of the coordinator is tried again, and reported when it is no chance and has a new reason', () => {
  const failed = (detail: string): WorkEvent => ({ type: 'failed', error: new TransportError('closed', detail) })
  let at: Situation = START
  const troubles: (string | null)[] = []
  for (const detail of ['a', 'a', 'a', 'a', 'b']) {
    at = next({ ...at, state: connecting }, failed(detail), true)
    if (at.state.name === 'retrying') troubles.push(at.state.trouble)
  }
  assert.is(CHANCE_FAILURES, 2)
  assert.equal(troubles, [null, null, 'closed: a', null, 'closed: b'])
  at = next({ ...at, state: asking }, { type: 'leased', policy }, true)
  assert.equal([at.failures, at.reported], [0, null])
})

test('a failed question is counted when the groups in progress have ended', () => {
  const error = new TransportError('closed', 'gone')
  const at = from(asking, { type: 'failed', error })
  assert.equal(at.state, draining({ name: 'failed', error }))
  const later = next(at, { type: 'drained', done: 0, stop: null }, true)
  assert.equal([later.state, later.failures], [{ name: 'retrying', trouble: null }, 1])
})

test('an engine that crashes again and again without a finished group stops the node', () => {
  const stop = { type: 'failed', error: new EngineError('engine_crashed', 'signal 11') } as const
  const crash = (at: Situation, done: number): Situation =>
    next({ ...at, state: draining(connecting) }, { type: 'drained', done, stop }, true)
  let at = START
  for (let crashes = 1; crashes < MAX_CRASHES; crashes++) {
    at = crash(at, 0)
    assert.equal(at.state, { name: 'retrying', trouble: null })
  }
  assert.is(crash(at, 1).state.name, 'retrying', 'a finished group in between')
  assert.equal(crash(at, 0).state, { name: 'failed', error: stop.error })
})

test('an incompatible version, and any failure of the node itself, stops it', () => {
  const version = after(connecting, { type: 'failed', error: new TransportError('other_version', 'protocol 3') })
  assert.ok(version.name === 'failed' && version.error instanceof NodeError)
  const error = new NodeError('unwritable', 'disk')
  assert.equal(after(connecting, { type: 'failed', error }), { name: 'failed', error })
})

test.run()
