import type { JoinAddress } from './address.js'
import { TransportError } from './errors.js'
import type { SwarmHost } from './host.js'

export interface KeptConnection {
  /** Resolves when the peer is connected. @throws TransportError `closed` */
  connected(signal: AbortSignal): Promise<void>
  /** Why the last dial failed; null: none has since the peer was connected. */
  readonly problem: string | null
  close(): Promise<void>
}

const FIRST_DELAY_MS = 500
const LONGEST_DELAY_MS = 30_000
const DIAL_TIMEOUT_MS = 10_000

/**
 * Dials a peer's addresses one after the other, until one answers: libp2p would spend the time of all on the first that is silent.
 * @throws TransportError `unreachable` with what each of them said; the signal's reason
 */
export async function dialAny(
  host: Pick<SwarmHost, 'dial' | 'clock'>,
  { addresses }: Pick<JoinAddress, 'addresses'>,
  signal: AbortSignal,
): Promise<void> {
  const failures: string[] = []
  for (const address of addresses) {
    try {
      await host.dial(address, AbortSignal.any([signal, host.clock.timeout(DIAL_TIMEOUT_MS)]))
      return
    } catch (error) {
      signal.throwIfAborted()
      failures.push(error instanceof TransportError ? error.detail : `${address}: no answer`)
    }
  }
  throw new TransportError('unreachable', failures.join('; '))
}

/**
 * Keeps a connection to a peer: dials at once, and again whenever it is lost, waiting longer after each failure.
 * libp2p's own reconnection gives up after five attempts; a volunteer must outlast a coordinator's restart.
 * @param jitter  0 .. 1, spreads the dials of many nodes after a restart
 */
export function keepConnected(
  host: SwarmHost,
  { addresses, peerId }: JoinAddress,
  jitter: () => number = Math.random,
): KeptConnection {
  const logger = host.logger.child({ part: 'connection' })
  const closing = new AbortController()
  const { signal } = closing
  let wake: (() => void) | null = null
  const waiters = new Set<() => void>()
  const stopListening = host.onPeer(({ peer, connected }) => {
    if (peer !== peerId) return
    if (connected) for (const waiter of waiters) waiter()
    else wake?.()
  })

  let problem: string | null = null
  const run = async (): Promise<void> => {
    let delayMs = FIRST_DELAY_MS
    while (!signal.aborted) {
      if (host.isConnected(peerId)) {
        delayMs = FIRST_DELAY_MS
        problem = null
        await new Promise<void>((resolve) => {
          wake = resolve
          // Lost between the question and the listening.
          if (!host.isConnected(peerId) || signal.aborted) resolve()
        })
        continue
      }
      try {
        await dialAny(host, { addresses }, signal)
      } catch (error) {
        if (signal.aborted) return
        problem = (error as TransportError).detail
        logger.info({ addresses, error, delayMs }, 'cannot reach the coordinator')
        await host.clock.sleep(delayMs * (0.5 + jitter() / 2), signal).catch(() => {})
        delayMs = Math.min(LONGEST_DELAY_MS, delayMs * 2)
      }
    }
  }
  const running = run()

  return {
    get problem() {
      return problem
    },
    async connected(caller) {
      const both = AbortSignal.any([caller, signal])
      if (host.isConnected(peerId)) return
      let cleanUp = (): void => {}
      try {
        await new Promise<void>((resolve, reject) => {
          const onAbort = (): void => reject(both.reason)
          waiters.add(resolve)
          both.addEventListener('abort', onAbort, { once: true })
          cleanUp = () => {
            waiters.delete(resolve)
            both.removeEventListener('abort', onAbort)
          }
          if (both.aborted) onAbort()
        })
      } finally {
        cleanUp()
      }
    },
    async close() {
      if (!signal.aborted) closing.abort(new TransportError('closed', peerId))
      stopListening()
      wake?.()
      await running
    },
  }
}
