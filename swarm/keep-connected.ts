import { TransportError } from './errors.js'
import type { SwarmHost } from './host.js'
import { createRateLimit } from './rate-limit.js'

/** A connection that is dialled again whenever it is lost. */
export interface KeptConnection {
  /** Resolves when the peer is connected. @throws TransportError `closed` */
  connected(signal: AbortSignal): Promise<void>
  /** Why the last attempt failed; null: the peer is connected, or no attempt has failed. */
  readonly problem: string | null
  /** Dials again at once, after a new address or the return of the network. Does nothing while the peer is connected. */
  retry(): void
  close(): Promise<void>
}

export interface KeptPeer {
  readonly peerId: string
  /** Returns the peer's addresses, the likeliest first. Called before every attempt. */
  addresses(): readonly string[]
}

const FIRST_DELAY_MS = 500
/** After an outage of hours, ten thousand nodes return at some 70 a second. */
const LONGEST_DELAY_MS = 180_000
const DIAL_TIMEOUT_MS = 10_000
const EARLY_PER_MINUTE = 6

/**
 * Dials a peer's addresses one after the other, until one answers. libp2p would spend the whole time limit on the first silent address.
 * @throws TransportError `unreachable` with the failure of each address; the signal's reason
 */
export async function dialAny(
  host: Pick<SwarmHost, 'dial' | 'clock'>,
  addresses: readonly string[],
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
 * Keeps a connection to one peer: dials at once, and again whenever it is lost, with a longer delay after each failure. libp2p's own
 * reconnection gives up after five attempts, but a volunteer must wait for a coordinator's restart.
 * @param random  returns 0 .. 1, to spread the dials of many nodes after a restart
 */
export function keepConnected(
  host: SwarmHost,
  { peerId, addresses }: KeptPeer,
  random: () => number = Math.random,
): KeptConnection {
  const logger = host.logger.child({ part: 'connection' })
  const closing = new AbortController()
  const { signal } = closing
  /** Limits early retries, which connecting and disconnecting peers cause. */
  const early = createRateLimit(host.clock, EARLY_PER_MINUTE, 3)
  let wake: (() => void) | null = null
  let restart = new AbortController()
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
          // The connection may be lost between the test above and this listener.
          if (!host.isConnected(peerId) || signal.aborted) resolve()
        })
        continue
      }
      restart = new AbortController()
      try {
        await dialAny(host, addresses(), signal)
      } catch (error) {
        if (signal.aborted) return
        problem = (error as TransportError).detail
        logger.info({ peer: peerId, error }, 'cannot reach the coordinator')
        const ending = AbortSignal.any([signal, restart.signal])
        await host.clock.sleep(delayMs * (0.5 + random() / 2), ending).catch(() => {})
        delayMs = restart.signal.aborted ? FIRST_DELAY_MS : Math.min(LONGEST_DELAY_MS, delayMs * 2)
      }
    }
  }
  const running = run()

  return {
    get problem() {
      return problem
    },
    retry() {
      if (early.allow('retry')) restart.abort()
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
