import type { Clock } from '../../swarm/index.js'

/** What a node is to do, by the wish of its owner and by the limits of the machine. */
export type Duty =
  | { readonly kind: 'work' }
  | Rest
  /** Finish the group in hand, wait for the verdicts, end. */
  | { readonly kind: 'finish' }

export interface Rest {
  readonly kind: 'rest'
  readonly why: string
  /** When it is known to end. */
  readonly untilMs: number | null
  /** The group in hand is given back instead of finished. */
  readonly atOnce: boolean
}

/** What a node asks before each group. */
export interface PauseControl {
  readonly duty: Duty
  /** @returns  stops listening */
  onChange(listener: (duty: Duty) => void): () => void
}

/** A gate that whoever steers the node turns. */
export interface ChangedPauseControl extends PauseControl {
  turn(duty: Duty): void
}

export const OPEN: PauseControl = { duty: { kind: 'work' }, onChange: () => () => undefined }

export function createPauseControl(): ChangedPauseControl {
  const listeners = new Set<(duty: Duty) => void>()
  let duty: Duty = { kind: 'work' }
  return {
    get duty() {
      return duty
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    turn(next) {
      if (isSame(duty, next)) return
      duty = next
      for (const listener of [...listeners]) listener(next)
    },
  }
}

const isSame = (a: Duty, b: Duty): boolean =>
  a.kind === b.kind &&
  (a.kind !== 'rest' || b.kind !== 'rest' || (a.why === b.why && a.untilMs === b.untilMs && a.atOnce === b.atOnce))

/** Why what was under way is left: the gate was turned. */
export const TURNED = new Error('the gate was turned')

/** Fires, with `TURNED`, once the duty is such a one; from then on it stays so. */
export interface TurnedSignal {
  readonly signal: AbortSignal
  close(): void
}

export function turnedTo(pauseControl: PauseControl, matters: (duty: Duty) => boolean): TurnedSignal {
  const turned = new AbortController()
  const look = (duty: Duty): void => {
    if (matters(duty)) turned.abort(TURNED)
  }
  const close = pauseControl.onChange(look)
  look(pauseControl.duty)
  return { signal: turned.signal, close }
}

export const isOffDuty = ({ kind }: Duty): boolean => kind !== 'work'
export const isUrgent = (duty: Duty): boolean => duty.kind === 'rest' && duty.atOnce

/** So long a rest is waited out at most before the gate is asked again. */
const LONGEST_WAIT_MS = 3_600_000

/**
 * Waits out a rest.
 * @returns  whether there is work to be done then; false: the node is to finish
 * @throws the signal's reason
 */
export async function waitForDuty(
  pauseControl: PauseControl,
  clock: Pick<Clock, 'sleep'>,
  { onRest, signal }: { onRest(rest: Rest): Promise<void>; readonly signal: AbortSignal },
): Promise<boolean> {
  while (pauseControl.duty.kind === 'rest') {
    const rest = pauseControl.duty
    const over = turnedTo(pauseControl, (duty) => duty !== rest)
    try {
      await onRest(rest)
      await clock.sleep(LONGEST_WAIT_MS, AbortSignal.any([signal, over.signal]))
    } catch (why) {
      if (why !== TURNED) throw why
    } finally {
      over.close()
    }
  }
  return pauseControl.duty.kind === 'work'
}

/**
 * Does work that may be left and begun again: while the node is to rest it is.
 * @throws TURNED when the node is to finish; the signal's reason
 */
export async function whileOnDuty<T>(
  pauseControl: PauseControl,
  clock: Pick<Clock, 'sleep'>,
  work: (signal: AbortSignal) => Promise<T>,
  { onRest, onResumed, signal }: Parameters<typeof waitForDuty>[2] & { onResumed(): void },
): Promise<T> {
  for (;;) {
    const turned = turnedTo(pauseControl, isOffDuty)
    try {
      return await work(AbortSignal.any([signal, turned.signal]))
    } catch (why) {
      if (why !== TURNED) throw why
    } finally {
      turned.close()
    }
    if (!(await waitForDuty(pauseControl, clock, { onRest, signal }))) throw TURNED
    onResumed()
  }
}
