import type { Clock } from '../../swarm/index.js'
import type { Duty } from '../gate.js'
import type { WorkLimit } from '../limits/work-limit.js'

/** What the owner of a node has said last; a limit counts where he has said nothing. */
export interface OwnersWish {
  /** @param forMs  null: until `resume` */
  pause(forMs: number | null, atOnce: boolean): void
  resume(): void
  finish(): void
  /** The duty at this moment. */
  dutyUnder(limit: WorkLimit): Duty
}

export function createOwnersWish(clock: Pick<Clock, 'now'>): OwnersWish {
  let pause: { readonly untilMs: number | null; readonly atOnce: boolean } | null = null
  let finishing = false
  return {
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
      if (pause?.untilMs != null && clock.now() >= pause.untilMs) pause = null
      if (pause !== null) return { kind: 'rest', why: 'paused by its owner', ...pause }
      const permit = limit.mayWork()
      if (permit.ok) return { kind: 'work' }
      return { kind: 'rest', why: permit.why, untilMs: permit.untilMs ?? null, atOnce: permit.atOnce ?? false }
    },
  }
}
