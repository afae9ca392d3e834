import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { RunEvent } from '../../../coordinator/ledger/events.js'
import type { RunReducer } from '../../../coordinator/ledger/run-reducer.js'
import { LIMITS } from '../../../proto/index.js'
import { randomLogs } from '../../support/random-logs.js'
import {
  audited,
  batched,
  batchRefused,
  begun,
  bodyLost,
  done,
  type EventOf,
  judged,
  leased,
  published,
  released,
  reopened,
  trained,
} from '../../support/run-events.js'

const S = LIMITS.staleness.value

const NODES = ['ann', 'ben', 'cleo', 'dora']

/** How many entries of each kind a state holds, but for the one line that it keeps of each version. */
function sizes({ snapshot }: RunReducer): Record<string, number> {
  const { adapterSteps, trainedBatches, ...rest } = snapshot
  const lengths = Object.entries(rest).map(([section, entries]): [string, number] => [section, entries.length])
  const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0)
  return {
    ...Object.fromEntries(lengths),
    verdicts: sum(snapshot.nodes.map(({ verdicts }) => verdicts.length)),
    groupsBatchedOnTrust: sum(snapshot.batchedOnTrust.map(({ groups }) => groups.length)),
    groupsDoubted: sum(snapshot.doubted.map(({ leaseIds }) => leaseIds.length)),
  }
}

/** A run of so many versions, of which each has its share of everything that can happen. */
function runOf(versions: number): RunReducer {
  const state = begun()
  let round = 0
  const put = (...events: readonly RunEvent[]): void => {
    for (const event of events) state.apply(event)
  }
  const work = (name: string, node: string, version: number, said: Partial<EventOf<'judged'>> = {}): void =>
    put(leased(name, node, version, { round }), judged(name, node, version, said))
  put(published(0))
  for (let version = 1; version <= versions; version++) {
    const before = version - 1
    for (const node of NODES) {
      work(`${node} ${version}`, node, before, {
        completions: ['0123456789abcdef'],
        sketches: ['AAAA'],
        logprobs: [-1],
      })
      work(`flat ${node} ${version}`, node, before, { zeroVariance: true, completions: ['0'.repeat(16)] })
      work(`late ${node} ${version}`, node, before, { accepted: false, code: 'stale_policy', credit: 0 })
      put(leased(`left ${node} ${version}`, node, before, { round }), released(`left ${node} ${version}`))
    }
    const groups = NODES.map((node) => `${node} ${version}`)
    put(audited(groups[0]!, NODES[0]!, null))
    put(batched(`refused ${version}`, version, groups.slice(0, 1)), batchRefused(`refused ${version}`))
    put(batched(`dissolved ${version}`, version, groups.slice(1)), bodyLost(groups[1]!))
    put(batched(`batch ${version}`, version, groups.slice(2)))
    for (let i = 0; i < 40; i++) put(reopened(++round, before))
    put(published(version, { round: ++round, adapterStep: version % 5 === 0 ? version - 1 : version }))
    put(trained(`batch ${version}`, version))
  }
  return state
}

test('what a state holds does not grow with the age of its run', () => {
  const young = sizes(runOf(5 * S))
  assert.equal(sizes(runOf(50 * S)), young)
  assert.ok(young.groupsBatchedOnTrust! > 0)
  assert.is(young.leases, 4 * NODES.length * S)
  assert.is(young.verdicts, NODES.length * LIMITS.verdictsKept.value)
})

test('what a policy was made of is known for good', () => {
  const versions = 5 * S
  const behind = runOf(versions).batchesBehind(versions)
  assert.is(behind.length, versions - Math.floor((versions - 1) / 5))
  assert.equal(behind[0], { step: 1, batchId: 'batch 1', groups: 2, configuration: 0, recipe: null })
})

test('nothing is forgotten that may be worked on, trained on or revoked, nor its run configuration', () => {
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
          assert.ok(state.roundOf(state.leases.get(leaseId)!).configuration, leaseId)
        }
        for (const leaseId of [...groups, ...inTraining]) assert.ok(state.judged.has(leaseId), leaseId)
      }
    }),
    { numRuns: 150, seed: 20261123 },
  )
})

test('a group that is at stake outlives its version, and goes when its node has shown another', () => {
  const state = begun()
  const UNSEEN = { zeroVariance: true, rewards: [0, 0] }
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
  // The verdict is also in the Merkle tree of the step in progress.
  assert.equal(sizes(state), { ...before, verdicts: 1, verdictLeaves: 1 })
  assert.equal(
    state.nodes.get('ann')!.verdicts.map(({ code }) => code),
    ['stale_policy'],
  )
})

test.run()
