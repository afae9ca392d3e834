import type { SwarmHost } from '../../swarm/index.js'
import type { NodeEvents } from '../network/events.js'
import type { PolicyKeeper } from './policy-keeper.js'

export interface FetchAheadParts {
  readonly host: Pick<SwarmHost, 'clock' | 'logger'>
  readonly keeper: Pick<PolicyKeeper, 'loaded' | 'fetchAhead'>
  readonly events: NodeEvents
  /** 0 .. 1, spreads what many nodes do at the same moment. */
  readonly random: () => number
}

/** Nodes that receive an announcement together begin within this time, so that later ones fetch from earlier ones. */
const SPREAD_MS = 2000

/**
 * Fetches the adapter of each version that is announced while groups are in progress, so that the engine does not wait for it later. The
 * update of the policy repeats a failed download, and reports its failure.
 * @returns when the signal has fired and the download has ended; never rejects
 */
export async function fetchAhead(
  { host: { clock, logger }, keeper, events, random }: FetchAheadParts,
  signal: AbortSignal,
): Promise<void> {
  const watch = events.listen()
  try {
    for (let begun = keeper.loaded?.manifest.version ?? -1; ; ) {
      const item = await watch.wait(
        null,
        (item) => item.type === 'announced' && item.announcement.version > begun,
        signal,
      )
      if (item?.type !== 'announced') continue
      begun = item.announcement.version
      await clock.sleep(random() * SPREAD_MS, signal)
      await keeper.fetchAhead(signal).catch((error: unknown) => {
        signal.throwIfAborted()
        logger.info({ error }, 'an adapter could not be fetched ahead')
      })
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    watch.close()
  }
}
