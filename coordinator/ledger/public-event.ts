import type { RunEvent } from './events.js'

type Shown<E> = E extends RunEvent ? Omit<E, 'roundSecret'> : never

/** An event without secrets of the run. */
export type PublicEvent = Shown<RunEvent>

/**
 * Removes the secret of a round from an event. With the secret of an open round, anyone could compute the seeds of all its leases in
 * advance. A manifest publishes it when the round is over.
 */
export function publicEvent(event: RunEvent): PublicEvent {
  if (!('roundSecret' in event)) return event
  const { roundSecret: _, ...shown } = event
  return shown
}
