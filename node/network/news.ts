import type { PolicyAnnouncement } from '../../proto/index.js'
import type { Clock } from '../../swarm/index.js'

/** What a node hears without asking. */
export type NewsItem =
  | { readonly type: 'announced'; readonly announcement: PolicyAnnouncement }
  /** A group of its own has its verdict, or will never get one. */
  | { readonly type: 'settled' }

/** Where news comes in, and where whoever waits for some is woken. */
export interface News {
  tell(item: NewsItem): void
  /** Begins to listen; what is heard from here on may end a `wait`, also when it comes before that. */
  listen(): NewsWatch
}

export interface NewsWatch {
  /**
   * Waits for news that matters, what was heard since the last wait included.
   * @param limitMs  null: as long as it takes
   * @returns  null when `limitMs` are over first
   * @throws the signal's reason
   */
  wait(limitMs: number | null, matters: (item: NewsItem) => boolean, signal: AbortSignal): Promise<NewsItem | null>
  close(): void
}

/** Of what was heard and not waited for, only so much is remembered: announcements repeat themselves. */
const REMEMBERED = 16

export function createNews(clock: Pick<Clock, 'sleep'>): News {
  const watches = new Set<(item: NewsItem) => void>()
  return {
    tell(item) {
      for (const hear of watches) hear(item)
    },
    listen() {
      const unheard: NewsItem[] = []
      let wake = (): void => undefined
      const hear = (item: NewsItem): void => {
        unheard.push(item)
        if (unheard.length > REMEMBERED) unheard.shift()
        wake()
      }
      watches.add(hear)
      return {
        async wait(limitMs, matters, signal) {
          const over = new AbortController()
          let found: NewsItem | null = null
          wake = () => {
            found ??= unheard.splice(0).find(matters) ?? null
            if (found) over.abort()
          }
          try {
            wake()
            const ending = AbortSignal.any([signal, over.signal])
            await (limitMs === null ? untilAborted(ending) : clock.sleep(limitMs, ending))
          } catch (why) {
            signal.throwIfAborted()
            if (!over.signal.aborted) throw why
          } finally {
            wake = () => undefined
          }
          return found
        },
        close: () => watches.delete(hear),
      }
    },
  }
}

/** @throws the signal's reason */
const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const end = (): void => reject(signal.reason)
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
