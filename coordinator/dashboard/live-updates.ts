import type { Clock } from '../../swarm/index.js'
import type { LiveReport } from '../report/live-report.js'
import { DASHBOARD_LIMITS } from './limits.js'

/** Connection of an open page. */
export interface UpdateStream {
  /** Sends the current revision of the report. */
  send(revision: number): Promise<unknown>
  /** Keeps the connection alive while there are no updates. */
  beat(): Promise<unknown>
}

/** Sends each new revision of the report to a page, at most once per `newsMs`. Ends when the signal fires. */
export async function followRevisions(
  report: Pick<LiveReport, 'revision' | 'listen'>,
  stream: UpdateStream,
  clock: Pick<Clock, 'sleep'>,
  signal: AbortSignal,
): Promise<void> {
  let sent = -1
  while (!signal.aborted) {
    if (report.revision !== sent) {
      sent = report.revision
      await stream.send(sent)
      await clock.sleep(DASHBOARD_LIMITS.updateMs, signal).catch(() => undefined)
    } else if (!(await nextEvent(report, clock, signal)) && !signal.aborted) await stream.beat()
  }
}

/** Waits for the next event. @returns  false when none arrived within `heartbeatMs` */
async function nextEvent(
  report: Pick<LiveReport, 'listen'>,
  clock: Pick<Clock, 'sleep'>,
  signal: AbortSignal,
): Promise<boolean> {
  const over = new AbortController()
  const arrived = Promise.withResolvers<boolean>()
  const stop = report.listen(() => arrived.resolve(true))
  const silent = clock.sleep(DASHBOARD_LIMITS.heartbeatMs, AbortSignal.any([signal, over.signal])).then(
    () => false,
    () => false,
  )
  try {
    return await Promise.race([arrived.promise, silent])
  } finally {
    stop()
    over.abort()
  }
}
