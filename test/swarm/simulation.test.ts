import '../../swarm/polyfill.js'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { seededRandom } from '../../servers/kernel/index.js'
import { createVirtualTime } from '../chaos/virtual-time.js'
import { createAdapterFlow } from '../simulation/adapter-flow.js'
import type { Report } from '../simulation/report.js'
import { checkout } from '../support/checkout.js'

/** The simulation of docs/explain/scale.md, small. */

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
  const { cpuMeasured, cpuOfReplays, cpuWithReplay, ...counted } = coordinator
  const { realS, memoryMiB, ...figures } = rest
  assert.ok(cpuOfReplays > 0 && cpuMeasured > cpuOfReplays && cpuWithReplay > 0)
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
  assert.ok(first.gossipPerNode.bytesPerS > 0 && first.gossipPerNode.bytesPerS < 10_000)
  assert.ok(first.gossipPerNode.messagesPerS < 30)
  assert.ok(first.fetchShare >= 0 && first.fetchShare < 1)
  const { shareFromCoordinator } = first.propagation
  assert.ok(shareFromCoordinator !== null && shareFromCoordinator < 0.8)
  assert.equal(figuresOf(await simulate(1)), figuresOf(first))
})

test('an adapter comes to everybody over the lines of all, and few of its bytes from the coordinator', async () => {
  const random = seededRandom(7)
  const time = createVirtualTime(() => new Promise((resolve) => setImmediate(resolve)))
  const startMs = time.nowMs
  const flow = createAdapterFlow({ time, random, blobBytes: 100e6, differenceBytes: 27e6, coordinatorBytesPerS: 125e6 })
  const names = Array.from({ length: 150 }, (_, i) => `node ${i}`)
  const neighbours = new Map(names.map((name) => [name, new Set<string>()]))
  for (const [name, theirs] of neighbours)
    while (theirs.size < 8) {
      const other = random.pick(names)
      if (other === name) continue
      theirs.add(other)
      neighbours.get(other)!.add(name)
    }
  let there = 0
  for (const [id, theirs] of neighbours) {
    flow.join({ id, upBytesPerS: 2.5e6, downBytesPerS: 12.5e6, neighbours: () => [...theirs] })
    const fetch = async (): Promise<void> => {
      await flow.fetch(id, 1, new AbortController().signal)
      there += 1
    }
    time.after(random.int(0, 2000), () => void fetch())
  }
  await time.drive(() => there === names.length, 300_000)
  assert.ok(time.nowMs - startMs > 40_000, 'no line sends 100 MB sooner')
  const { fromCoordinator, fromPeers } = flow.counts
  const given = Object.values(fromCoordinator).reduce((sum, bytes) => sum + bytes, 0)
  assert.ok(given > 0 && given / (given + fromPeers) < 0.02, JSON.stringify(flow.counts))
})

test.run()
