import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { RunFold } from '../../../coordinator/ledger/run-fold.js'
import { MOST_COMPARED } from '../../../coordinator/ledger/task-completions.js'
import { LIMITS } from '../../../proto/index.js'
import { randomLogs } from '../../support/random-logs.js'
import { batched, begun, done, leased, published, released, reopened, trained } from '../../support/run-events.js'

const S = LIMITS.staleness.value

const sizes = (state: RunFold) => ({
  leases: state.leases.size,
  judged: state.judged.size,
  accepted: state.accepted.size,
  batches: state.batches.size,
  trained: state.trained.size,
  rounds: state.rounds.length,
  compared: state.acceptedOfTask(0).length,
})

test('what a state holds does not grow with the age of its run', () => {
  const state = begun()
  state.apply(published(0))
  let round = 0
  const oneVersion = (version: number): void => {
    const names = [0, 1, 2].map((i) => `group ${version}-${i}`)
    for (const name of names)
      for (const event of done(name, `node ${name}`, version - 1, { completions: ['0123456789abcdef'] }))
        state.apply(event)
    for (const event of [leased(`left ${version}`, 'ann', version - 1), released(`left ${version}`)]) state.apply(event)
    state.apply(batched(`batch ${version}`, version, names))
    for (let i = 0; i < 40; i++) state.apply(reopened(++round, version - 1))
    state.apply(published(version, { round: ++round }))
    state.apply(trained(`batch ${version}`, version))
  }
  for (let version = 1; version <= 3 * S; version++) oneVersion(version)
  const before = sizes(state)
  for (let version = 3 * S + 1; version <= 20 * S; version++) oneVersion(version)
  assert.equal(sizes(state), before)
  assert.equal(before, {
    ...{ leases: 4 * S, judged: 3 * S, accepted: 3 * S, batches: S + 1, trained: S + 1 },
    ...{ rounds: LIMITS.closedRounds.value, compared: MOST_COMPARED },
  })
  assert.is(state.batchesBehind(20 * S).length, 20 * S, 'what a policy was made of is known for good')
})

test('nothing is forgotten that may be worked on, trained on, or taken back, and of none of it the terms', () => {
  fc.assert(
    fc.property(randomLogs, (log) => {
      const state = begun()
      for (const event of log) {
        state.apply(event)
        const groups = [...state.trainable(S), ...state.suspects.values()].map(({ leaseId }) => leaseId)
        const inTraining = state.pendingBatch?.leaseIds ?? []
        const version = state.current!.version
        const recent = log
          .slice(0, log.indexOf(event) + 1)
          .flatMap((other) => (other.type === 'leased' && version - other.version <= S ? [other.leaseId] : []))
        for (const leaseId of [...groups, ...inTraining, ...state.openLeases.keys(), ...recent]) {
          assert.ok(state.leases.has(leaseId), leaseId)
          assert.ok(state.roundOf(state.leases.get(leaseId)!).terms, leaseId)
        }
        for (const leaseId of [...groups, ...inTraining]) assert.ok(state.judged.has(leaseId), leaseId)
      }
    }),
    { numRuns: 150, seed: 20261123 },
  )
})

test('a group that is at stake outlives its version, and goes when its node has shown another', () => {
  const state = begun()
  const UNSEEN = { flat: true, rewards: [0, 0] }
  for (const event of [published(0), ...done('on trust', 'ann', 0, UNSEEN), ...done('other', 'ben', 0)])
    state.apply(event)
  for (let version = 1; version <= 2 * S; version++) state.apply(published(version))
  assert.equal([...state.leases.keys()], ['on trust'])
  assert.is(state.roundOf(state.leases.get('on trust')!).round, 0)
  for (const event of done('seen', 'ann', 2 * S, { ...UNSEEN, completions: ['0'.repeat(16)] })) state.apply(event)
  state.apply(published(2 * S + 1))
  assert.equal([...state.leases.keys()], ['seen'])
})

test('a late verdict on a group whose lease is forgotten changes the books of its node and nothing else', () => {
  const state = begun()
  for (const event of [published(0), leased('slow', 'ann', 0), released('slow')]) state.apply(event)
  for (let version = 1; version <= S + 1; version++) state.apply(published(version))
  const before = sizes(state)
  const [, verdict] = done('slow', 'ann', 0, { accepted: false, code: 'stale_policy', credit: 0 })
  state.apply(verdict!)
  assert.equal(sizes(state), before)
  assert.equal(
    state.nodes.get('ann')!.verdicts.map(({ code }) => code),
    ['stale_policy'],
  )
})

test.run()
