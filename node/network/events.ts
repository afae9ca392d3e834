import type { PolicyAnnouncement } from '../../proto/index.js'
import type { Clock } from '../../swarm/index.js'
import { aborted } from './aborted.js'

/** An event that a node did not ask for. */
export type NodeEvent =
  | { readonly type: 'announced'; readonly announcement: PolicyAnnouncement }
  /** A group of this node got its verdict, or will never get one. */
  | { readonly type: 'settled' }

/** The place where events arrive, and where waiting parts of the node are woken. */
export interface NodeEvents {
  publish(item: NodeEvent): void
  /** Starts to listen. An item that arrives from now on may end a `wait`, even one that begins later. */
  listen(): EventWatch
}

/** A listener that waits for events. */
export interface EventWatch {
  /**
   * Waits for an item that matters. Items since the last `wait` or `forget` count too.
   * @param limitMs  null: without a limit
   * @returns null if `limitMs` pass first
   * @throws the signal's reason
   */
  wait(limitMs: number | null, matters: (item: NodeEvent) => boolean, signal: AbortSignal): Promise<NodeEvent | null>
  /** Drops the items that no `wait` has seen yet. */
  forget(): void
  close(): void
}

/** Number of unread items that a watch remembers: announcements repeat. */
const REMEMBERED = 16

export function createNodeEvents(clock: Pick<Clock, 'sleep'>): NodeEvents {
  const watches = new Set<(item: NodeEvent) => void>()
  return {
    publish(item) {
      for (const receive of watches) receive(item)
    },
    listen() {
      const unread: NodeEvent[] = []
      let wake = (): void => undefined
      const receive = (item: NodeEvent): void => {
        unread.push(item)
        if (unread.length > REMEMBERED) unread.shift()
        wake()
      }
      watches.add(receive)
      return {
        async wait(limitMs, matters, signal) {
          const over = new AbortController()
          let found: NodeEvent | null = null
          wake = () => {
            found ??= unread.splice(0).find(matters) ?? null
            if (found) over.abort()
          }
          wake()
          const ending = AbortSignal.any([signal, over.signal])
          await (limitMs === null ? aborted(ending) : clock.sleep(limitMs, ending).catch(() => undefined))
          wake = () => undefined
          signal.throwIfAborted()
          return found
        },
        forget: () => void unread.splice(0),
        close: () => void watches.delete(receive),
      }
    },
  }
}
