import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { RunEvent } from '../../../coordinator/ledger/events.js'
import { RunReducer } from '../../../coordinator/ledger/run-reducer.js'
import { merkleRoot, parseVerdictLeaf, rootByPath } from '../../../proto/index.js'
import { agreed, audited, batched, batchRefused, done, published, trained } from '../../support/run-events.js'

const stateAfter = (...events: readonly RunEvent[]): RunReducer => {
  const state = new RunReducer()
  for (const event of [agreed(), published(0), ...events]) state.apply(event)
  return state
}

const accepted = (leaseId: string, version = 0) => done(leaseId, 'ann', version)

test('a verdict is for the step whose batch is formed next', () => {
  const state = stateAfter(...accepted('a'), ...accepted('b'), batched('batch-1', 1, ['a', 'b']), ...accepted('c'))
  const namesOf = (step: number) => state.verdictTrees.of(step).map((leaf) => parseVerdictLeaf(leaf)!.leaseId)
  assert.equal([namesOf(1), namesOf(2)], [['a', 'b'], ['c']])
  assert.equal(state.verdictTrees.head(), {
    step: 2,
    verdicts: 1,
    verdictsRoot: merkleRoot(state.verdictTrees.of(2)),
  })
  const { leaf, index, count, path, root } = state.verdictTrees.prove('b')!
  assert.is(rootByPath(leaf, index, count, path), root)
  assert.is(state.verdictTrees.prove('unknown'), null)
})

test('after a batch was refused, verdicts are for its step again, and none was removed', () => {
  const before = [...accepted('a'), ...accepted('b'), batched('batch-1', 1, ['a', 'b'])]
  const state = stateAfter(...before, ...accepted('c'), batchRefused('batch-1'), ...accepted('d'))
  assert.is(state.verdictTrees.step, 1)
  assert.equal([state.verdictTrees.of(1).length, state.verdictTrees.of(2).length], [3, 1])
})

test('a group that a later audit refuses keeps its first verdict and gets a second one', () => {
  const state = stateAfter(...accepted('a'), audited('a', 'ann', 'sampler_mismatch'))
  const verdicts = state.verdictTrees.of(1).map((leaf) => parseVerdictLeaf(leaf)!)
  assert.equal(
    verdicts.map(({ leaseId, code }) => [leaseId, code]),
    [
      ['a', null],
      ['a', 'sampler_mismatch'],
    ],
  )
  assert.is(parseVerdictLeaf(state.verdictTrees.proveAccepted('a')!.leaf)!.accepted, true)
  assert.is(parseVerdictLeaf(state.verdictTrees.prove('a')!.leaf)!.accepted, false)
})

test('a snapshot of the state has the same trees, and old ones are forgotten', () => {
  const steps = Array.from({ length: 12 }, (_, i) => i + 1).flatMap((step) => [
    ...accepted(`lease-${step}`, step - 1),
    batched(`batch-${step}`, step, [`lease-${step}`]),
    published(step),
    trained(`batch-${step}`, step),
  ])
  const state = stateAfter(...steps)
  const again = RunReducer.of(JSON.parse(JSON.stringify(state.snapshot)))
  assert.equal(again.verdictTrees.roots(), state.verdictTrees.roots())
  assert.equal(again.verdictTrees.head(), state.verdictTrees.head())
  assert.equal(
    state.verdictTrees.roots().map(({ step }) => step),
    [4, 5, 6, 7, 8, 9, 10, 11, 12],
  )
})

test.run()
