import { join } from 'node:path'
import { execa } from 'execa'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { lavapipeEnvironment } from '../gpu-check/lavapipe.js'
import { checkout } from '../support/checkout.js'

/** The program as a user starts it, but for the set-up. */

/** Compiling llama.cpp's shaders for a CPU takes one core two minutes; this ends what hangs. */
const LONGEST_MS = 25 * 60_000

const check = (env: Readonly<Record<string, string>> = {}) =>
  execa(
    process.execPath,
    [join(checkout, 'dist', 'test', 'gpu-check', 'main.js'), '--software', '--threads', '1', '--minutes', '20'],
    { env, reject: false, timeout: LONGEST_MS },
  )

test('where no device is found, that is said, and it is neither agreement nor difference', async () => {
  const { stdout, exitCode } = await check({ VK_DRIVER_FILES: '/nowhere/driver.json' })
  assert.is(exitCode, 3)
  assert.match(stdout, /^SKIPPED: engine: llama\.cpp finds no GPU/)
})

const isHere = lavapipeEnvironment() !== null
if (!isHere) console.log('SKIPPED: no lavapipe here, so the engine’s path for GPUs is not run (mesa-vulkan-drivers)')

;(isHere ? test : test.skip)(
  'on Mesa’s driver for CPUs the engine’s path for GPUs computes what its CPU path does',
  async () => {
    const { stdout, exitCode } = await check()
    assert.is(exitCode, 0, stdout)
    assert.match(stdout, /lavapipe-flash@/)
    assert.is(stdout.match(/│ ok /g)?.length, 2, stdout)
  },
)

test.run()
