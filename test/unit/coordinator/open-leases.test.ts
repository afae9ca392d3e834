import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { OpenLeases } from '../../../coordinator/ledger/open-leases.js'
import { leased } from '../../support/run-events.js'

test('deadlines of ended leases are forgotten, also when the first one is never requested', () => {
  const open = new OpenLeases()
  for (const name of ['first', 'second']) open.open(leased(name, 'ben', 0, { deadlineMs: 5_000_000 }))
  for (let i = 0; i < 10_000; i++) {
    open.open(leased(`lease ${i}`, 'ann', 0, { deadlineMs: 1000 + i }))
    open.renew(`lease ${i}`, 2000 + i)
    open.renew('second', 5_000_001 + i)
    open.close(`lease ${i}`)
  }
  assert.ok(open.deadlines < 100, `${open.deadlines}`)
  assert.is(open.first!.leaseId, 'first')
  open.close('first')
  assert.is(open.first!.deadlineMs, 5_010_000)
})

test.run()
