import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { RunEvent } from '../../../coordinator/ledger/events.js'
import { RunReducer } from '../../../coordinator/ledger/run-reducer.js'
import { NO_LOGIT_ERRORS } from '../../support/audit-groups.js'
import {
  audited,
  batched,
  begun,
  bodyLost,
  done,
  type EventOf,
  judged,
  leased,
  ORDERED,
  published,
  batchRefused as refused,
  released,
  reopened,
  trained,
} from '../../support/run-events.js'

const RUNS = { numRuns: 300, seed: 20260302 }
const NODES = ['node-ada', 'node-bo', 'node-cleo']
/** What may happen next; the log writes it out as events that a coordinator could have written. */
type Move =
  | { readonly do: 'publish' | 'train' | 'refuse batch' }
  | { readonly do: 'lease'; readonly node: number }
  | { readonly do: 'release'; readonly pick: number }
  | { readonly do: 'lose'; readonly pick: number }
  | {
      readonly do: 'judge'
      readonly pick: number
      readonly accepted: boolean
      readonly zeroVariance: boolean
      readonly credit: number
    }
  | { readonly do: 'batch'; readonly maxStaleness: number; readonly count: number }

const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('publish' as const, 'train' as const, 'refuse batch' as const) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('lease' as const), node: fc.nat({ max: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('release' as const), pick: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose' as const), pick: fc.nat() }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('judge' as const),
      pick: fc.nat(),
      accepted: fc.boolean(),
      zeroVariance: fc.boolean(),
      credit: fc.nat({ max: 5 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('batch' as const),
      maxStaleness: fc.nat({ max: 3 }),
      count: fc.integer({ min: 1, max: 4 }),
    }),
  },
)

/** Writes a log move by move, keeping its own plain books. */
function writeLog(moves: readonly Move[]): RunEvent[] {
  const log: RunEvent[] = [published(0)]
  const open: EventOf<'leased'>[] = []
  const groups: EventOf<'judged'>[] = []
  const used = new Set<string>()
  const indices = new Map<string, number>()
  let [version, step, leases, batches] = [0, 0, 0, 0]
  let pending: string | undefined
  let inBatch: string[] = []
  for (const next of moves) {
    if (next.do === 'publish') log.push(published(++version))
    else if (next.do === 'lease') {
      const node = NODES[next.node]!
      const index = indices.get(`${node} ${version}`) ?? 0
      indices.set(`${node} ${version}`, index + 1)
      const lease = leased(`lease-${leases++}`, node, version, { index })
      open.push(lease)
      log.push(lease)
    } else if (next.do === 'release' || next.do === 'judge') {
      const [lease] = open.length > 0 ? open.splice(next.pick % open.length, 1) : []
      if (!lease) continue
      if (next.do === 'release') log.push(released(lease.leaseId))
      else {
        const { accepted, zeroVariance, credit } = next
        const group = judged(lease.leaseId, lease.node, lease.version, {
          accepted,
          code: accepted ? null : 'stale_policy',
          zeroVariance: accepted && zeroVariance,
          credit,
        })
        groups.push(group)
        log.push(group)
      }
    } else if (next.do === 'lose') {
      const lost = inBatch[next.pick % inBatch.length]
      if (pending === undefined || lost === undefined) continue
      log.push(bodyLost(lost))
      for (const leaseId of inBatch) if (leaseId !== lost) used.delete(leaseId)
      pending = undefined
    } else if (next.do === 'batch') {
      if (pending !== undefined) continue
      const oldest = version - next.maxStaleness
      const ready = groups.filter(
        (one) => one.accepted && !one.zeroVariance && one.version >= oldest && !used.has(one.leaseId),
      )
      if (ready.length === 0) continue
      pending = `batch-${batches++}`
      const leaseIds = ready.slice(0, next.count).map(({ leaseId }) => leaseId)
      for (const leaseId of leaseIds) used.add(leaseId)
      inBatch = leaseIds
      log.push(batched(pending, step + 1, leaseIds))
    } else if (pending !== undefined) {
      log.push(next.do === 'train' ? trained(pending, ++step) : refused(pending))
      pending = undefined
    }
  }
  return log
}

const logs = fc.array(move, { maxLength: 60 }).map(writeLog)

const reducer = (log: readonly RunEvent[], onto = begun()): RunReducer => {
  for (const event of log) onto.apply(event)
  return onto
}

/** Everything that anyone may ask of a state. */
const answers = (state: RunReducer) => ({
  publications: state.publications,
  current: state.current,
  leases: [...state.leases],
  openLeases: [...state.openLeases],
  judged: [...state.judged],
  nodes: [...state.nodes],
  accepted: [...state.accepted],
  suspects: [...state.suspects],
  rounds: state.rounds,
  batches: [...state.batches],
  trained: [...state.trained],
  refusedBatches: [...state.refusedBatches],
  dissolvedBatches: [...state.dissolvedBatches],
  lostBodies: [...state.lostBodies],
  pendingBatch: state.pendingBatch,
  trainable: [0, 1, 2, 8].map((maxStaleness) => state.trainable(maxStaleness)),
  nextIndices: NODES.map((node) => state.nextLeaseIndex(node)),
})

test('a log read back in two parts gives the state of the whole, however often one looks in between', () => {
  fc.assert(
    fc.property(logs, fc.nat(), (log, cut) => {
      const whole = answers(reducer(log))
      const stored = log.map((event) => JSON.parse(JSON.stringify(event)) as RunEvent)
      const state = reducer(stored.slice(0, cut % (log.length + 1)))
      assert.equal(answers(state), answers(state))
      assert.equal(answers(reducer(stored.slice(cut % (log.length + 1)), state)), whole)
    }),
    RUNS,
  )
})

test('the reducer does not change events', () => {
  fc.assert(
    fc.property(logs, (log) => {
      const before = JSON.stringify(log)
      answers(reducer(log))
      assert.is(JSON.stringify(log), before)
    }),
    { ...RUNS, numRuns: 50 },
  )
})

test('trainable groups are exactly the accepted ones with variance, in no batch and not stale, in log order', () => {
  fc.assert(
    fc.property(logs, fc.nat({ max: 3 }), (log, maxStaleness) => {
      const version = log.filter((event) => event.type === 'published').at(-1)!.version
      const inBatches = new Set(log.flatMap((event) => (event.type === 'batched' ? event.leaseIds : [])))
      const expected = log.filter(
        (event) =>
          event.type === 'judged' &&
          event.accepted &&
          !event.zeroVariance &&
          version - event.version <= maxStaleness &&
          !inBatches.has(event.leaseId),
      )
      assert.equal(reducer(log).trainable(maxStaleness), expected)
    }),
    RUNS,
  )
})

test('the groups of a refused batch do not come back', () => {
  const log = [published(0), ...done('l', NODES[0]!, 0), batched('b', 1, ['l'])]
  assert.is(reducer(log.slice(0, 3)).trainable(0).length, 1)
  assert.is(reducer(log).trainable(0).length, 0)
  assert.is(reducer([...log, refused('b')]).trainable(0).length, 0)
})

test('a group goes stale by one version at a time', () => {
  const log = [published(0), ...done('l', NODES[0]!, 0), published(1), published(2)]
  assert.is(reducer(log).trainable(1).length, 0)
  assert.is(reducer(log).trainable(2).length, 1)
})

test('what a rolled back adapter sampled is not trained on, whenever it arrives, and what came before and after is', () => {
  const log: RunEvent[] = [published(0), published(1), published(2)]
  const lend = (name: string, version: number, index: number) => log.push(leased(name, NODES[0]!, version, { index }))
  for (const version of [0, 1, 2]) lend(`early ${version}`, version, 0)
  for (const version of [1, 2]) lend(`late ${version}`, version, 1)
  for (const version of [0, 1, 2]) log.push(judged(`early ${version}`, NODES[0]!, version))
  // Step 3 finds the adapter of step 2 drifted and goes back to that of step 1.
  log.push(published(3, { adapterStep: 1 }), published(4))
  for (const version of [1, 2]) log.push(judged(`late ${version}`, NODES[0]!, version))
  const state = reducer(log)
  assert.equal(
    state.trainable(8).map(({ leaseId }) => leaseId),
    ['early 0', 'early 1', 'late 1'],
  )
  assert.is(state.nodes.get(NODES[0]!)!.credit, 5 * judged('x', NODES[0]!, 0).credit)
})

test('behind an adapter are the batches of its updates, and none that was rolled back, refused or taught nothing', () => {
  const log: RunEvent[] = [published(0)]
  const make = (step: number, adapterStep = step) =>
    log.push(batched(`batch-${step}`, step, []), published(step, { adapterStep }), trained(`batch-${step}`, step))
  make(1)
  log.push(batched('bad', 2, []), refused('bad'))
  make(2)
  make(3, 1)
  make(4)
  make(5, 4)
  const behind = (step: number): string[] =>
    reducer(log)
      .batchesBehind(step)
      .map(({ batchId }) => batchId)
  assert.equal([1, 2, 4].map(behind), [['batch-1'], ['batch-1', 'batch-2'], ['batch-1', 'batch-4']])
  // While version 6 is being made, its own batch counts already.
  log.push(batched('batch-6', 6, []))
  assert.equal(behind(6), ['batch-1', 'batch-4', 'batch-6'])
})

test('the pending batch is the one that is neither trained nor refused', () => {
  const log: RunEvent[] = [published(0)]
  assert.is(reducer(log).pendingBatch, undefined)
  log.push(batched('first', 1, ['l1']))
  assert.is(reducer(log).pendingBatch!.batchId, 'first')
  log.push(trained('first', 1))
  assert.is(reducer(log).pendingBatch, undefined)
  log.push(batched('second', 2, ['l2']))
  assert.is(reducer(log).pendingBatch!.batchId, 'second')
  log.push(refused('second'))
  assert.is(reducer(log).pendingBatch, undefined)
  log.push(batched('third', 2, ['l3']))
  assert.is(reducer(log).pendingBatch!.step, 2)
})

test('a lease is open until it is judged or released', () => {
  fc.assert(
    fc.property(logs, (log) => {
      const closed = new Set(
        log.flatMap((event) => (event.type === 'judged' || event.type === 'released' ? [event.leaseId] : [])),
      )
      const expected = log.flatMap((event) =>
        event.type === 'leased' && !closed.has(event.leaseId) ? [event.leaseId] : [],
      )
      assert.equal([...reducer(log).openLeases.keys()], expected)
    }),
    RUNS,
  )
})

test('a node’s credit is the sum over its verdicts, accepted or not', () => {
  fc.assert(
    fc.property(logs, (log) => {
      const { nodes } = reducer(log)
      for (const name of NODES) {
        const own = log.filter((event) => event.type === 'judged' && event.node === name) as EventOf<'judged'>[]
        const said = own.map(({ leaseId, bodySha256, accepted, code, detail, credit, atMs }) => ({
          ...{ leaseId, bodySha256, accepted, code, detail, credit, atMs },
        }))
        assert.equal(nodes.get(name)?.verdicts ?? [], said)
        assert.is(
          nodes.get(name)?.credit ?? 0,
          own.reduce((sum, { credit }) => sum + credit, 0),
        )
      }
    }),
    RUNS,
  )
})

test('lease indices count up per node and round, so that no two leases of a round have one seed', () => {
  fc.assert(
    fc.property(logs, (log) => {
      const state = begun()
      for (const event of log) {
        if (event.type === 'leased') assert.is(state.nextLeaseIndex(event.node), event.index)
        state.apply(event)
      }
      assert.is(state.nextLeaseIndex('node-unknown'), 0)
    }),
    RUNS,
  )
})

test('before anything happened there is no policy, no batch and nothing to train on', () => {
  const state = begun()
  assert.is(state.current, undefined)
  assert.is(state.pendingBatch, undefined)
  assert.equal(state.trainable(8), [])
})

const [ANN, BO] = NODES as [string, string]

test('a node that is caught has its unaudited groups put aside until each passes an audit; others keep theirs', () => {
  const state = reducer([
    published(0),
    ...done('passed', ANN, 0, { audit: 'passed' }),
    ...done('trusted', ANN, 0),
    ...done('batched', ANN, 0),
    ...done('flat', ANN, 0, { zeroVariance: true, completions: ['0'.repeat(16)] }),
    ...done('other', BO, 0),
    batched('b', 1, ['batched']),
    ...done('late', ANN, 0, { accepted: false, code: 'stale_policy' }),
  ])
  assert.equal([...state.suspects.keys()], [], 'being late is no lie')
  reducer(done('lie', ANN, 0, { accepted: false, code: 'sampler_mismatch', audit: 'failed' }), state)
  assert.equal([...state.suspects.keys()], ['trusted'])
  const usable = (): string[] => state.trainable(0).map(({ leaseId }) => leaseId)
  assert.equal(usable(), ['passed', 'other'])
  state.apply(audited('trusted', ANN, null))
  assert.equal(usable(), ['passed', 'trusted', 'other'])
  assert.equal([...state.suspects.keys()], [])
})

test('groups of a key whose choices add up wait, are audited, and can be trained on again when honest ones have spoken for it', () => {
  const tied = (leaseId: string, nats: number): RunEvent[] =>
    done(leaseId, ANN, 0, { audit: 'passed', logitErrors: { ...NO_LOGIT_ERRORS, odds: [nats, 0, 0, 0] } })
  const state = reducer([
    published(0),
    ...done('trusted', ANN, 0),
    ...done('flat', ANN, 0, { zeroVariance: true, completions: ['0'.repeat(16)] }),
    ...done('other', BO, 0),
    ...tied('tied', 8),
    ...done('later', ANN, 0),
  ])
  const trainable = (): string[] => state.trainable(0).map(({ leaseId }) => leaseId)
  assert.equal(trainable(), ['other'])
  assert.equal([...state.suspects.keys()], ['trusted'], 'what was taken on trust beside it is believed')
  assert.equal(
    state.heldBack.map(({ leaseId }) => leaseId),
    ['trusted', 'tied', 'later'],
  )
  reducer(tied('honest', -3), state)
  assert.equal(trainable(), ['other'], 'half of it is taken back')
  const ban: RunEvent = { type: 'banned', ...ORDERED, node: ANN }
  assert.equal(
    RunReducer.of(state.snapshot)
      .trainable(0)
      .map(({ leaseId }) => leaseId),
    ['other'],
    'a checkpoint knows who waits',
  )
  const banned = RunReducer.of(state.snapshot)
  reducer([ban, ...tied('last', -5)], banned)
  assert.is(banned.trainableCount(0), 1, 'what honest work gives back a ban still keeps')
  reducer(tied('last', -5), state)
  assert.equal(trainable(), ['other', 'tied', 'honest', 'last'])
  assert.equal([...state.suspects.keys()], ['trusted', 'later'], 'what was begun is ended')
  reducer([audited('trusted', ANN, null), audited('later', ANN, null)], state)
  assert.equal(trainable(), ['trusted', 'other', 'tied', 'later', 'honest', 'last'])
  const { reputation } = state.nodes.get(ANN)!
  assert.equal([reputation.doubt, reputation.isQuarantined(0), reputation.isHeldBack], [0, false, false])
})

test('of a key whose choices have proved that it steers nothing that waits is trained on, however its groups were audited', () => {
  const tied = (leaseId: string, nats: number): RunEvent[] =>
    done(leaseId, ANN, 0, { audit: 'passed', logitErrors: { ...NO_LOGIT_ERRORS, odds: [nats, 0, 0, 0] } })
  const state = reducer([
    published(0),
    ...done('trusted', ANN, 0),
    ...done('flat', ANN, 0, { zeroVariance: true, completions: ['0'.repeat(16)] }),
    ...tied('one', 9),
    ...done('other', BO, 0),
    ...tied('two', 9),
  ])
  const { reputation } = state.nodes.get(ANN)!
  assert.equal([reputation.isQuarantined(0), reputation.isHeldBack], [true, false])
  assert.equal(
    state.trainable(0).map(({ leaseId }) => leaseId),
    ['other'],
  )
  assert.equal([state.heldBack, [...state.suspects.keys()]], [[], []])
  assert.not(state.isOpenToAudit('trusted'))
  state.apply({ type: 'unbanned', ...ORDERED, node: ANN })
  assert.is(state.trainableCount(0), 1)
})

test('batches with unaudited groups of a key that is caught are named once: since its last passed audit, and all when it is kept from work', () => {
  const refusedGroup = (leaseId: string, code: EventOf<'judged'>['code'], atMs: number): RunEvent[] =>
    done(leaseId, ANN, 0, { accepted: false, code, audit: 'failed', atMs })
  const named = (): [string, readonly string[]][] => state.doubtedBatches.map((one) => [one.batchId, one.leaseIds])
  const state = reducer([
    published(0),
    ...done('long ago', ANN, 0),
    ...done('looked at', ANN, 0, { audit: 'passed' }),
    ...done('other', BO, 0),
    batched('old', 1, ['long ago', 'other']),
    ...done('vouched', ANN, 0, { audit: 'passed' }),
    ...done('a', ANN, 0),
    ...done('b', ANN, 0),
    ...done('c', ANN, 0),
    batched('new', 2, ['looked at', 'a', 'b']),
  ])
  assert.equal(named(), [])
  reducer(refusedGroup('doubtful', 'sampler_mismatch', 1), state)
  assert.equal(named(), [['new', ['a', 'b']]])
  const [doubted] = state.doubtedBatches
  state.apply({ type: 'batch-doubted', atMs: 2, ...doubted! })
  assert.equal(named(), [])
  reducer(refusedGroup('lie', 'reward_mismatch', 3), state)
  assert.equal(named(), [['old', ['long ago']]], 'what is on record is not named again')
})

test('leases that a key abandons are counted for its life', () => {
  const state = reducer([published(0), leased('a', ANN, 0), released('a'), leased('a', ANN, 0), released('a')])
  reducer([leased('a', ANN, 0), judged('a', ANN, 0)], state)
  assert.is(state.nodes.get(ANN)!.abandoned, 2)
})

test('a group that fails a later audit is revoked with its credit, and its node gets the verdict', () => {
  const state = reducer([
    published(0),
    ...done('a', ANN, 0, { credit: 5 }),
    ...done('b', ANN, 0, { credit: 7 }),
    audited('a', ANN, 'duplicate', 9),
  ])
  const { credit, verdicts, reputation } = state.nodes.get(ANN)!
  assert.is(credit, 7)
  assert.equal(
    verdicts.map(({ leaseId, accepted, code }) => [leaseId, accepted, code]),
    [
      ['a', true, null],
      ['b', true, null],
      ['a', false, 'duplicate'],
    ],
  )
  assert.ok(reputation.isQuarantined(10))
  assert.equal([...state.suspects.keys()], ['b'])
  assert.equal(state.trainable(0), [])
  assert.not(state.isOpenToAudit('a'))
})

test('a lease that its node left lying is the next it gets, until another version is out', () => {
  const state = reducer([
    published(0),
    leased('a', ANN, 0),
    leased('b', ANN, 0, { index: 1 }),
    released('a'),
    released('b'),
  ])
  assert.is(state.owedLease(ANN)?.leaseId, 'a')
  assert.is(state.owedLease(BO), undefined)
  state.apply(leased('a', ANN, 0))
  assert.is(state.owedLease(ANN)?.leaseId, 'b')
  assert.is(state.nextLeaseIndex(ANN), 2)
  state.apply(reopened(1, 0))
  assert.is(state.owedLease(ANN)?.leaseId, 'b', 'a further round is no way out')
  state.apply(published(1, { round: 2 }))
  assert.is(state.owedLease(ANN), undefined)
})

test('an abandoned lease stays a debt of its key and its block until its version is too old to be trained on', () => {
  const addressBlock = 'ip4/1'
  const state = reducer([published(0), leased('a', ANN, 0, { addressBlock }), released('a')])
  const debts = (): number[] => [state.debtOf(ANN), state.debtOf(BO), state.owedFrom(addressBlock)]
  assert.equal(debts(), [0, 0, 1], 'it can still be taken again')
  const { maxStaleness } = state.configuration!
  for (let version = 1; version <= maxStaleness; version++) {
    state.apply(published(version, { round: version }))
    assert.equal(debts(), [1, 0, 1])
  }
  state.apply(published(maxStaleness + 1, { round: maxStaleness + 1 }))
  assert.equal(debts(), [0, 0, 0])
})

test('a lease is lost once, however often it is taken again, until it is delivered', () => {
  const again = [leased('a', ANN, 0), released('a')]
  const state = reducer([published(0), ...again, ...again, ...again])
  assert.equal(state.nodes.get(ANN)!.record, { delivered: 0, lost: 1 })
  for (const event of [leased('a', ANN, 0), judged('a', ANN, 0)]) state.apply(event)
  assert.equal(state.nodes.get(ANN)!.record, { delivered: 1, lost: 0 })
})

test('a group that was delivered after the release of its lease gets a verdict, and is not owed any more', () => {
  const state = reducer([published(0), leased('a', ANN, 0), released('a'), judged('a', ANN, 0)])
  assert.is(state.owedLease(ANN), undefined)
})

test('a key gets leases in rounds that were opened after it was known', () => {
  const state = reducer([published(0), { type: 'registered', atMs: 0, node: ANN, round: 0 }])
  assert.not(state.isAdmitted(ANN))
  assert.is(state.keysWaiting, 1)
  state.apply(reopened(1, 0))
  assert.ok(state.isAdmitted(ANN))
  assert.not(state.isAdmitted(BO))
  assert.is(state.keysWaiting, 0)
  assert.is(state.round!.policyId, state.current!.policyId)
})

test('who holds leases is waited for only while it is known to deliver', () => {
  const state = reducer([published(0), leased('a', ANN, 0), leased('b', BO, 0), judged('a', ANN, 0)])
  const atWork = (): string[] => [...state.suppliers.keys()]
  assert.equal(atWork(), [], 'a new key has shown nothing yet')
  state.apply(leased('c', ANN, 0, { index: 1 }))
  assert.equal(atWork(), [ANN])
  reducer([released('c'), leased('c', ANN, 0, { index: 1 })], state)
  assert.equal(atWork(), [])
  assert.is(state.nodes.get(ANN)!.lastLease, 'abandoned')
  state.apply(judged('c', ANN, 0))
  assert.ok(state.reliable.has(ANN))
  reducer(done('d', ANN, 0, { accepted: false, code: 'sampler_mismatch' }), state)
  assert.not.ok(state.reliable.has(ANN))
})

test('an unverified group is believed until its node is caught, and then neither earns credit nor affects the curriculum', () => {
  const UNSEEN = { zeroVariance: true, rewards: [0, 0], completions: [], credit: 7 }
  const state = reducer([
    published(0),
    ...done('before', ANN, 0, UNSEEN, 1),
    ...done('seen', ANN, 0, { ...UNSEEN, completions: ['0'.repeat(16)], audit: 'passed' }, 2),
    ...done('after', ANN, 0, UNSEEN, 3),
    ...done('other', 'ben', 0, UNSEEN, 4),
    ...done('lie', ANN, 0, { accepted: false, code: 'sampler_mismatch', credit: 0, audit: 'failed' }, 5),
  ])
  assert.equal([...state.suspects.keys()], ['after'])
  reducer(done('too late', ANN, 0, { ...UNSEEN, credit: 0, completions: ['1'.repeat(16)] }, 6), state)
  assert.ok(state.isOpenToAudit('after'), 'a word that is kept now does not make good for one that was not')
  const rests = () => [1, 2, 3, 4].filter((task) => state.curriculum.skips(task, 1))
  assert.equal(rests(), [1, 2, 3, 4])
  state.apply(audited('after', ANN, 'unconfirmed'))
  assert.equal([...state.suspects.keys()], [])
  assert.not(state.isOpenToAudit('after'))
  assert.is(state.nodes.get(ANN)!.credit, 14)
  assert.equal(rests(), [1, 2, 4])
  state.apply(published(20))
  assert.is(state.nodes.get(ANN)!.credit, 14)
})

test('groups that were not seen make no key trustworthy', () => {
  const unseen = Array.from({ length: 40 }, (_, i) =>
    done(`u${i}`, ANN, 0, { zeroVariance: true, rewards: [0, 0], completions: [] }),
  )
  assert.is(reducer([published(0), ...unseen.flat()]).nodes.get(ANN)!.reputation.streak, 0)
})

test('batches do not wait for a group whose lease was renewed', () => {
  const state = reducer([published(0), ...done('a', ANN, 0), leased('b', ANN, 0)])
  assert.equal([...state.suppliers.keys()], [ANN])
  state.apply({ type: 'renewed', atMs: 1, leaseId: 'b', deadlineMs: 2000 })
  assert.equal([...state.suppliers.keys()], [])
  assert.is(state.openLeases.get('b')!.deadlineMs, 2000)
  reducer([released('b'), leased('b', ANN, 0), ...done('c', ANN, 0)], state)
  assert.equal([...state.suppliers.keys()], [ANN], 'its next lease is a new one')
})

test('a lost body costs its own group: the others of a pending batch can be trained on again, in their order', () => {
  const groups = ['a', 'b', 'c', 'd'].flatMap((leaseId) => done(leaseId, ANN, 0, { credit: 3 }))
  const state = reducer([published(0), ...groups, batched('one', 1, ['a', 'b', 'c']), bodyLost('b')])
  const ready = () => state.trainable(0).map(({ leaseId }) => leaseId)
  assert.equal(ready(), ['a', 'c', 'd'])
  assert.is(state.pendingBatch, undefined)
  assert.is(state.nodes.get(ANN)!.credit, 12, 'what it did is still paid')
  assert.ok(state.accepted.has('b'))
  assert.not(state.isOpenToAudit('b'))
  // One that was not in a batch, while another batch is under way.
  reducer([batched('two', 1, ['a', 'c']), bodyLost('d')], state)
  assert.is(state.pendingBatch?.batchId, 'two')
  reducer([published(1, { step: 1, adapterStep: 1 }), trained('two', 1)], state)
  assert.equal(
    state.batchesBehind(1).map(({ batchId }) => batchId),
    ['two'],
  )
})

test('groups that come back from a dissolved batch are under suspicion if their node was caught meanwhile', () => {
  const lie = done('lie', ANN, 0, { accepted: false, code: 'sampler_mismatch', credit: 0, audit: 'failed' })
  const state = reducer([
    published(0),
    ...done('old', ANN, 0),
    ...done('seen', ANN, 0, { audit: 'passed' }),
    ...done('other', 'ben', 0),
    ...done('gone', 'ben', 0),
    batched('one', 1, ['old', 'seen', 'other', 'gone']),
    ...lie,
    bodyLost('gone'),
  ])
  assert.equal([...state.suspects.keys()], ['old'])
  assert.equal(
    state.trainable(0).map(({ leaseId }) => leaseId),
    ['seen', 'other'],
  )
})

test.run()
