import type { Clock } from '../../swarm/index.js'
import type { WorkLimit } from '../limits/work-limit.js'
import type { Duty } from '../work/pause-control.js'
import type { Pause } from './kept-pause.js'

/** What the owner of a node has said last; a limit counts where he has said nothing. */
export interface OwnerRequest {
  /** @param forMs  null: until `resume` */
  pause(forMs: number | null, atOnce: boolean): void
  resume(): void
  finish(): void
  /** The pause that lasts; null: there is none. */
  readonly pausing: Pause | null
  /** The duty at this moment. */
  dutyUnder(limit: WorkLimit): Duty
}

/** @param earlier  a pause that was wished for before the node started */
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
      if (lasting !== null) return { kind: 'rest', why: 'paused by its owner', ...lasting }
      const permit = limit.mayWork()
      if (permit.ok) return { kind: 'work' }
      return { kind: 'rest', why: permit.why, untilMs: permit.untilMs ?? null, atOnce: permit.atOnce ?? false }
    },
  }
}
