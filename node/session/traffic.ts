import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { z } from 'zod'
import type { Clock, Metrics } from '../../swarm/index.js'

/** Bytes on the node's connections, counted by libp2p without encryption and TCP headers. */
export interface Traffic {
  readonly sent: number
  readonly received: number
}

/** Counts the traffic of a node. */
export interface TrafficCounter {
  /** Traffic since the start of the program. */
  readonly session: Traffic
  readonly month: Traffic
  /** Start of the next month in local time (ms since 1970). */
  readonly nextMonthMs: number
  /** Adds the traffic since the last call. */
  count(): Promise<void>
  close(): Promise<void>
}

const FILE = 'traffic.json'
const SAVE_EVERY_MS = 60_000
const METRIC = 'libp2p_data_transfer_bytes_total'

const record = z.strictObject({ month: z.string(), sent: z.number().min(0), received: z.number().min(0) })

/** Reads the total of both directions. */
export async function trafficOf(metrics: Metrics): Promise<Traffic> {
  const found = await metrics.getSingleMetric(METRIC)?.get()
  const of = (label: string): number =>
    found?.values.find(({ labels }) => (labels as { protocol?: string }).protocol === label)?.value ?? 0
  return { sent: of('global sent'), received: of('global received') }
}

/**
 * Opens the traffic count of the month in the data folder. A damaged record counts as zero, because only a limit depends on it.
 * @param read  returns the totals since the start of the program
 */
export async function openTrafficCounter(
  dataDir: string,
  { read, clock }: { read(): Promise<Traffic>; readonly clock: Pick<Clock, 'now'> },
): Promise<TrafficCounter> {
  const path = join(dataDir, FILE)
  let session: Traffic = { sent: 0, received: 0 }
  let month = monthOf(clock.now())
  let total = await earlier(path, month)
  let savedMs = clock.now()
  const save = async (): Promise<void> => {
    savedMs = clock.now()
    await writeFileAtomic(path, JSON.stringify({ month, ...total }), { mode: 0o600 })
  }
  return {
    get session() {
      return session
    },
    get month() {
      return total
    },
    get nextMonthMs() {
      const now = new Date(clock.now())
      return new Date(now.getFullYear(), now.getMonth() + 1, 1).getTime()
    },
    async count() {
      const now = await read()
      const current = monthOf(clock.now())
      if (current !== month) total = { sent: 0, received: 0 }
      month = current
      total = {
        sent: total.sent + Math.max(0, now.sent - session.sent),
        received: total.received + Math.max(0, now.received - session.received),
      }
      session = now
      if (Math.abs(clock.now() - savedMs) >= SAVE_EVERY_MS) await save()
    },
    close: save,
  }
}

function monthOf(ms: number): string {
  const date = new Date(ms)
  return `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}`
}

async function earlier(path: string, month: string): Promise<Traffic> {
  const none = { sent: 0, received: 0 }
  try {
    const kept = record.parse(JSON.parse(await readFile(path, 'utf8')))
    return kept.month === month ? { sent: kept.sent, received: kept.received } : none
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) return none
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return none
    throw error
  }
}
