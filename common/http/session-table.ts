import { LRUCache } from 'lru-cache'

export interface SessionTableOptions {
  readonly maxSessions: number
  readonly maxPerClient: number
  /** Without a request for this long a session is over. */
  readonly idleMs: number
  /** Without a request for this long a session gives way to a new one when there is no other room. */
  readonly restMs: number
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number
}

interface Entry<T> {
  readonly client: string
  readonly session: T
  lastUsed: number
  /** Requests that are being answered. */
  busy: number
}

/** Sessions of an HTTP host by their ids: how many there may be, in all and of one client, and which of them give way. */
export interface SessionTable<T> {
  readonly size: number
  /** Room for a session that is being opened; what had to give way is ended. @returns  gives the room back; null: there is none */
  reserve(client: string): (() => void) | null
  add(id: string, client: string, session: T): void
  has(id: string): boolean
  /** Takes it out without ending it. */
  remove(id: string): T | undefined
  /** Runs `work` with a session, which gives way to nobody meanwhile. @param isUse  whether it counts against idleness */
  use<R>(id: string, isUse: boolean, work: (session: T) => Promise<R>): Promise<R> | null
  /** Whether a session of that id had to give way. */
  wasEvicted(id: string): boolean
  /** @returns how many it ended */
  closeIdle(): number
  closeAll(): Promise<void>
}

/** Ids that are remembered after their sessions had to give way. */
const EVICTED_REMEMBERED = 4096

export function createSessionTable<T>(
  { maxSessions, maxPerClient, idleMs, restMs, now }: SessionTableOptions,
  end: (session: T) => Promise<void>,
): SessionTable<T> {
  /** The one that was used longest ago first. */
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

  /** Ends what a client has left resting for the longest time. @returns  whether there was something */
  const evictFrom = (client: string): boolean => {
    for (const [id, entry] of entries) {
      if (entry.client !== client || entry.busy > 0 || now() - entry.lastUsed < restMs) continue
      evicted.set(id, true)
      void close(id)
      return true
    }
    return false
  }
  const greediest = (): string => {
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
      if (isFull() && !evictFrom(greediest())) return null
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
