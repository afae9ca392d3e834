import { getEventListeners } from 'node:events'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { startTimeLimit } from '../../../swarm/time-limit.js'
import { createMovedClock } from '../../support/moved-clock.js'

test('a time limit fires at its time, or with the outer signal and its reason', () => {
  const clock = createMovedClock()
  const outer = new AbortController()
  const first = startTimeLimit(clock, 100, outer.signal)
  clock.advance(99)
  assert.not(first.signal.aborted)
  clock.advance(1)
  assert.is((first.signal.reason as Error).name, 'TimeoutError')
  const second = startTimeLimit(clock, 100, outer.signal)
  const why = new Error('closing')
  outer.abort(why)
  assert.is(second.signal.reason, why)
  assert.is(startTimeLimit(clock, 100, outer.signal).signal.reason, why)
})

test('an ended limit never fires, and leaves no listener', () => {
  const clock = createMovedClock()
  const outer = new AbortController()
  const limit = startTimeLimit(clock, 100, outer.signal)
  limit.end()
  clock.advance(1000)
  outer.abort()
  assert.not(limit.signal.aborted)
  assert.is(getEventListeners(outer.signal, 'abort').length, 0)
})

test.run()
