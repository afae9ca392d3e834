export { checkPeerId, invitedAddress, type JoinAddress, parseJoinAddress } from './address.js'
export { addressBlock } from './address-block.js'
export { type AddressNotices, openAddressNotices, type SealedNotice } from './address-notices.js'
export { applyDifference, storeDifference } from './blob-difference.js'
export { type BlobStore, createBlobStore, describeFile } from './blob-store.js'
export {
  type AnnouncementFilter,
  type Channels,
  channelsOf,
  createAnnouncementFilter,
  type ReceivedGroup,
  receiveGroup,
} from './channels.js'
export { type Clock, systemClock } from './clock.js'
export { type ConnectedPeers, followPeers } from './connected-peers.js'
export { BlobError, IdentityError, TransportError } from './errors.js'
export {
  requestLeaderboard,
  requestLeases,
  requestVerdicts,
  serveLeaderboard,
  serveLeases,
  serveVerdicts,
} from './exchanges.js'
export type { OtherSource } from './fetch-options.js'
export type { Channel, Gossip, Listener } from './gossip.js'
export { fetchGroupBody, offerGroup, serveGroups } from './group-exchange.js'
export { createHost, type PeerConnection, type SwarmHost } from './host.js'
export { exportIdentity, type Identity, importIdentity, openIdentity, readKey } from './identity.js'
export { dialAny, type KeptConnection, keepConnected } from './keep-connected.js'
export type { Discovery } from './libp2p-node.js'
export { createStderrLogger, type SwarmLogger, silentLogger } from './logger.js'
export { createMetrics, type Metrics } from './metrics.js'
export { type KnownPeer, keepNeighbours, type Neighbours } from './neighbours.js'
export { partialFiles } from './partial-blob.js'
export { createRateLimit } from './rate-limit.js'
export {
  addressesForOthers,
  couldBeOf,
  type DirectReach,
  mayBeShared,
  type Reach,
  reachOf,
  widest,
  withoutPeer,
} from './reach.js'
export type { OnRefusal, RefusalEvent } from './refusal-event.js'
export type { Caller, ServeOptions, Server } from './request-response.js'
export type { Crowding, PeerTier, Serving } from './serving.js'
export { createShardHub, createShardMember, type ShardHub, type ShardMember } from './shards.js'
export { createSnapshotExchange, type SnapshotExchange, type SnapshotExchangeOptions } from './snapshot-exchange.js'

export type { SnapshotSource } from './snapshot-source.js'
export type { Bandwidth } from './upload-budget.js'
