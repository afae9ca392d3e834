import { multiaddr } from '@multiformats/multiaddr'
import { distinct, label } from './bounds.js'
import type { Decoded } from './codec.js'
import { refusal } from './errors.js'
import type { prove } from './gen/swarm.js'
import { LIMITS } from './limits.js'
import { bytes, type FieldShape, message } from './wire-shape.js'

/** The addresses of a peer. The peer that answers must prove the key. */
export interface PeerAddresses {
  readonly peerId: string
  /** libp2p addresses, without the peer id at the end. */
  readonly addresses: readonly string[]
}

export const ADDRESSES = bytes(LIMITS.addressesPerPeer.value)
export const PEERS: FieldShape = message({ 1: bytes(), 2: ADDRESSES }, LIMITS.peersNamed.value)

export const readAddresses = (list: readonly string[], what: string): readonly string[] => {
  for (const address of list) {
    label(address, 'nameBytes', what)
    try {
      multiaddr(address)
    } catch (cause) {
      throw refusal('malformed', `${what} is not a libp2p address`, { cause })
    }
  }
  distinct(list, what)
  return list
}

export const readPeers = (list: readonly Decoded<prove.PeerAddresses.$Properties>[]): readonly PeerAddresses[] => {
  const peers = list.map(({ peerId, addresses }) => {
    if (addresses.length === 0) throw refusal('malformed', 'a peer without an address')
    return { peerId: label(peerId, 'nameBytes', 'peer id'), addresses: readAddresses(addresses, 'address of a peer') }
  })
  distinct(
    peers.map(({ peerId }) => peerId),
    'peers',
  )
  return peers
}

/** Copies readonly lists for the encoder, which does not accept them. */
export const writePeers = (peers: readonly PeerAddresses[]): prove.PeerAddresses.$Properties[] =>
  peers.map(({ peerId, addresses }) => ({ peerId, addresses: [...addresses] }))
