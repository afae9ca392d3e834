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

/** @param earlier  a pause from before the start */
export function createOwnerRequest(clock: Pick<Clock, 'now'>, earlier: Pause | null = null): OwnerRequest {
  let pause = earlier
  let finishing = false
  const pausing = (): Pause | null => {
    if (pause?.untilMs != null && clock.now() >= pause.untilMs) pause = null
    return pause
  }
  return {
    get pausing() {
      return pausing()
    },
    pause(forMs, atOnce) {
      pause = { untilMs: forMs === null ? null : clock.now() + forMs, atOnce }
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
      if (lasting !== null) return { kind: 'rest', why: 'by its owner', ...lasting }
      const permit = limit.mayWork()
      if (permit.ok) return { kind: 'work' }
      return { kind: 'rest', why: permit.why, untilMs: permit.untilMs ?? null, atOnce: permit.atOnce ?? false }
    },
  }
}
