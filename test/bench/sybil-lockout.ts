import { type LockoutOptions, lockout } from '../support/lockout.js'
import type { BenchResult } from './result.js'

const MINUTES = 60
/** How often volunteers join a run whose keys hold leases of proven keys, or choose among them. */
const NEWCOMER_EVERY_MS = 120_000
const ATTACKS: readonly (readonly [name: string, options: Omit<LockoutOptions, 'minutes'>])[] = [
  ['nobody', { sybils: 0, blocks: 1, fromMinute: 0, habit: 'idle' }],
  ['40 keys of 8 blocks, from the start', { sybils: 40, blocks: 8, fromMinute: 0, habit: 'idle' }],
  ['40 keys of 40 blocks, from the start', { sybils: 40, blocks: 40, fromMinute: 0, habit: 'idle' }],
  ['1,000 keys of 8 blocks, from the start', { sybils: 1000, blocks: 8, fromMinute: 0, habit: 'idle' }],
  ['the same, renewing', { sybils: 1000, blocks: 8, fromMinute: 0, habit: 'renew' }],
  ['the same, from minute 10', { sybils: 1000, blocks: 8, fromMinute: 10, habit: 'renew' }],
]

/** Measures an hour of a run in which other keys take leases and deliver nothing. */
export async function run(): Promise<{ versions: Record<string, string>; results: BenchResult[] }> {
  const results: BenchResult[] = []
  let alone: number | null = null
  for (const [name, options] of ATTACKS) {
    const { versions, waitedS, wasted } = await lockout({ ...options, minutes: MINUTES })
    alone ??= versions
    const longest = Math.max(...waitedS.map((seconds) => seconds ?? Number.POSITIVE_INFINITY))
    results.push(
      { metric: `${name}: versions`, value: versions, unit: 'an hour', peer: 'without', ratio: versions / alone },
      { metric: `${name}: newcomers without a lease`, value: waitedS.filter((s) => s === null).length, unit: 'count' },
      { metric: `${name}: longest wait of a newcomer for its first`, value: longest, unit: 's' },
      { metric: `${name}: leases held for nothing`, value: wasted, unit: 'count' },
    )
  }
  return { versions: {}, results }
}
