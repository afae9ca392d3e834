import type { Clock, KeptConnection } from '../../swarm/index.js'
import type { NodeProgress } from '../report/progress.js'

export interface ConnectionParts {
  /** The connection to the coordinator. */
  readonly connection: Pick<KeptConnection, 'connected' | 'problem'>
  readonly host: { readonly clock: Pick<Clock, 'sleep'> }
  readonly onProgress: (progress: NodeProgress) => void
}

/** How long a connection may be missing before the owner reads about it. */
const PATIENCE_MS = 5000

/**
 * Waits for the connection to the coordinator, and reports a wait of more than five seconds.
 * @throws the signal's reason
 */
export async function untilConnected(
  { connection, onProgress, host: { clock } }: ConnectionParts,
  signal: AbortSignal,
): Promise<void> {
  const arrived = new AbortController()
  let isReported = false
  clock.sleep(PATIENCE_MS, arrived.signal).then(
    () => {
      isReported = true
      onProgress({ type: 'offline', detail: connection.problem ?? 'no answer yet' })
    },
    () => undefined,
  )
  try {
    await connection.connected(signal)
    if (isReported) onProgress({ type: 'online' })
  } finally {
    arrived.abort()
  }
}
