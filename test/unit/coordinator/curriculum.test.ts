import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { hasOutdatedTasks, tasksToSkip } from '../../../coordinator/leases/withheld-tasks.js'
import { Curriculum } from '../../../coordinator/ledger/curriculum.js'
import type { RunReducer } from '../../../coordinator/ledger/run-reducer.js'
import { decodeTaskSet, encodeTaskSet } from '../../../proto/index.js'
import type { Task } from '../../../rollout/episode/index.js'
import { begun, done, published, reopened } from '../../support/run-events.js'

test('a task with zero-variance groups is skipped, twice as long each time, until a group of it has variance', () => {
  const curriculum = new Curriculum()
  const restsFor = (version: number): number => {
    let versions = 0
    while (curriculum.skips(3, version + versions + 1)) versions += 1
    return versions
  }
  assert.not(curriculum.skips(3, 0))
  const lengths = [10, 20, 30, 40, 50].map((version) => {
    curriculum.note(3, version, true)
    return restsFor(version)
  })
  assert.equal(lengths, [1, 2, 4, 8, 8])
  assert.not(curriculum.skips(4, 51), 'another task')
  curriculum.note(3, 50, false)
  assert.not(curriculum.skips(3, 51))
  curriculum.note(3, 60, true)
  assert.is(restsFor(60), 1)
})

test('a set of tasks survives its encoding', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat({ max: 300 })), fc.nat({ max: 40 }), (set, more) => {
      const holds = decodeTaskSet(encodeTaskSet(301 + more, (i) => set.includes(i)))
      for (let i = 0; i < 400; i++) assert.is(holds(i), set.includes(i), String(i))
    }),
    { seed: 5, numRuns: 100 },
  )
  assert.is(
    encodeTaskSet(100, () => false),
    '',
  )
})

const task = (environmentName: string): Task =>
  ({ environments: [{ environment: environmentName, seed: 1 }] }) as unknown as Task
const TASKS = ['banking', 'email', 'banking', 'maps', 'maps', 'maps', 'maps', 'maps'].map(task)
const stateOf = (...events: Parameters<RunReducer['apply']>[0][]): RunReducer => {
  const state = begun()
  for (const event of events) state.apply(event)
  return state
}
const atRest = (state: RunReducer, version: number): number[] => {
  const rests = decodeTaskSet(tasksToSkip(state, TASKS, version))
  return TASKS.flatMap((_, i) => (rests(i) ? [i] : []))
}
const ZERO_VARIANCE = { zeroVariance: true, rewards: [0, 0] }

test('zero-variance groups of a version make the next version skip their tasks', () => {
  const state = stateOf(published(0), ...done('a', 'ann', 0, ZERO_VARIANCE, 1), ...done('b', 'ann', 0, {}, 2))
  assert.equal(atRest(state, 1), [1])
  assert.equal(atRest(state, 2), [])
})

test('tasks of a quarantined environment are skipped for good, and a round that still gives them has to be replaced', () => {
  const out = { type: 'environment-quarantined', atMs: 0, environment: 'banking', leaseId: 'a' } as const
  const state = stateOf(published(0))
  assert.not(hasOutdatedTasks(state, TASKS))
  state.apply(out)
  assert.ok(hasOutdatedTasks(state, TASKS))
  assert.equal(atRest(state, 50), [0, 2])
  state.apply({ ...reopened(1, 0), skippedTasks: tasksToSkip(state, TASKS, 0) })
  assert.not(hasOutdatedTasks(state, TASKS))
})

test('when the curriculum would skip nearly all tasks, it is ignored', () => {
  const state = stateOf(published(0), ...TASKS.flatMap((_, i) => done(`l${i}`, 'ann', 0, ZERO_VARIANCE, i)))
  assert.equal(atRest(state, 1), [])
})

test.run()
