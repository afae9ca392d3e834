import type { SwarmHost } from './host.js'

/** The peers that a host is connected with, without a walk over all connections. */
export interface ConnectedPeers extends ReadonlySet<string> {
  /** Stops following the host. */
  close(): void
}

export function followPeers(host: Pick<SwarmHost, 'connections' | 'onPeer'>): ConnectedPeers {
  const peers = new Set(host.connections().map(({ peer }) => peer))
  const stop = host.onPeer(({ peer, connected }) => {
    if (connected) peers.add(peer)
    else if (host.connections(peer).length === 0) peers.delete(peer)
  })
  return Object.assign(peers, { close: stop })
}
