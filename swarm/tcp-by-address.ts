import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { addAbortListener } from 'node:events'
import type { Transport } from '@libp2p/interface'
import { tcp } from '@libp2p/tcp'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'

/** If a name has several addresses, each except the last must answer within this time. */
const ATTEMPT_MS = 3000

const FAMILIES: Readonly<Record<string, 0 | 4 | 6>> = { dns: 0, dns4: 4, dns6: 6 }

type LookUp = (name: string, options: { readonly family: 0 | 4 | 6; readonly all: true }) => Promise<LookupAddress[]>

/**
 * Creates a TCP transport that resolves names itself, so that each connection shows the dialled address. AutoNAT does not ask peers that
 * it knows only by name, and a stranger's name may resolve to a machine in the user's own home. If no address of a name answers, the
 * error contains the failure of each.
 * @param mayDial  decides whether an address that was found under a name may be dialled
 * @param lookUp   default: the system's resolver
 */
export const tcpByAddress =
  (mayDial: (named: Multiaddr, found: Multiaddr) => boolean, lookUp: LookUp = lookup) =>
  (components: Parameters<ReturnType<typeof tcp>>[0]): Transport => {
    const transport = tcp()(components)
    const dial = transport.dial.bind(transport)
    transport.dial = async (address, options) => {
      const found = await addressesOf(address, lookUp, options.signal)
      const allowed = found.filter((one) => one === address || mayDial(address, one))
      if (allowed.length === 0)
        throw new Error(`${address}: this name resolves only to addresses that a peer may not name`)
      const failures: string[] = []
      for (const [i, one] of allowed.entries()) {
        const isLast = i === allowed.length - 1
        const signal = isLast ? options.signal : AbortSignal.any([options.signal, AbortSignal.timeout(ATTEMPT_MS)])
        try {
          return await dial(one, { ...options, signal })
        } catch (cause) {
          options.signal.throwIfAborted()
          if (allowed.length === 1) throw cause
          failures.push(`${one}: ${cause instanceof Error ? cause.message : String(cause)}`)
        }
      }
      throw new Error(failures.join('; '))
    }
    return transport
  }

/** Resolves the name in an address. @returns  the address itself if it contains no name */
async function addressesOf(address: Multiaddr, lookUp: LookUp, signal: AbortSignal): Promise<Multiaddr[]> {
  const [host, ...rest] = address.getComponents()
  const family = FAMILIES[host?.name ?? '']
  if (family === undefined) return [address]
  const found = await unlessAborted(lookUp(host!.value!, { family, all: true }), signal)
  const behind = rest.map(({ name, value }) => (value === undefined ? `/${name}` : `/${name}/${value}`)).join('')
  return found.map((one) => multiaddr(`/ip${one.family}/${one.address}${behind}`))
}

/** Returns early on abort, because the system's resolver cannot be cancelled. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const listening = addAbortListener(signal, () => reject(signal.reason))
    work.then(resolve, reject).finally(() => listening[Symbol.dispose]())
  })
}
