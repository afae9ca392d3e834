import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { OpenLeases } from '../../../coordinator/ledger/open-leases.js'
import { leased } from '../../support/run-events.js'

const TERM = { expected: 1, untilMs: 1000 }

test('deadlines of ended leases are forgotten, also when the lapsed ones are never requested', () => {
  const open = new OpenLeases()
  for (const name of ['first', 'second']) open.open(leased(name, 'ben', 0, { deadlineMs: 5_000_000 }), TERM)
  for (let i = 0; i < 10_000; i++) {
    open.open(leased(`lease ${i}`, 'ann', 0, { deadlineMs: 1000 + i }), TERM)
    open.renew(`lease ${i}`, 2000 + i)
    open.renew('second', 5_000_001 + i)
    open.close(`lease ${i}`)
  }
  assert.ok(open.deadlines < 100, `${open.deadlines}`)
  const lapsedBefore = (timeMs: number): string[] => open.lapsedBefore(timeMs).map(({ leaseId }) => leaseId)
  assert.equal(lapsedBefore(5_000_000), [], 'a lease lapses after its deadline')
  assert.equal(lapsedBefore(5_000_001), ['first'])
  assert.equal(lapsedBefore(5_010_001), ['first', 'second'], 'the earliest first')
  open.close('first')
  assert.equal(lapsedBefore(5_010_001), ['second'])
})

test('a lease takes capacity for one duration, by the expected share of its key, and none afterwards', () => {
  const open = new OpenLeases()
  open.classify('ann', 'proven')
  open.open(leased('a', 'ann', 0), { expected: 0.5, untilMs: 1000 })
  open.open(leased('b', 'ben', 0), { expected: 0.25, untilMs: 2000 })
  assert.equal([open.taken('proven', 0), open.taken('untried', 0)], [0.5, 1])
  open.classify('ben', 'proven')
  assert.equal([open.taken('proven', 999), open.taken('untried', 999)], [0.75, 0])
  assert.is(open.taken('proven', 1000), 0.25)
  open.close('a')
  assert.is(open.taken('proven', 2000), 0)
  assert.is(open.count('proven'), 1, 'it is still open')
})

test.run()
