import { type Leave, LIMITS } from '../../proto/index.js'
import { createRateLimit, type SwarmHost } from '../../swarm/index.js'
import type { Absence } from '../ledger/events.js'
import type { Recorder } from '../ledger/recorder.js'

/** Volunteers at work, and why the others are not. */
export interface Attendance {
  /** Notes a request of a node that works. */
  seen(node: string): void
  /** Notes that a node ended its work because of an error, and records it. */
  left(node: string, leave: Leave): Promise<void>
  /** Records that no volunteer is at work any more, or that one is again. Has to be called every few seconds. */
  look(): Promise<void>
}

/** How long a run may be without volunteers before it is recorded: nodes reconnect within seconds. */
const ALONE_MS = 30_000
/** How long a connected node may send no request: an adapter takes minutes on a slow line, and leases are renewed every 90 s. */
const SILENT_MS = 300_000
/** How long before the last volunteer was gone the others may have gone, to be named as a cause. */
const RECENT_MS = 3_600_000
/** Shortest time between two records of changed causes. */
const AGAIN_MS = 60_000
/** Departures of a key on record: each is permanent. */
const OF_NODE = { perMinute: 1, atOnce: 3 }
const OF_ALL = { perMinute: 120, atOnce: 240 }

interface Departure {
  readonly reason: Absence['reason']
  readonly detail: string
  readonly atMs: number
}

export interface AttendanceParts {
  readonly host: Pick<SwarmHost, 'clock' | 'isConnected' | 'onOtherVersion'>
  readonly recorder: Recorder
  readonly signal: AbortSignal
}

export function createAttendance({ host, recorder, signal }: AttendanceParts): Attendance {
  const { clock } = host
  const { state } = recorder
  /** Times of the last requests, the earliest first. */
  const seenAt = new Map<string, number>()
  /** Nodes that have not come back, the earliest first. */
  const departures = new Map<string, Departure>()
  const ofNode = createRateLimit(clock, OF_NODE.perMinute, OF_NODE.atOnce)
  const ofAll = createRateLimit(clock, OF_ALL.perMinute, OF_ALL.atOnce)
  let aloneSinceMs: number | null = null
  let recordedAtMs = Number.NEGATIVE_INFINITY

  const depart = (node: string, reason: Absence['reason'], detail: string): void => {
    seenAt.delete(node)
    putLast(departures, node, { reason, detail, atMs: clock.elapsedMs() })
  }
  const stop = host.onOtherVersion(({ peer, detail }) => depart(peer, 'other_version', detail))
  signal.addEventListener('abort', stop, { once: true })

  const isAtWork = (now: number): boolean => {
    for (const [node, atMs] of seenAt) if (now - atMs <= SILENT_MS && host.isConnected(node)) return true
    return false
  }

  /** Returns the causes, the most frequent first. Each has the detail of the newest departure. */
  const causes = (sinceMs: number): Absence[] => {
    const found = new Map<Absence['reason'], { nodes: number; detail: string }>()
    const count = (reason: Absence['reason'], detail: string): void => {
      const nodes = (found.get(reason)?.nodes ?? 0) + 1
      found.set(reason, { nodes, detail })
    }
    for (const { reason, detail, atMs } of departures.values()) if (atMs >= sinceMs - RECENT_MS) count(reason, detail)
    for (const [node, atMs] of seenAt)
      if (host.isConnected(node)) count('silent', '')
      else if (atMs >= sinceMs - RECENT_MS) count('disconnected', '')
    return [...found].map(([reason, cause]) => ({ reason, ...cause })).sort((a, b) => b.nodes - a.nodes)
  }

  return {
    seen(node) {
      departures.delete(node)
      putLast(seenAt, node, clock.elapsedMs())
    },
    async left(node, { reason, detail }) {
      depart(node, reason, detail)
      // The log knows registered keys only, and any stranger may send a notice.
      if (!state.current || !state.registered.has(node) || !ofNode.allow(node) || !ofAll.allow('all')) return
      const { version } = state.current
      await recorder.record(() => ({ type: 'left', atMs: clock.now(), node, version, reason, detail }))
    },
    async look() {
      const { round, orders, unattended } = state
      const isWanted = round && round.version < round.configuration.versions && !orders.pause && !orders.rollback
      const now = clock.elapsedMs()
      const isAlone = isWanted && !isAtWork(now)
      if (!isAlone) {
        aloneSinceMs = null
        if (!isWanted || !unattended) return
        const { version } = round
        await recorder.record(() => ({ type: 'attended', atMs: clock.now(), version }))
        return
      }
      aloneSinceMs ??= now
      if (now - aloneSinceMs < ALONE_MS) return
      const found = causes(aloneSinceMs)
      if (unattended && (now - recordedAtMs < AGAIN_MS || summary(unattended.causes) === summary(found))) return
      recordedAtMs = now
      const { version } = round
      await recorder.record(() => ({ type: 'unattended', atMs: clock.now(), version, causes: found }))
    },
  }
}

const summary = (causes: readonly Absence[]): string => causes.map(({ reason, nodes }) => `${reason} ${nodes}`).join()

function putLast<T>(map: Map<string, T>, node: string, value: T): void {
  map.delete(node)
  map.set(node, value)
  const [first] = map.keys()
  if (map.size > LIMITS.coordinatorConnections.value) map.delete(first!)
}
