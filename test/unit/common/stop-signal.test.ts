import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { stopSignal } from '../../../common/cli/index.js'

test('the first signal aborts with the given reason, and no listener is left after it or after a release', () => {
  const before = process.listenerCount('SIGTERM')
  const reason = new Error('interrupted')
  const { signal } = stopSignal(reason)
  assert.is(process.listenerCount('SIGTERM'), before + 1)
  process.emit('SIGTERM')
  assert.is(signal.reason, reason)
  assert.is(process.listenerCount('SIGTERM'), before, 'a second signal ends the process')
  const other = stopSignal(reason)
  other.release()
  assert.is(process.listenerCount('SIGINT'), before)
  assert.not(other.signal.aborted)
})

test.run()
