import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openCheckpoints } from '../../coordinator/ledger/checkpoints.js'
import { openEventLog, writeEventLog } from '../../coordinator/ledger/event-log.js'
import type { RunEvent } from '../../coordinator/ledger/events.js'
import { chain, LOG_START } from '../../coordinator/ledger/log-chain.js'
import { openRecorder } from '../../coordinator/ledger/recorder.js'
import { RunReducer } from '../../coordinator/ledger/run-reducer.js'
import { snapshotSize } from '../../coordinator/ledger/state-snapshot.js'
import { SKETCH_NUMBERS } from '../../rollout/verification/likeness.js'
import { silentLogger } from '../../swarm/index.js'
import { agreed, batched, judged, leased, published, trained } from '../support/run-events.js'
import { median } from './median.js'
import type { BenchResult } from './result.js'

const KEYS = 250
const TASKS = 250
const ROLLOUTS = 8
/** Groups of a version, and the groups of them that the next version is trained on. */
const GROUPS = 500
const BATCH = 256
const AGES = [40, 80, 320]
const STARTED_EVENTS = 100_000
const STARTS = 3
const MIB = 1024 * 1024

const hex = (bytes: number): string => randomBytes(bytes).toString('hex')
const each = <T>(make: () => T): T[] => Array.from({ length: ROLLOUTS }, make)

/** Returns the events that a busy run writes over a number of versions. */
export function* history(versions: number): Generator<RunEvent> {
  const keys = Array.from({ length: KEYS }, () => `12D3KooW${hex(22)}`)
  yield agreed({ versions: versions + 1 })
  yield published(0)
  for (const node of keys) yield { type: 'registered', atMs: 0, node, round: 0 }
  for (let version = 1; version <= versions; version++) {
    const leaseIds = Array.from({ length: GROUPS }, () => hex(16))
    for (const [i, leaseId] of leaseIds.entries()) {
      const node = keys[(version * GROUPS + i) % KEYS]!
      const taskIndex = Math.floor(Math.random() * TASKS)
      yield leased(leaseId, node, version - 1, { taskIndex, seed: hex(32) })
      yield judged(leaseId, node, version - 1, {
        bodySha256: hex(32),
        rewards: each(Math.random),
        completions: each(() => hex(8)),
        logprobs: each(() => -100 * Math.random()),
        sketches: each(() => randomBytes(2 * SKETCH_NUMBERS).toString('base64')),
      })
    }
    yield batched(`batch-${version}`, version, leaseIds.slice(0, BATCH))
    yield published(version)
    yield trained(`batch-${version}`, version)
  }
}

function stateAfter(versions: number): RunReducer {
  const state = new RunReducer()
  // Parsed like events of the log, which share no objects.
  for (const event of history(versions)) state.apply(JSON.parse(JSON.stringify(event)) as RunEvent)
  return state
}

/** Measures the memory of a coordinator by the age of its run. */
export function measureAges(): BenchResult[] {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const heap = (): number => {
    collect()
    return process.memoryUsage().heapUsed / MIB
  }
  const empty = heap()
  return AGES.flatMap((versions) => {
    const state = stateAfter(versions)
    const value = heap() - empty
    const of = `${versions} versions of ${GROUPS} groups`
    return [
      { metric: `${of}: memory of the state`, value, unit: 'MiB' },
      { metric: `${of}: what the state holds`, value: snapshotSize(state.snapshot), unit: 'entries' },
    ]
  })
}

async function* recordsOf(events: Iterable<RunEvent>): AsyncGenerator<string> {
  let end = LOG_START
  for (const event of events) {
    const link = chain(end, event)
    end = link.head
    yield link.record
  }
}

/** Measures the time that a start reads the log, without and with a checkpoint. */
export async function measureStarts(): Promise<BenchResult[]> {
  const folder = await mkdtemp(join(tmpdir(), 'prove-bench-'))
  const perVersion = 2 * GROUPS + 3
  const path = join(folder, 'log')
  try {
    await writeEventLog(path, recordsOf(history(Math.ceil((STARTED_EVENTS - KEYS) / perVersion))))
    const start = async (file: string, isEnded: boolean): Promise<number> => {
      const before = performance.now()
      const log = await openEventLog(path)
      const recorder = await openRecorder(log, () => undefined, {
        checkpoints: openCheckpoints({ file, log, logger: silentLogger }),
      })
      const took = performance.now() - before
      await recorder.close()
      if (!isEnded) await rm(file, { force: true })
      return took
    }
    const file = join(folder, 'log.checkpoint')
    const without: number[] = []
    for (let i = 0; i < STARTS; i++) without.push(await start(file, false))
    await start(file, true)
    const having: number[] = []
    for (let i = 0; i < STARTS; i++) having.push(await start(file, true))
    const of = `start with ${STARTED_EVENTS.toLocaleString('en')} events`
    return [
      { metric: `${of}, without a checkpoint`, value: median(without), unit: 'ms' },
      { metric: `${of}, with one`, value: median(having), unit: 'ms' },
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
