import { uniformInt } from 'pure-rand/distribution/uniformInt'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { chooseBatch } from '../../coordinator/leases/batch-shares.js'
import { askUpTo, createHostileKeys, type HostileHabit } from './hostile-keys.js'
import { openServiceRun, REGISTRATION_MS } from './lease-service-run.js'
import { agreed } from './run-events.js'

/** A run in which some keys take leases without doing the work, while volunteers work. */
export interface LockoutOptions {
  readonly sybils: number
  /** Number of address blocks of the sybils. */
  readonly blocks: number
  readonly minutes: number
  /** Time at which the sybils join, after the start of the run. */
  readonly fromMinute: number
  readonly habit: HostileHabit
  /** Default: five minutes. */
  readonly newcomerEveryMs?: number
}

export interface Lockout {
  readonly versions: number
  /** Accepted groups of the volunteers that were present from the start. */
  readonly groups: number
  /** Seconds from the first request of each new volunteer to its first lease; null: no lease. */
  readonly waitedS: readonly (number | null)[]
  /** Leases that the sybils received. */
  readonly wasted: number
  /** Share of the groups in batches that the sybils supplied. */
  readonly hostileShare: number
  /** Leases that the sybils abandoned. */
  readonly abandoned: number
}

const VOLUNTEERS = 10
const NEWCOMER_EVERY_MS = 300_000
/** Time for one group: uniform between these bounds. */
const GROUP_MS = [25_000, 75_000] as const
/** Time from a batch to the version that was trained on it. */
const TRAINING_MS = 12_000
const TICK_MS = 1000
/** Pause between requests of a volunteer without work. */
const ASK_EVERY_MS = 2000
const CONFIGURATION = {
  maxStaleness: 4,
  batchGroups: 16,
  versions: 1_000_000,
  leases: { durationMs: 180_000, perNode: 2 },
  influence: { perKey: 0.5, perAddressBlock: 1 },
} as const

interface Worker {
  readonly name: string
  /** End of the work on the oldest lease; null: no lease. */
  doneMs: number | null
  askMs: number
  readonly sinceMs: number
  firstLeaseMs: number | null
  groups: number
}

/**
 * Runs the real lease service, run state and choice of batches, second by second on a simulated clock. The work of volunteers and
 * trainer takes the simulated times above.
 */
export async function lockout(options: LockoutOptions): Promise<Lockout> {
  const { sybils, blocks, minutes, fromMinute, habit, newcomerEveryMs = NEWCOMER_EVERY_MS } = options
  const blockOf = (node: string): string => {
    const [kind, number] = node.split('-')
    return kind === 'sybil' ? `ip4/${Number(number) % blocks}` : `ip4/of ${node}`
  }
  const run = await openServiceRun(CONFIGURATION, blockOf)
  const { recorder, leases, clock } = run
  const { state } = recorder
  const random = xoroshiro128plus(20261122)
  const between = ([least, most]: readonly [number, number]): number => uniformInt(random, least, most)
  const startMs = clock.now()
  const endMs = startMs + minutes * 60_000
  const worker = (name: string, sinceMs: number): Worker => ({
    name,
    sinceMs,
    askMs: sinceMs,
    doneMs: null,
    firstLeaseMs: null,
    groups: 0,
  })
  const workers = Array.from({ length: VOLUNTEERS }, (_, i) => worker(`volunteer-${i}`, startMs + between([0, 60_000])))
  const newcomers: Worker[] = []
  for (let atMs = startMs + newcomerEveryMs; atMs <= endMs - 120_000; atMs += newcomerEveryMs)
    newcomers.push(worker(`newcomer-${newcomers.length}`, atMs))
  const comeMs = startMs + fromMinute * 60_000
  const hostile = createHostileKeys(habit, {
    ...{ run, blockOf, between, groupMs: GROUP_MS, perNode: CONFIGURATION.leases.perNode },
    names: Array.from({ length: sybils }, (_, i) => `sybil-${i}`),
    fromMs: comeMs,
  })
  let trainedAtMs: number | null = null
  const batched = { all: 0, hostile: 0 }

  const work = async (one: Worker): Promise<void> => {
    const nowMs = clock.now()
    if (nowMs < one.sinceMs) return
    if (one.doneMs !== null && nowMs >= one.doneMs) {
      const [leaseId] = state.openLeasesOf(one.name).keys()
      if (leaseId) {
        await run.deliver(leaseId, { addressBlock: blockOf(one.name) })
        one.groups += 1
      }
      one.doneMs = null
      one.askMs = nowMs
    }
    if (nowMs >= one.askMs && (await askUpTo(run, one.name, CONFIGURATION.leases.perNode)) === 0)
      one.askMs = nowMs + ASK_EVERY_MS
    if (one.doneMs === null && state.openLeasesOf(one.name).size > 0) {
      one.firstLeaseMs ??= nowMs
      one.doneMs = nowMs + between(GROUP_MS)
    }
  }

  const train = async (): Promise<void> => {
    const batch = state.pendingBatch
    if (batch && clock.now() >= trainedAtMs!) {
      await run.publish()
      const { batchId, step } = batch
      await recorder.record(() => ({ type: 'trained', atMs: clock.now(), batchId, step, skipped: false }))
    } else if (!batch) {
      const { configuration } = agreed(CONFIGURATION)
      const chosen = chooseBatch(
        configuration,
        state.trainable(configuration.maxStaleness),
        [...state.suppliers.values()],
        (node) => state.reliabilityOf(node),
      )
      if (!chosen) return
      const step = state.current!.version + 1
      const leaseIds = chosen.map(({ leaseId }) => leaseId)
      batched.all += chosen.length
      batched.hostile += chosen.filter(({ node }) => node.startsWith('sybil')).length
      await recorder.record(() => ({ type: 'batched', atMs: clock.now(), batchId: `step-${step}`, step, leaseIds }))
      trainedAtMs = clock.now() + TRAINING_MS
    }
  }

  for (; clock.now() < endMs; clock.advance(TICK_MS)) {
    await leases.releaseLapsed()
    if (state.keysWaiting > 0 && clock.now() - state.round!.openedAtMs >= REGISTRATION_MS) await run.openRound()
    await train()
    await hostile.act()
    for (const one of [...workers, ...newcomers]) await work(one)
  }
  return {
    versions: state.current!.version,
    groups: workers.reduce((sum, { groups }) => sum + groups, 0),
    waitedS: newcomers.map(({ firstLeaseMs, sinceMs }) =>
      firstLeaseMs === null ? null : (firstLeaseMs - sinceMs) / 1000,
    ),
    wasted: hostile.leases,
    hostileShare: batched.all === 0 ? 0 : batched.hostile / batched.all,
    abandoned: hostile.abandoned,
  }
}
