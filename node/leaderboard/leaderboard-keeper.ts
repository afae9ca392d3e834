import { LIMITS, openLeaderboard, SwarmRefusal } from '../../proto/index.js'
import { requestLeaderboard, type SwarmHost, TransportError } from '../../swarm/index.js'
import { type LeaderboardPlace, placeOn } from '../report/leaderboard-place.js'

/** Keeps the newest leaderboard for other nodes, which need it while the coordinator is offline. */
export interface LeaderboardKeeper {
  /** The leaderboard as signed by the run; null: not fetched yet. */
  readonly newest: Uint8Array | null
  /** Asks the coordinator for a newer leaderboard, if one is due. Without an answer the last one stays. */
  refresh(signal: AbortSignal): Promise<void>
}

/**
 * @param onPlace  receives the place of the node on each newer leaderboard, if the node has one
 */
export function createLeaderboardKeeper(
  host: SwarmHost,
  onPlace: (place: LeaderboardPlace) => void = () => undefined,
): LeaderboardKeeper {
  const { clock, runId, logger } = host
  let kept: { readonly sealed: Uint8Array; readonly issuedAtMs: number } | null = null
  let askedAtMs = Number.NEGATIVE_INFINITY
  let asking: Promise<void> | null = null

  const ask = async (signal: AbortSignal): Promise<void> => {
    try {
      const sealed = await requestLeaderboard(host, runId, { peerId: host.peerId }, signal)
      const leaderboard = await openLeaderboard(sealed, runId)
      const { issuedAtMs } = leaderboard
      if (kept !== null && issuedAtMs < kept.issuedAtMs) return
      kept = { sealed, issuedAtMs }
      const place = placeOn(leaderboard, host.peerId)
      if (place !== null) onPlace(place)
    } catch (error) {
      if (!signal.aborted && !(error instanceof TransportError || error instanceof SwarmRefusal)) throw error
      logger.debug({ error }, 'the coordinator sent no leaderboard')
    } finally {
      asking = null
    }
  }

  return {
    get newest() {
      return kept?.sealed ?? null
    },
    async refresh(signal) {
      const now = clock.elapsedMs()
      if (asking === null && now - askedAtMs >= LIMITS.leaderboardFreshMs.value && host.isConnected(runId)) {
        askedAtMs = now
        asking = ask(signal)
      }
      await asking
    },
  }
}
