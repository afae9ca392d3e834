import { LRUCache } from 'lru-cache'
import { LIMITS } from '../../proto/index.js'
import { addressBlock, type PeerConnection, type SwarmHost } from '../../swarm/index.js'

/**
 * Notes the addresses of nodes until the signal fires. A node that disconnects before its verdict keeps its address.
 * @returns  a function that returns the block of addresses of a node's last connection; null: unknown
 */
export function noteAddresses(
  host: Pick<SwarmHost, 'connections' | 'onPeer'>,
  signal: AbortSignal,
): (node: string) => string | null {
  const blocks = new LRUCache<string, string>({ max: LIMITS.coordinatorConnections.value })
  const note = ({ peer, address }: PeerConnection): void => {
    const block = addressBlock(address)
    if (block !== null) blocks.set(peer, block)
  }
  for (const connection of host.connections()) note(connection)
  const stop = host.onPeer(({ peer }) => {
    for (const connection of host.connections(peer)) note(connection)
  })
  signal.addEventListener('abort', stop, { once: true })
  return (node) => blocks.get(node) ?? null
}
