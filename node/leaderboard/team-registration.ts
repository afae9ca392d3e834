import { SwarmRefusal } from '../../proto/index.js'
import { requestLeaderboard, type SwarmHost, TransportError } from '../../swarm/index.js'
import type { NodeProgress } from '../report/progress.js'

export interface TeamParts {
  /** Null: no team any more; undefined: unchanged. */
  readonly team: string | null | undefined
  readonly onProgress: (progress: NodeProgress) => void
  readonly signal: AbortSignal
}

/** Whether the coordinator refused the team for good. */
const isAnswered = (error: TransportError | SwarmRefusal): boolean =>
  error instanceof TransportError && error.code === 'refused' && error.refusal === 'rate_limited'

/**
 * Registers the team of the node's credit with the coordinator.
 * @returns a function that tries once, without waiting: call it whenever the coordinator may accept requests
 */
export function teamRegistration(host: SwarmHost, { team, onProgress, signal }: TeamParts): () => void {
  let isRegistered = team === undefined
  let isUnderWay = false
  const register = async (): Promise<void> => {
    try {
      await requestLeaderboard(host, host.runId, { peerId: null, ...(team === undefined ? {} : { team }) }, signal)
      isRegistered = true
    } catch (error) {
      if (!(error instanceof TransportError || error instanceof SwarmRefusal)) throw error
      if (!isAnswered(error)) {
        host.logger.debug({ error }, 'the team is registered later')
        return
      }
      isRegistered = true
      onProgress({ type: 'notice', text: `the coordinator did not accept the team: ${error.detail}` })
    } finally {
      isUnderWay = false
    }
  }
  return () => {
    if (isRegistered || isUnderWay || signal.aborted) return
    isUnderWay = true
    register().catch((error: unknown) => {
      if (!signal.aborted) host.logger.warn({ error }, 'the team could not be registered')
    })
  }
}
