import { SwarmRefusal } from '../../proto/index.js'
import { requestLeaderboard, type SwarmHost, TransportError } from '../../swarm/index.js'
import type { NodeProgress } from '../report/progress.js'

export interface TeamParts {
  /** Null: none any more; undefined: nothing is to be told. */
  readonly team: string | null | undefined
  readonly onProgress: (progress: NodeProgress) => void
  readonly signal: AbortSignal
}

/** The coordinator has heard it, and would say the same again. */
const isAnswered = (error: TransportError | SwarmRefusal): boolean =>
  error instanceof TransportError && error.code === 'refused' && error.refusal === 'rate_limited'

/**
 * Tells the coordinator which team the node's credit counts for, until it has heard it.
 * @returns  to be called when it can be told something: often, it does not wait
 */
export function teamRegistration(host: SwarmHost, { team, onProgress, signal }: TeamParts): () => void {
  let isTold = team === undefined
  let isUnderWay = false
  const tell = async (): Promise<void> => {
    try {
      await requestLeaderboard(host, host.runId, { peerId: null, ...(team === undefined ? {} : { team }) }, signal)
      isTold = true
    } catch (error) {
      if (!(error instanceof TransportError || error instanceof SwarmRefusal)) throw error
      if (!isAnswered(error)) {
        host.logger.debug({ error }, 'the team is told later')
        return
      }
      isTold = true
      onProgress({ type: 'notice', text: `the run does not take the team: ${error.detail}` })
    } finally {
      isUnderWay = false
    }
  }
  return () => {
    if (isTold || isUnderWay || signal.aborted) return
    isUnderWay = true
    tell().catch((error: unknown) => {
      if (!signal.aborted) host.logger.warn({ error }, 'the team could not be told')
    })
  }
}
