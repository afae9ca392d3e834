import type { Clock, SwarmLogger } from '../../swarm/index.js'

/** Periodic duties of a coordinator. */
export interface Duties {
  releaseLapsed(): Promise<void>
  /** Releases the leases of banned keys. */
  takeBack(): Promise<void>
  /** Opens another round when a key waits for one. */
  openRound(): Promise<void>
  auditSuspects(): void
  /** Records which batches contain groups of keys that were caught later. */
  nameDoubtedBatches(): Promise<void>
  /** Records when the last volunteer is gone, and when one is back. */
  lookForVolunteers(): Promise<void>
  /** Records when groups or connections fall to a fraction of what they were. */
  lookForStrain(): Promise<void>
  readonly clock: Clock
  readonly logger: SwarmLogger
}

const TICK_MS = 200

/**
 * Runs the periodic duties of a coordinator until the signal fires. A duty that fails is logged and runs again in the
 * next turn. It does not delay the others.
 */
export async function keepHouse(duties: Duties, signal: AbortSignal): Promise<void> {
  const { clock, logger } = duties
  const attempt = async (what: string, duty: () => Promise<void>): Promise<void> => {
    try {
      await duty()
    } catch (error) {
      if (!signal.aborted) logger.error({ duty: what, error }, 'a periodic duty failed')
    }
  }
  while (!signal.aborted) {
    await attempt('lapsed leases', () => duties.releaseLapsed())
    await attempt('leases of banned keys', () => duties.takeBack())
    await attempt('rounds', () => duties.openRound())
    await attempt('suspects', async () => duties.auditSuspects())
    await attempt('doubted batches', () => duties.nameDoubtedBatches())
    await attempt('volunteers', () => duties.lookForVolunteers())
    await attempt('strain', () => duties.lookForStrain())
    await clock.sleep(TICK_MS, signal).catch(() => undefined)
  }
}
