import type { Clock } from '../../swarm/index.js'
import type { WorkLimit } from '../limits/work-limit.js'
import type { Duty } from '../work/pause-control.js'
import type { Pause } from './kept-pause.js'

/** The last request of a node's owner. Without a request the limits decide. */
export interface OwnerRequest {
  /** @param forMs  null: until `resume` */
  pause(forMs: number | null, atOnce: boolean): void
  resume(): void
  finish(): void
  /** The current pause; null: no pause. */
  readonly pausing: Pause | null
  /** Returns the duty at the moment. */
  dutyUnder(limit: WorkLimit): Duty
}

/**
 * Creates the request of an owner. A pause is never longer than its duration, also if the system's clock is set meanwhile. After a restart,
 * only a clock that shows an earlier time than at the pause makes it begin again.
 * @param earlier  a pause from before the start
 * @param steady  milliseconds of a clock that cannot be set
 */
export function createOwnerRequest(
  clock: Pick<Clock, 'now'>,
  earlier: Pause | null = null,
  steady: () => number = () => performance.now(),
): OwnerRequest {
  let pause: Pause | null = null
  /** End of the pause on the steady clock. */
  let end = Number.POSITIVE_INFINITY
  let finishing = false
  const take = (asked: Pause | null): void => {
    pause = asked
    const left = asked?.untilMs == null ? Number.POSITIVE_INFINITY : asked.untilMs - clock.now()
    end = steady() + Math.min(left, asked?.forMs ?? Number.POSITIVE_INFINITY)
  }
  take(earlier)
  const pausing = (): Pause | null => {
    if (pause === null) return null
    if (steady() >= end || (pause.untilMs !== null && clock.now() >= pause.untilMs)) pause = null
    return pause
  }
  return {
    get pausing() {
      return pausing()
    },
    pause(forMs, atOnce) {
      take({ untilMs: forMs === null ? null : clock.now() + forMs, forMs, atOnce })
    },
    resume() {
      pause = null
    },
    finish() {
      finishing = true
    },
    dutyUnder(limit) {
      if (finishing) return { kind: 'finish' }
      const lasting = pausing()
      if (lasting !== null) {
        const { untilMs, atOnce } = lasting
        return { kind: 'rest', why: 'by its owner', untilMs, atOnce }
      }
      const permit = limit.mayWork()
      if (permit.ok) return { kind: 'work' }
      return { kind: 'rest', why: permit.why, untilMs: permit.untilMs ?? null, atOnce: permit.atOnce ?? false }
    },
  }
}
