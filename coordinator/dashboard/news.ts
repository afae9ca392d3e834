import type { Clock } from '../../swarm/index.js'
import type { LiveReport } from '../report/live-report.js'
import { DASHBOARD_LIMITS } from './limits.js'

/** Where a page hears of news. */
export interface NewsStream {
  /** The run has come to this revision. */
  tell(revision: number): Promise<unknown>
  /** Nothing has happened for a while, and somebody is still there. */
  beat(): Promise<unknown>
}

/** Tells a page whenever the run has moved on, but not more often than it could be rendered for. Ends when the signal fires. */
export async function tellNews(
  report: Pick<LiveReport, 'revision' | 'listen'>,
  stream: NewsStream,
  clock: Pick<Clock, 'sleep'>,
  signal: AbortSignal,
): Promise<void> {
  let told = -1
  while (!signal.aborted) {
    if (report.revision !== told) {
      told = report.revision
      await stream.tell(told)
      await clock.sleep(DASHBOARD_LIMITS.newsMs, signal).catch(() => undefined)
    } else if (!(await hasNews(report, clock, signal)) && !signal.aborted) await stream.beat()
  }
}

/** Waits for the next event. @returns  false when it did not come for as long as a connection may be silent */
async function hasNews(
  report: Pick<LiveReport, 'listen'>,
  clock: Pick<Clock, 'sleep'>,
  signal: AbortSignal,
): Promise<boolean> {
  const over = new AbortController()
  const understood = Promise.withResolvers<boolean>()
  const stop = report.listen(() => understood.resolve(true))
  const silent = clock.sleep(DASHBOARD_LIMITS.heartbeatMs, AbortSignal.any([signal, over.signal])).then(
    () => false,
    () => false,
  )
  try {
    return await Promise.race([understood.promise, silent])
  } finally {
    stop()
    over.abort()
  }
}
