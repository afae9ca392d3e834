import type { ComponentLogger, PeerId } from '@libp2p/interface'
import { mdns } from '@libp2p/mdns'
import type { Multiaddr } from '@multiformats/multiaddr'
import { sha256 } from '../proto/index.js'
import { reachOf } from './reach.js'

/** The addresses of a host, as its libp2p node knows them. */
export interface AddressBook {
  /** All addresses, tried or not. */
  own(): readonly Multiaddr[]
  /** The addresses that peers have tried, or that the user has named. */
  proven(): readonly Multiaddr[]
}

interface KnowsAddresses {
  readonly addressManager: {
    getAddressesWithMetadata(): readonly { readonly multiaddr: Multiaddr; readonly verified: boolean }[]
  }
}

/** Creates the address book as a service of a libp2p node. */
export const addressBook = ({ addressManager }: KnowsAddresses): AddressBook => ({
  own: () => addressManager.getAddressesWithMetadata().map(({ multiaddr: address }) => address),
  proven: () =>
    addressManager
      .getAddressesWithMetadata()
      .filter(({ verified }) => verified)
      .map(({ multiaddr: address }) => address),
})

/**
 * Creates peer discovery by multicast DNS, under a service name that contains a hash of the run id. The multicast contains only
 * addresses of the local network. When the run is on the internet, these addresses leave this process in no other way.
 */
export const localNetwork =
  (runId: string) =>
  ({
    logger,
    addressManager,
    peerId,
  }: KnowsAddresses & { readonly logger: ComponentLogger; readonly peerId: PeerId }) =>
    mdns({ serviceTag: `_prove-${sha256(new TextEncoder().encode(runId)).slice(0, 16)}._udp.local` })({
      logger,
      addressManager: {
        getAddresses: () =>
          addressBook({ addressManager })
            .own()
            .filter((address) => reachOf(address) === 'network')
            .map((address) => address.encapsulate(`/p2p/${peerId}`)),
      } as unknown as Parameters<ReturnType<typeof mdns>>[0]['addressManager'],
    })
