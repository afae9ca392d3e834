import { peerIdFromString } from '@libp2p/peer-id'
import { multiaddr } from '@multiformats/multiaddr'
import type { Invitation } from '../proto/index.js'

/** The addresses of a run's coordinator. The key at the end of each address names the run; the node accepts no other signature. */
export interface JoinAddress {
  /** In the order in which to try them. */
  readonly addresses: readonly string[]
  /** Peer id of the coordinator, which is also the run id. */
  readonly peerId: string
}

const PARTS: ReadonlySet<string> = new Set(['ip4', 'ip6', 'ip6zone', 'dns', 'dns4', 'dns6', 'tcp', 'p2p'])

/**
 * Reads the address that a volunteer types, for example `/ip4/203.0.113.5/tcp/4001/p2p/12D3KooW...`.
 * @throws TypeError with a message for the user
 */
export function parseJoinAddress(text: string): JoinAddress {
  let components: { name: string; value?: string }[]
  try {
    components = multiaddr(text.trim()).getComponents()
  } catch (cause) {
    throw new TypeError(`not a network address: ${text.slice(0, 200)}`, { cause })
  }
  const last = components.at(-1)
  if (last?.name !== 'p2p' || !last.value)
    throw new TypeError("the address must end in /p2p/ and the coordinator's key")
  if (!components.some((part) => part.name === 'tcp')) throw new TypeError('the address needs a /tcp/ part')
  const foreign = components.find(({ name }) => !PARTS.has(name))
  if (foreign)
    throw new TypeError(
      `/${foreign.name}/ cannot be dialled: nodes use TCP alone, for example /ip4/203.0.113.5/tcp/4001/p2p/<key>`,
    )
  if (components[0]!.name === 'tcp') throw new TypeError('the address needs a host before /tcp/')
  return { addresses: [text.trim()], peerId: checkPeerId(last.value) }
}

/**
 * Returns the coordinator's addresses that an invitation contains and that this version can dial.
 * @throws TypeError if it contains none
 */
export function invitedAddress({ runId, addresses }: Pick<Invitation, 'runId' | 'addresses'>): JoinAddress {
  const failures: string[] = []
  const usable = addresses.flatMap((address) => {
    try {
      return parseJoinAddress(`${address}/p2p/${runId}`).addresses
    } catch (error) {
      failures.push((error as TypeError).message)
      return []
    }
  })
  if (usable.length === 0) throw new TypeError(failures.join('; '))
  return { addresses: usable, peerId: runId }
}

/** Checks a peer id. @throws TypeError if the text is not the peer id of an Ed25519 key */
export function checkPeerId(text: string): string {
  let peerId: ReturnType<typeof peerIdFromString>
  try {
    peerId = peerIdFromString(text)
  } catch (cause) {
    throw new TypeError(`not a peer id: ${text.slice(0, 100)}`, { cause })
  }
  if (peerId.type !== 'Ed25519') throw new TypeError(`not the peer id of an Ed25519 key: ${text.slice(0, 100)}`)
  return peerId.toString()
}
