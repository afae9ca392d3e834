import { join } from 'node:path'
import { execa } from 'execa'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checkout } from '../support/checkout.js'
import { PATIENCE_MS } from '../support/patience.js'

test('without a GPU, gpu-check reports that it has skipped the comparison, which is neither success nor failure', async () => {
  const main = join(checkout, 'dist', 'test', 'gpu-check', 'main.js')
  const { stdout, exitCode } = await execa(
    process.execPath,
    [main, '--software', '--threads', '1', '--minutes', '20'],
    {
      env: { VK_DRIVER_FILES: '/nowhere/driver.json' },
      reject: false,
      timeout: PATIENCE_MS,
    },
  )
  assert.is(exitCode, 3)
  assert.match(stdout, /^SKIPPED: engine: llama\.cpp finds no GPU/)
})

test.run()
