import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ScenarioResult } from '../chaos/run-scenario.js'
import { checkout } from '../support/checkout.js'

/** Whole runs under every kind of misfortune; `npm run chaos` plays more of them (docs/contribute/chaos.md). */

const LONGEST_MS = 25 * 60_000

/** A process of its own, because the simulation replaces time, disk and randomness for all of it. */
async function chaos(...args: string[]): Promise<{ readonly status: number; readonly output: string }> {
  const main = join(checkout, 'dist', 'test', 'chaos', 'main.js')
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [main, ...args], {
      env: { ...process.env, UV_THREADPOOL_SIZE: '1' },
      timeout: LONGEST_MS,
      maxBuffer: 64 * 1024 * 1024,
    })
    return { status: 0, output: stdout }
  } catch (error) {
    const { code, stdout } = error as { code: unknown; stdout: string }
    if (typeof code !== 'number') throw error
    return { status: code, output: stdout }
  }
}

test('whatever befalls a run, it loses no accepted group, trains nothing twice and comes to its end', async () => {
  const { status, output } = await chaos('--seed', '1', '--json')
  const results = JSON.parse(output) as ScenarioResult[]
  assert.equal(
    results.filter(({ passed }) => !passed).map(({ scenario, seed, violations }) => ({ scenario, seed, violations })),
    [],
  )
  assert.is(status, 0)
  assert.ok(results.length > 20 && results.every(({ events }) => events > 20))
  const spared = results.filter(({ blows }) => Object.keys(blows).length === 0).map(({ scenario }) => scenario)
  assert.equal(spared, ['calm'], 'a scenario in which nothing happens proves nothing')
})

test('the same seed gives the same log, byte for byte, and another seed another', async () => {
  const scenarios = ['--scenario', 'everything', '--scenario', 'volunteer-at-disk', '--log']
  const [first, again, other] = [
    await chaos(...scenarios, '--seed', '7'),
    await chaos(...scenarios, '--seed', '7'),
    await chaos(...scenarios, '--seed', '8'),
  ]
  assert.is(first.status, 0)
  assert.ok(first.output.split('\n').length > 50)
  assert.is(first.output, again.output)
  assert.is.not(first.output, other.output)
})

test.run()
