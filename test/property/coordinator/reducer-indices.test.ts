import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { RunEvent } from '../../../coordinator/ledger/events.js'
import type { RunReducer } from '../../../coordinator/ledger/run-reducer.js'
import type { KeyKind, LeaseRecord } from '../../../coordinator/ledger/run-state.js'
import { randomLogs } from '../../support/random-logs.js'
import { anyOrder, begun } from '../../support/run-events.js'

const RUNS = { numRuns: 300, seed: 20261122 }
const KINDS: readonly KeyKind[] = ['proven', 'untried', 'doubtful']

const BLOCKS = ['ip4/0', 'ip4/1', 'of ann', 'of dora']

function kindOf(state: RunReducer, node: string): KeyKind {
  if (state.reliable.has(node)) return 'proven'
  return state.nodes.get(node)?.lastLease === 'abandoned' ? 'doubtful' : 'untried'
}

/** Times between which leases lapse. */
const timesOf = (state: RunReducer): number[] => [
  ...[...state.openLeases.values()].map(({ deadlineMs }) => deadlineMs),
  Number.POSITIVE_INFINITY,
]

/** What the state keeps counts and indices of, found by walking through everything. */
function walked(state: RunReducer, log: readonly RunEvent[]) {
  const open = [...state.openLeases.values()]
  const renewed = new Set<string>()
  for (const event of log) {
    if (event.type === 'renewed') renewed.add(event.leaseId)
    if (event.type === 'leased') renewed.delete(event.leaseId)
  }
  const nodes = [...new Set(log.flatMap((event) => ('node' in event ? [event.node] : [])))]
  const byDeadline = open.toSorted((a, b) => a.deadlineMs - b.deadlineMs || (a.leaseId < b.leaseId ? -1 : 1))
  const lapsedBefore = (timeMs: number): string[] =>
    byDeadline.filter(({ deadlineMs }) => deadlineMs < timeMs).map(({ leaseId }) => leaseId)
  const ofKind = (kind: KeyKind) => open.filter(({ node }) => kindOf(state, node) === kind)
  const isFrom = ({ node, addressBlock }: LeaseRecord, block: string): boolean =>
    (addressBlock ?? `of ${node}`) === block
  return {
    openOf: nodes.map((node) => open.filter((lease) => lease.node === node)),
    openBy: KINDS.map((kind) => ofKind(kind).length),
    openFrom: KINDS.flatMap((kind) =>
      BLOCKS.map((block) => ofKind(kind).filter((lease) => isFrom(lease, block)).length),
    ),
    lapsed: timesOf(state).map(lapsedBefore),
    suppliers: nodes
      .filter((node) => state.reliable.has(node))
      .filter((node) => open.some(({ node: owner, leaseId }) => owner === node && !renewed.has(leaseId))),
    trainable: [0, 1, 8].map((staleness) => state.trainable(staleness).length),
    trainableOf: nodes.map((node) => state.trainable(1).filter((group) => group.node === node).length),
    nodes,
  }
}

test('counts and indices say what a walk through everything says, after every event of any run', () => {
  fc.assert(
    fc.property(randomLogs, fc.array(fc.nat({ max: 400 }), { minLength: 1, maxLength: 40 }), (events, orders) => {
      const log = events.flatMap((event, i): RunEvent[] => {
        const pick = orders[i % orders.length]!
        return pick % 4 === 0 ? [event, anyOrder(pick / 4, ['ann', 'ben'][pick % 2]!)] : [event]
      })
      const state = begun()
      for (const [place, event] of log.entries()) {
        state.apply(event)
        const { nodes, ...expected } = walked(state, log.slice(0, place + 1))
        const kept = {
          openOf: nodes.map((node) => [...state.openLeasesOf(node).values()]),
          openBy: KINDS.map((kind) => state.openLeasesBy(kind)),
          openFrom: KINDS.flatMap((kind) => BLOCKS.map((block) => state.openLeasesBy(kind, block))),
          lapsed: timesOf(state).map((timeMs) => state.lapsedBefore(timeMs).map(({ leaseId }) => leaseId)),
          suppliers: nodes.filter((node) => state.suppliers.has(node)),
          trainable: [0, 1, 8].map((staleness) => state.trainableCount(staleness)),
          trainableOf: nodes.map((node) => state.trainableCountOf(node, 1)),
        }
        assert.equal(kept, expected)
      }
    }),
    RUNS,
  )
})

test.run()
