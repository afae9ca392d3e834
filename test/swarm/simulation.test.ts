import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Report } from '../simulation/report.js'
import { checkout } from '../support/checkout.js'

/** The simulation of docs/scale.md, small. */

const LONGEST_MS = 10 * 60_000
const NODES = 30

/** A process of its own, because the simulation replaces time, disk and randomness for all of it. */
async function simulate(seed: number): Promise<Report> {
  const main = join(checkout, 'dist', 'test', 'simulation', 'main.js')
  const args = ['--nodes', `${NODES}`, '--minutes', '9', '--seed', `${seed}`, '--json']
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...args], {
    env: { ...process.env, UV_THREADPOOL_SIZE: '1' },
    timeout: LONGEST_MS,
  })
  return JSON.parse(stdout) as Report
}

/** Without what the machine decides. */
const figuresOf = ({ coordinator, ...rest }: Report & { realS?: number; memoryMiB?: number }) => {
  const { cpuMeasured, cpuWithReplay, ...counted } = coordinator
  const { realS, memoryMiB, ...figures } = rest
  assert.ok(cpuMeasured > 0 && cpuWithReplay > cpuMeasured)
  assert.ok(realS !== undefined && memoryMiB !== undefined)
  return { ...figures, coordinator: counted }
}

test('a simulated run works, and its figures follow from its seed', async () => {
  const first = await simulate(1)
  assert.equal(first.invariants, [])
  assert.is(first.error, null)
  assert.ok(first.versions >= 1)
  assert.ok(first.groups.trained > NODES / 4)
  assert.ok(first.time.work > 0.5)
  assert.ok(first.poisoned.delivered > 0)
  assert.ok(first.node.gossipBytesPerS < 100_000)
  const { shareFromCoordinator } = first.propagation
  assert.ok(shareFromCoordinator !== null && shareFromCoordinator < 0.8)
  assert.equal(figuresOf(await simulate(1)), figuresOf(first))
})

test.run()
