import type { Clock } from '../../swarm/index.js'
import { NodeError } from '../report/errors.js'

/** The duty of a node, from the requests of its owner and the limits of the machine. */
export type Duty =
  | { readonly kind: 'work' }
  | Rest
  /** Finish the groups in progress, wait for their verdicts, end. */
  | { readonly kind: 'finish' }

/** A pause of the work. */
export interface Rest {
  readonly kind: 'rest'
  readonly why: string
  /** When the rest ends, if that is known. */
  readonly untilMs: number | null
  /** Whether the groups in progress are given back instead of finished. */
  readonly atOnce: boolean
}

/** The current duty of a node. */
export interface PauseControl {
  readonly duty: Duty
  /** Returns a function that stops the listener. */
  onChange(listener: (duty: Duty) => void): () => void
}

/** A pause control whose duty can be set. */
export interface SettablePauseControl extends PauseControl {
  set(duty: Duty): void
}

/** A pause control without pauses. */
export const ALWAYS_WORK: PauseControl = { duty: { kind: 'work' }, onChange: () => () => undefined }

export function createPauseControl(): SettablePauseControl {
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
    set(next) {
      if (isSame(duty, next)) return
      duty = next
      for (const listener of [...listeners]) listener(next)
    },
  }
}

const isSame = (a: Duty, b: Duty): boolean =>
  a.kind === b.kind &&
  (a.kind !== 'rest' || b.kind !== 'rest' || (a.why === b.why && a.untilMs === b.untilMs && a.atOnce === b.atOnce))

/** A signal that fires at the first duty of some kind, and stays so. */
export interface DutySignal {
  readonly signal: AbortSignal
  close(): void
}

/** Returns a signal that fires when the duty matters, now or later. */
export function dutySignal(pauseControl: PauseControl, matters: (duty: Duty) => boolean): DutySignal {
  const changed = new AbortController()
  const look = (duty: Duty): void => {
    if (matters(duty)) changed.abort(new NodeError('stopped', `the duty of this node is now: ${duty.kind}`))
  }
  const close = pauseControl.onChange(look)
  look(pauseControl.duty)
  return { signal: changed.signal, close }
}

export const isOffDuty = ({ kind }: Duty): boolean => kind !== 'work'
export const isUrgent = (duty: Duty): boolean => duty.kind === 'rest' && duty.atOnce

/** The longest sleep before the duty is read again. */
const LONGEST_WAIT_MS = 3_600_000

/**
 * Waits until a rest is over.
 * @returns the duty after the rest
 * @throws the signal's reason
 */
export async function waitForDuty(
  pauseControl: PauseControl,
  clock: Pick<Clock, 'sleep'>,
  { onRest, signal }: { onRest(rest: Rest): Promise<void>; readonly signal: AbortSignal },
): Promise<'work' | 'finish'> {
  for (;;) {
    const { duty } = pauseControl
    if (duty.kind !== 'rest') return duty.kind
    const over = dutySignal(pauseControl, (other) => other !== duty)
    try {
      await onRest(duty)
      await clock.sleep(LONGEST_WAIT_MS, AbortSignal.any([signal, over.signal])).catch(() => undefined)
      signal.throwIfAborted()
    } finally {
      over.close()
    }
  }
}

/**
 * Does work that a rest may interrupt, and begins it again after the rest.
 * @throws NodeError `stopped` when the node is to finish; the signal's reason
 */
export async function whileOnDuty<T>(
  pauseControl: PauseControl,
  clock: Pick<Clock, 'sleep'>,
  work: (signal: AbortSignal) => Promise<T>,
  { onRest, onResumed, signal }: Parameters<typeof waitForDuty>[2] & { onResumed(): void },
): Promise<T> {
  for (;;) {
    const off = dutySignal(pauseControl, isOffDuty)
    try {
      return await work(AbortSignal.any([signal, off.signal]))
    } catch (error) {
      const isInterrupted = off.signal.aborted && error === off.signal.reason
      if (!isInterrupted || pauseControl.duty.kind === 'finish') throw error
    } finally {
      off.close()
    }
    if ((await waitForDuty(pauseControl, clock, { onRest, signal })) === 'finish')
      throw new NodeError('stopped', 'the owner ended this node before its work began')
    onResumed()
  }
}
