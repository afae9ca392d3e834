import type { IdentifyResult, Libp2p } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'
import { addressBlock } from './address-block.js'
import { type Reach, reachOf, widest } from './reach.js'

/**
 * Selects the addresses that a host puts into its signed peer record, which peers may pass on.
 * @param runReach  from where the run can be dialled; null: the host is the run's coordinator
 */
export function addressesToAnnounce(addresses: readonly Multiaddr[], runReach: Reach | null): Multiaddr[] {
  const usable = addresses.filter((address) => reachOf(address) !== 'nowhere')
  if (runReach === null || runReach === 'machine') return widest(usable)
  return usable.filter((address) => reachOf(address) === 'anywhere' || reachOf(address) === runReach)
}

/**
 * Keeps private addresses out of gossipsub's peer exchange. A record is signed as a whole, so it is passed on or not. Once peers come
 * from more than one network, records with private addresses are not passed on.
 */
export function keepLocalRecords(libp2p: Pick<Libp2p, 'addEventListener' | 'peerStore'>): void {
  const networks = new Set<string | null>()
  const local = new Set<IdentifyResult['peerId']>()
  const forget = (peer: IdentifyResult['peerId']): void => {
    // Saves the peer without its record, because a patch cannot remove one. A peer that left the store is not passed on either.
    libp2p.peerStore
      .get(peer)
      .then(({ addresses, protocols, metadata, tags }) =>
        libp2p.peerStore.save(peer, { addresses, protocols, metadata, tags }),
      )
      .catch(() => undefined)
  }
  libp2p.addEventListener('peer:identify', ({ detail: { peerId, connection, signedPeerRecord } }) => {
    if (networks.size < 2) networks.add(addressBlock(connection.remoteAddr.toString()))
    const isLocal = signedPeerRecord?.addresses.some((address) => reachOf(address) !== 'anywhere')
    if (isLocal && networks.size < 2) local.add(peerId)
    else if (isLocal) forget(peerId)
    if (networks.size < 2) return
    for (const peer of local) forget(peer)
    local.clear()
  })
}
