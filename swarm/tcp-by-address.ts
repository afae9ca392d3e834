import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { addAbortListener } from 'node:events'
import type { Transport } from '@libp2p/interface'
import { tcp } from '@libp2p/tcp'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'

/** Of several addresses of a name each but the last must answer within this time. */
const ATTEMPT_MS = 3000

const FAMILIES: Readonly<Record<string, 0 | 4 | 6>> = { dns: 0, dns4: 4, dns6: 6 }

type LookUp = (name: string, options: { readonly family: 0 | 4 | 6; readonly all: true }) => Promise<LookupAddress[]>

/**
 * TCP that looks names up itself, so that a connection says which address it leads to: AutoNAT asks nobody whom it knows by a name only,
 * and a name that a stranger tells may stand for a machine of our own home.
 * When none of a name's addresses answers, the error tells why of each.
 * @param mayDial  whether an address may be dialled that was found under a name
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
      if (allowed.length === 0) throw new Error(`${address}: what this name stands for is not dialled`)
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

/** @returns  the address itself if it holds no name */
async function addressesOf(address: Multiaddr, lookUp: LookUp, signal: AbortSignal): Promise<Multiaddr[]> {
  const [host, ...rest] = address.getComponents()
  const family = FAMILIES[host?.name ?? '']
  if (family === undefined) return [address]
  const found = await unlessAborted(lookUp(host!.value!, { family, all: true }), signal)
  const behind = rest.map(({ name, value }) => (value === undefined ? `/${name}` : `/${name}/${value}`)).join('')
  return found.map((one) => multiaddr(`/ip${one.family}/${one.address}${behind}`))
}

/** The system's resolver cannot be called off. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const listening = addAbortListener(signal, () => reject(signal.reason))
    work.then(resolve, reject).finally(() => listening[Symbol.dispose]())
  })
}
