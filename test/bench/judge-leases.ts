import { randomBytes } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createLeaseService } from '../../coordinator/leases/lease-service.js'
import type { RunEvent } from '../../coordinator/ledger/events.js'
import { openRecorder } from '../../coordinator/ledger/recorder.js'
import type { Task } from '../../rollout/episode/index.js'
import { createMetrics, systemClock } from '../../swarm/index.js'
import { WITHOUT_HEADS } from '../support/memory-log.js'
import { agreed } from '../support/run-events.js'
import type { BenchResult } from './result.js'

const LEASES = 4000
const PER_NODE = 8

/** Measures the memory of the coordinator's state and lease service per 1,000 open leases, without their events. */
export async function measureLeases(tasks: readonly Task[]): Promise<BenchResult[]> {
  let written = 0
  const log = {
    ...WITHOUT_HEADS,
    append: async (...events: readonly RunEvent[]) => {
      for (const event of events) written += JSON.stringify(event).length
    },
    async *replay() {},
    close: async () => {},
  }
  const recorder = await openRecorder(log, () => undefined)
  const leases = createLeaseService({
    tasks,
    recorder,
    registrationMs: 5000,
    addressBlockOf: () => null,
    metrics: createMetrics(),
    clock: systemClock,
  })
  const hex = (bytes: number): string => randomBytes(bytes).toString('hex')
  const policyId = hex(32)
  await recorder.record(() => agreed({ batchGroups: 4096, leases: { durationMs: 180_000, perNode: PER_NODE } }))
  const opened = { atMs: 0, version: 0, policyId, manifestId: hex(32), roundSecret: hex(32), skippedTasks: '' }
  await recorder.record(() => ({
    ...{ type: 'published', ...opened, round: 0, step: 0, adapterStep: 0, adapterSha256: hex(32) },
  }))
  const ask = (node: string) =>
    leases.answer(
      {
        ...{ kind: 'ask', count: PER_NODE, policyId, nonce: hex(16), holding: [] },
        ...{ agent: 'bench', backend: 'cpu', tokensPerSecond: 0 },
      },
      node,
    )
  // A key gets leases in the round after its first request.
  const nodes = Array.from({ length: LEASES / PER_NODE }, () => `12D3KooW${hex(22)}`)
  for (const node of nodes) await recorder.record(() => ({ type: 'registered', atMs: 0, node, round: 0 }))
  await recorder.record(() => ({ type: 'reopened', ...opened, round: 1 }))
  await ask(nodes[0]!)
  const [before, writtenBefore] = [heapBytes(), written]
  for (const node of nodes.slice(1)) await ask(node)
  const grown = heapBytes() - before
  const given = recorder.state.openLeases.size - PER_NODE
  if (given !== LEASES - PER_NODE) throw new Error(`${given} leases were given`)
  return [
    { metric: 'memory per 1,000 open leases', value: (grown / given) * (1000 / 2 ** 20), unit: 'MiB' },
    {
      metric: 'their events in the log, as JSON',
      value: ((written - writtenBefore) / given) * (1000 / 2 ** 20),
      unit: 'MiB',
    },
  ]
}

/** Returns the bytes in use after a full garbage collection. */
function heapBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  for (let times = 0; times < 3; times++) collect()
  return process.memoryUsage().heapUsed
}
