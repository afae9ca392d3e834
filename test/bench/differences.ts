import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { applyDifference, createBlobStore, storeDifference } from '../../swarm/index.js'
import type { BenchResult } from './result.js'

/** Folder `jobs/steps` of a coordinator's data folder, with an adapter in each step. */
const STEPS = process.env.PROVE_BENCH_STEPS

const cpuMs = async (work: () => Promise<void>): Promise<number> => {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** Measures the differences between the successive adapters of a run. */
export async function run(): Promise<{ versions: Record<string, string>; results: BenchResult[] }> {
  if (STEPS === undefined)
    throw new Error('set PROVE_BENCH_STEPS to the folder jobs/steps of a coordinator that has trained')
  const numbers = (await readdir(STEPS)).flatMap((name) => Number(/^step-(\d+)$/.exec(name)?.[1] ?? Number.NaN))
  const steps = numbers.filter(Number.isInteger).sort((a, b) => a - b)
  const folder = await mkdtemp(join(tmpdir(), 'prove-differences-'))
  const { signal } = new AbortController()
  const results: BenchResult[] = []
  try {
    const store = await createBlobStore(folder)
    let before: string | null = null
    for (const step of steps) {
      const stored = await store.putFile(join(STEPS, `step-${step}`, 'adapter.gguf'))
      const adapter = await store.describe(stored, 'adapter')
      const from: string | null = before
      before = stored
      if (from === null) continue
      let sizeBytes = adapter.sizeBytes
      let applyMs = 0
      const makeMs = await cpuMs(async () => {
        const difference = await storeDifference(store, from, adapter, signal)
        if (!difference) return
        sizeBytes = difference.blob.sizeBytes
        await store.remove(stored)
        applyMs = await cpuMs(() => applyDifference(store, difference, adapter, signal))
      })
      results.push(
        {
          metric: `step ${step}: fetched`,
          value: sizeBytes,
          unit: 'B',
          peer: 'the whole adapter',
          ratio: sizeBytes / adapter.sizeBytes,
        },
        { metric: `step ${step}: making the difference`, value: makeMs - applyMs, unit: 'ms of CPU' },
        { metric: `step ${step}: applying it`, value: applyMs, unit: 'ms of CPU' },
      )
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return { versions: {}, results }
}
