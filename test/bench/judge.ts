import { generateKeyPair } from '@libp2p/crypto/keys'
import { openDemoRuntime } from './demo-stage.js'
import { measureAudit } from './judge-audit.js'
import { measureLatency } from './judge-latency.js'
import { measureLeases } from './judge-leases.js'
import { measureChecks } from './judge-speed.js'
import { measureWorkers } from './judge-workers.js'
import type { BenchResult } from './result.js'

const TASKS = 48

/**
 * Measures the cost of verification for the coordinator: the checks of every group in one thread and in a worker process, the audit
 * compared with a training step, the time to a verdict over the loopback interface, and the memory of open leases. `PROVE_BENCH_PARTS`
 * selects some of stages, workers, leases, audit, latency.
 */
export async function run(): Promise<{ results: BenchResult[] }> {
  const parts = (process.env.PROVE_BENCH_PARTS ?? 'stages,workers,leases,audit,latency').split(',')
  const demo = await openDemoRuntime(TASKS)
  try {
    const key = await generateKeyPair('Ed25519')
    const measurements: Readonly<Record<string, () => Promise<BenchResult[]>>> = {
      checks: () => measureChecks(demo, key),
      workers: () => measureWorkers(demo, key),
      leases: () => measureLeases(demo.tasks),
      audit: () => measureAudit(demo),
      latency: () => measureLatency(demo),
    }
    const results: BenchResult[] = []
    for (const part of parts) {
      const measure = measurements[part]
      if (!measure) throw new Error(`no part ${part}; there are ${Object.keys(measurements).join(', ')}`)
      results.push(...(await measure()))
    }
    return { results }
  } finally {
    await demo.close()
  }
}
