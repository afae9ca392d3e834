import type { Clock, SwarmLogger } from '../../swarm/index.js'

export interface Duties {
  releaseLapsed(): Promise<void>
  /** Takes leases back from keys that were banned. */
  takeBack(): Promise<void>
  /** Opens a further round when somebody waits for one. */
  openRound(): Promise<void>
  auditSuspects(): void
  /** Puts on record which batches hold groups of keys that were caught since. */
  nameDoubtedBatches(): Promise<void>
  readonly clock: Clock
  readonly logger: SwarmLogger
}

const TICK_MS = 200

/**
 * The slow, periodic duties of a coordinator, until the signal fires. A duty that fails is logged and done again at its
 * next turn; it never keeps the others from theirs.
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
    await clock.sleep(TICK_MS, signal).catch(() => undefined)
  }
}
