import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { OpenLeases } from '../../../coordinator/ledger/open-leases.js'
import { leased } from '../../support/run-events.js'

const TERM = { expected: 1, untilMs: 1000 }

test('deadlines of ended leases are forgotten, also when the first one is never requested', () => {
  const open = new OpenLeases()
  for (const name of ['first', 'second']) open.open(leased(name, 'ben', 0, { deadlineMs: 5_000_000 }), TERM)
  for (let i = 0; i < 10_000; i++) {
    open.open(leased(`lease ${i}`, 'ann', 0, { deadlineMs: 1000 + i }), TERM)
    open.renew(`lease ${i}`, 2000 + i)
    open.renew('second', 5_000_001 + i)
    open.close(`lease ${i}`)
  }
  assert.ok(open.deadlines < 100, `${open.deadlines}`)
  assert.is(open.first!.leaseId, 'first')
  open.close('first')
  assert.is(open.first!.deadlineMs, 5_010_000)
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
