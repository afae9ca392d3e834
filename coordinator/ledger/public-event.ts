import type { RunEvent } from './events.js'

type Shown<E> = E extends RunEvent ? Omit<E, 'roundSecret'> : never

/** An event without what only the run's owner may know. */
export type PublicEvent = Shown<RunEvent>

/**
 * An event as it may be shown to anybody at any time. Whoever knows the secret of a round that is open knows the seeds of all its
 * leases before they are given; a manifest tells it when the round is over.
 */
export function publicEvent(event: RunEvent): PublicEvent {
  if (!('roundSecret' in event)) return event
  const { roundSecret: _, ...shown } = event
  return shown
}
