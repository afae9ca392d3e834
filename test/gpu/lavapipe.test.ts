// needs: lavapipe

import { join } from 'node:path'
import { execa } from 'execa'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checkout } from '../support/checkout.js'

/** Compiling llama.cpp's shaders for a CPU takes one core two minutes; a longer run has hung. */
const LIMIT_MS = 25 * 60_000

test('on Mesa’s driver for CPUs the engine’s path for GPUs computes the same as its CPU path', async () => {
  const main = join(checkout, 'dist', 'test', 'gpu-check', 'main.js')
  const { stdout, exitCode } = await execa(
    process.execPath,
    [main, '--software', '--threads', '1', '--minutes', '20'],
    { reject: false, timeout: LIMIT_MS },
  )
  assert.is(exitCode, 0, stdout)
  assert.match(stdout, /lavapipe-flash@/)
  assert.is(stdout.match(/│ ok /g)?.length, 2, stdout)
})

test.run()
