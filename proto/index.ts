export { applyMoves, DIFFERENCE_BLOCK_BYTES, movesOf } from './adapter-difference.js'
export { type AddressNotice, addressNotice, openAddressNotice, sealAddressNotice } from './address-notice.js'
export { chunkListOf, chunkListSha256, readChunkList } from './chunk-list.js'
export type { Codec } from './codec.js'
export { isSha256, type Sha256, sha256, toHex } from './content-id.js'
export {
  ENVELOPE_KINDS,
  type EnvelopeKind,
  openEnvelope,
  peerIdOfKey,
  peerIdOfPublicKey,
  sealEnvelope,
  signerOf,
} from './envelope.js'
export {
  detailForWire,
  type GossipEffect,
  isRefusalCode,
  REFUSALS,
  type RefusalCode,
  type RefusalConsequence,
  refusal,
  SwarmRefusal,
} from './errors.js'
export { encodeFrame, FRAME_HEADER_BYTES, frameLength } from './frame.js'
export {
  type GroupAnnouncement,
  groupAnnouncement,
  INLINE_BODY_BYTES,
  type OpenedGroupAnnouncement,
  openGroupAnnouncement,
  sealGroupAnnouncement,
} from './group-announcement.js'
export {
  type GroupBody,
  groupBody,
  type RecordedCall,
  type RecordedRollout,
} from './group-body.js'
export { type GroupRequest, groupRequest } from './group-request.js'
export {
  type Invitation,
  InvitationError,
  type InvitedBase,
  invitationText,
  isInvitationText,
  isSource,
  looksLikeInvitation,
  openInvitation,
  parseInvitation,
  sealInvitation,
} from './invitation.js'
export {
  isTeamName,
  type Leaderboard,
  type LeaderboardKey,
  type LeaderboardRequest,
  type LeaderboardTeam,
  leaderboard,
  leaderboardRequest,
  leaderboardResponse,
  openLeaderboard,
  sealLeaderboard,
} from './leaderboard.js'
export {
  ID_BYTES,
  type Lease,
  type LeaseAsk,
  type LeaseRequest,
  type LeaseResponse,
  leaseRequest,
  leaseResponse,
  type ReturnReason,
} from './lease.js'
export { LEAVE_REASONS, type Leave, type LeaveReason, leaveNotice } from './leave.js'
export { LIMITS, type Limit, type LimitName } from './limits.js'
export { contradiction, type IssuedHead, issuedHead, type LogHead, openHead, sealHead } from './log-head.js'
export {
  type AdapterDifference,
  BLOB_ROLES,
  type BlobDescription,
  type BlobRole,
  type Canary,
  type CanaryTolerance,
  checkSuccession,
  chunkCount,
  chunkLength,
  type EpisodeLimits,
  openManifest,
  type PolicyManifest,
  policyManifest,
  type SealedManifest,
  sealManifest,
} from './manifest.js'
export { expandMask, toMaskRuns } from './mask.js'
export { MerkleTree, merkleRoot, rootByPath } from './merkle.js'
export {
  PROTOCOL_VERSION,
  PROTOCOLS,
  type ProtocolName,
  SHARD_COUNTS,
  type Shard,
  shardAt,
  shardOf,
  shardPlace,
  shardsFor,
  shardTopicsOf,
  type TopicNames,
  topicsOf,
} from './names.js'
export type { PeerAddresses } from './peer-addresses.js'
export {
  PLAIN_SAMPLER,
  type PolicyDescription,
  policyIdOf,
} from './policy.js'
export {
  announcementOf,
  type Demand,
  openPolicyAnnouncement,
  type PolicyAnnouncement,
  policyAnnouncement,
  sealPolicyAnnouncement,
} from './policy-announcement.js'
export { EVIDENCE_ROLES, PUBLISHED_FILES, type PublishedFile } from './published-files.js'
export { openRederivation, type RederivationStatement, rederivation, sealRederivation } from './rederivation.js'
export { type Reply, reply } from './reply.js'
export {
  manifestIdList,
  readManifestIds,
  SNAPSHOT_STATUSES,
  type SnapshotRequest,
  type SnapshotResponse,
  type SnapshotWant,
  snapshotRequest,
  snapshotResponse,
} from './snapshot.js'
export { decodeTaskSet, encodeTaskSet } from './task-set-bits.js'
export { type Scalars, tensorboardFile } from './tensorboard.js'
export {
  runConfigurationId,
  type TrainingBatch,
  type TrainingGroup,
  type TrainingRecord,
  trainingBatch,
} from './training-batch.js'
export {
  openVerdictDigest,
  sealVerdictDigest,
  type Verdict,
  type VerdictDigest,
  type VerdictProof,
  type VerdictRequest,
  type VerdictResponse,
  verdictDigest,
  verdictRequest,
  verdictResponse,
} from './verdict.js'
export { acceptsGroup, parseVerdictLeaf, type VerdictLeaf, verdictLeafText } from './verdict-leaf.js'
