import { LRUCache } from 'lru-cache'

export interface SessionTableOptions {
  readonly maxSessions: number
  readonly maxPerClient: number
  /** A session without a request for this long is closed. */
  readonly idleMs: number
  /** A session without a request for this long may be evicted for a new one when the table is full. */
  readonly restMs: number
  /** Returns milliseconds of a monotonic clock. */
  readonly now: () => number
}

interface Entry<T> {
  readonly client: string
  readonly session: T
  lastUsed: number
  /** Number of running requests. */
  busy: number
}

/** Sessions of an HTTP server by id, with limits in total and for each client. A full table evicts unused sessions. */
export interface SessionTable<T> {
  readonly size: number
  /** Reserves capacity for a session that is being opened, and evicts another one if needed. @returns  releases it; null: no capacity */
  reserve(client: string): (() => void) | null
  add(id: string, client: string, session: T): void
  has(id: string): boolean
  /** Removes a session without ending it. */
  remove(id: string): T | undefined
  /** Runs `work` with a session, which is not evicted meanwhile. @param isUse  whether the session counts as used */
  use<R>(id: string, isUse: boolean, work: (session: T) => Promise<R>): Promise<R> | null
  /** Tests whether the session of an id was evicted. */
  wasEvicted(id: string): boolean
  /** Closes idle sessions. @returns  their number */
  closeIdle(): number
  closeAll(): Promise<void>
}

/** Number of ids of evicted sessions that are remembered. */
const EVICTED_REMEMBERED = 4096

/** Creates an empty table. @param end  ends a session that is closed or evicted */
export function createSessionTable<T>(
  { maxSessions, maxPerClient, idleMs, restMs, now }: SessionTableOptions,
  end: (session: T) => Promise<void>,
): SessionTable<T> {
  /** The least recently used first. */
  const entries = new Map<string, Entry<T>>()
  const opening = new Map<string, number>()
  const evicted = new LRUCache<string, true>({ max: EVICTED_REMEMBERED })

  const heldBy = (client: string): number => {
    let held = opening.get(client) ?? 0
    for (const entry of entries.values()) if (entry.client === client) held += 1
    return held
  }
  const total = (): number => entries.size + [...opening.values()].reduce((sum, count) => sum + count, 0)
  const remove = (id: string): T | undefined => {
    const entry = entries.get(id)
    entries.delete(id)
    return entry?.session
  }
  const close = async (id: string): Promise<void> => {
    const session = remove(id)
    if (session !== undefined) await end(session)
  }

  /** Evicts the least recently used session of a client. @returns  whether one could be evicted */
  const evictFrom = (client: string): boolean => {
    for (const [id, entry] of entries) {
      if (entry.client !== client || entry.busy > 0 || now() - entry.lastUsed < restMs) continue
      evicted.set(id, true)
      void close(id)
      return true
    }
    return false
  }
  const largestClient = (): string => {
    const clients = new Set([...entries.values()].map(({ client }) => client))
    return [...clients].sort((a, b) => heldBy(b) - heldBy(a))[0] ?? ''
  }
  const closeIdle = (): number => {
    const idle = [...entries].filter(([, { lastUsed }]) => now() - lastUsed >= idleMs)
    for (const [id] of idle) void close(id)
    return idle.length
  }

  return {
    get size() {
      return entries.size
    },
    reserve(client) {
      const isFull = (): boolean => total() >= maxSessions
      if (isFull() || heldBy(client) >= maxPerClient) closeIdle()
      if (heldBy(client) >= maxPerClient && !evictFrom(client)) return null
      if (isFull() && !evictFrom(largestClient())) return null
      opening.set(client, (opening.get(client) ?? 0) + 1)
      return () => {
        const left = opening.get(client)! - 1
        if (left > 0) opening.set(client, left)
        else opening.delete(client)
      }
    },
    add: (id, client, session) => void entries.set(id, { client, session, lastUsed: now(), busy: 0 }),
    has: (id) => entries.has(id),
    remove,
    use(id, isUse, work) {
      const entry = entries.get(id)
      if (!entry) return null
      if (isUse) {
        entry.lastUsed = now()
        entries.delete(id)
        entries.set(id, entry)
      }
      entry.busy += 1
      return work(entry.session).finally(() => {
        entry.busy -= 1
      })
    },
    wasEvicted: (id) => evicted.has(id),
    closeIdle,
    async closeAll() {
      await Promise.all([...entries.keys()].map(close))
    },
  }
}
