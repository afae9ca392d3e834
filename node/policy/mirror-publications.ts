import type { SwarmHost } from '../../swarm/index.js'
import type { PolicyKeeper } from './policy-keeper.js'

export interface MirrorParts {
  readonly host: Pick<SwarmHost, 'clock' | 'logger'>
  readonly keeper: Pick<PolicyKeeper, 'loaded' | 'fetchRest'>
}

/** Delay after which other files are fetched: all nodes fetch the adapter of a new version first. */
const LATER_MS = 10_000

/**
 * Fetches the other files of each version that the node works under. A failed download is repeated.
 * @returns when the signal has fired; never rejects
 */
export async function mirrorPublications(
  { host: { clock, logger }, keeper }: MirrorParts,
  signal: AbortSignal,
): Promise<void> {
  let done: string | null = null
  while (!signal.aborted) {
    await clock.sleep(LATER_MS, signal).catch(() => undefined)
    const { loaded } = keeper
    if (signal.aborted || loaded === null || loaded.manifestId === done) continue
    try {
      await keeper.fetchRest(signal)
      done = loaded.manifestId
    } catch (error) {
      if (!signal.aborted) logger.info({ error }, 'published files could not be fetched yet')
    }
  }
}
