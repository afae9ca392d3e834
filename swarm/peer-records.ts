import type { IdentifyResult, Libp2p } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'
import { addressBlock } from './address-block.js'
import { type Reach, reachOf, widest } from './reach.js'

/**
 * The addresses of its own that a host tells whoever connects to it, in a record which they may pass on.
 * @param runReach  from where the run can be dialled; null: the host is the run's coordinator
 */
export function addressesToTell(addresses: readonly Multiaddr[], runReach: Reach | null): Multiaddr[] {
  const usable = addresses.filter((address) => reachOf(address) !== 'nowhere')
  if (runReach === null || runReach === 'machine') return widest(usable)
  return usable.filter((address) => {
    const reach = reachOf(address)
    return reach === 'anywhere' || reach === 'relayed' || reach === runReach
  })
}

/**
 * Keeps peer exchange from telling strangers of addresses in a private network: a record is signed as a whole, and is passed on
 * or not. As soon as peers come from more than one network, those with such addresses are not.
 */
export function keepLocalRecords(libp2p: Pick<Libp2p, 'addEventListener' | 'peerStore'>): void {
  const networks = new Set<string | null>()
  const local = new Set<IdentifyResult['peerId']>()
  const forget = (peer: IdentifyResult['peerId']): void => {
    // Saved anew without it: a patch only adds. Gone from the store meanwhile, it is not passed on either.
    libp2p.peerStore
      .get(peer)
      .then(({ addresses, protocols, metadata, tags }) =>
        libp2p.peerStore.save(peer, { addresses, protocols, metadata, tags }),
      )
      .catch(() => undefined)
  }
  libp2p.addEventListener('peer:identify', ({ detail: { peerId, connection, signedPeerRecord } }) => {
    if (networks.size < 2 && connection.limits === undefined)
      networks.add(addressBlock(connection.remoteAddr.toString()))
    const isLocal = signedPeerRecord?.addresses.some((address) => !['anywhere', 'relayed'].includes(reachOf(address)))
    if (isLocal && networks.size < 2) local.add(peerId)
    else if (isLocal) forget(peerId)
    if (networks.size < 2) return
    for (const peer of local) forget(peer)
    local.clear()
  })
}
