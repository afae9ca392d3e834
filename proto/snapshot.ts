import { bytesOf, hexOf, integer } from './bounds.js'
import { type Codec, codec } from './codec.js'
import { type Sha256, toHex } from './content-id.js'
import { refusal } from './errors.js'
import { prove } from './gen/swarm.js'
import { LIMITS } from './limits.js'
import { bytes, message, number } from './wire-shape.js'

export type SnapshotWant =
  | { readonly kind: 'newest-manifest' }
  /** Asks which manifests the peer serves. */
  | { readonly kind: 'manifest-ids' }
  | { readonly kind: 'invitation' }
  | { readonly kind: 'manifest'; readonly manifestId: Sha256 }
  | { readonly kind: 'chunk'; readonly blobSha256: Sha256; readonly index: number }
  /** Asks which chunks of a blob the peer has, or is fetching from the coordinator. */
  | { readonly kind: 'held'; readonly blobSha256: Sha256 }
  /** Asks the coordinator for one of the wanted chunks (a bit for each) that it has sent to too few nodes. */
  | { readonly kind: 'share'; readonly blobSha256: Sha256; readonly wanted: Uint8Array }
  /** Asks for the first manifest of a version, in service or not. */
  | { readonly kind: 'manifest-of-version'; readonly version: number }
  /** Asks for the newest address notice of the coordinator. */
  | { readonly kind: 'address-notice' }

/** One question on a snapshot stream. Several may be open at once, distinguished by `id` (1 or more). */
export interface SnapshotRequest {
  readonly id: number
  readonly want: SnapshotWant
}

const MAX_ID = 2 ** 32 - 1
const MAX_INDEX = Math.ceil(LIMITS.blobBytes.value / LIMITS.chunkBytes.value) - 1
const MOST_BITS = Math.ceil((MAX_INDEX + 1) / 8)

export const snapshotRequest: Codec<SnapshotRequest> = codec<SnapshotRequest, prove.SnapshotRequest.$Properties>({
  what: 'snapshot request',
  limit: 'snapshotRequestBytes',
  type: prove.SnapshotRequest,
  maxFields: 2,
  shape: {
    1: number(),
    2: bytes(),
    3: message({ 1: bytes(), 2: number() }),
    4: number(),
    5: bytes(),
    6: number(),
    7: number(),
    8: number(),
    9: message({ 1: bytes(), 2: bytes() }),
    10: number(),
  },
  read: (wire) => {
    // The generated declaration does not allow null, but members of a oneof that were not sent are null.
    const manifestId: Uint8Array | null = wire.manifestId
    const heldOf: Uint8Array | null = wire.heldOf
    const manifestOfVersion: number | null = wire.manifestOfVersion
    const id = integer(wire.id, 1, MAX_ID, 'request id')
    if (wire.chunk) {
      const index = integer(wire.chunk.index, 0, MAX_INDEX, 'chunk index')
      return { id, want: { kind: 'chunk', blobSha256: hexOf(wire.chunk.blobSha256, 32, 'blob hash'), index } }
    }
    if (manifestId) return { id, want: { kind: 'manifest', manifestId: hexOf(manifestId, 32, 'manifest id') } }
    if (wire.invitation) return { id, want: { kind: 'invitation' } }
    if (heldOf) return { id, want: { kind: 'held', blobSha256: hexOf(heldOf, 32, 'blob hash') } }
    if (wire.share) {
      const { blobSha256, wanted } = wire.share
      if (wanted.length > MOST_BITS) throw refusal('malformed', `${wanted.length} B of bits`)
      return { id, want: { kind: 'share', blobSha256: hexOf(blobSha256, 32, 'blob hash'), wanted } }
    }
    if (wire.addressNotice) return { id, want: { kind: 'address-notice' } }
    if (manifestOfVersion !== null)
      return { id, want: { kind: 'manifest-of-version', version: integer(manifestOfVersion, 0, MAX_ID, 'version') } }
    if (wire.manifestIds) return { id, want: { kind: 'manifest-ids' } }
    if (!wire.newestManifest) throw refusal('malformed', 'a snapshot request wants something')
    return { id, want: { kind: 'newest-manifest' } }
  },
  write: ({ id, want }) => {
    if (want.kind === 'newest-manifest') return { id, newestManifest: true }
    if (want.kind === 'invitation') return { id, invitation: true }
    if (want.kind === 'manifest-ids') return { id, manifestIds: true }
    if (want.kind === 'manifest') return { id, manifestId: bytesOf(want.manifestId) }
    if (want.kind === 'manifest-of-version') return { id, manifestOfVersion: want.version }
    if (want.kind === 'held') return { id, heldOf: bytesOf(want.blobSha256) }
    if (want.kind === 'share') return { id, share: { blobSha256: bytesOf(want.blobSha256), wanted: want.wanted } }
    if (want.kind === 'address-notice') return { id, addressNotice: true }
    return { id, chunk: { blobSha256: bytesOf(want.blobSha256), index: want.index } }
  },
})

/** Concatenates the bytes of manifest ids. */
export const manifestIdList = (ids: readonly Sha256[]): Uint8Array => bytesOf(ids.join(''))

/** Reads manifest ids. @throws SwarmRefusal `malformed` if the bytes are not a few whole ids */
export function readManifestIds(data: Uint8Array): readonly Sha256[] {
  if (data.length % ID_BYTES !== 0 || data.length > ID_BYTES * LIMITS.manifestsServed.value)
    throw refusal('malformed', `${data.length} B of manifest ids`)
  return Array.from({ length: data.length / ID_BYTES }, (_, i) =>
    toHex(data.subarray(i * ID_BYTES, (i + 1) * ID_BYTES)),
  )
}

const ID_BYTES = 32

/** `not_found`: the source does not have the item, or not yet. `busy`: the source has the item, but has used up its upload limit. */
export const SNAPSHOT_STATUSES = ['ok', 'not_found', 'busy'] as const
export type SnapshotStatus = (typeof SNAPSHOT_STATUSES)[number]

export interface SnapshotResponse {
  readonly id: number
  readonly status: SnapshotStatus
  /** A sealed manifest, invitation or notice, manifest ids, a chunk, or a bit for each chunk. Empty unless the status is `ok`. */
  readonly data: Uint8Array
}

export const snapshotResponse: Codec<SnapshotResponse> = codec<SnapshotResponse, prove.SnapshotResponse.$Properties>({
  what: 'snapshot response',
  limit: 'snapshotResponseBytes',
  type: prove.SnapshotResponse,
  shape: { 1: number(), 2: number(), 3: bytes() },
  read: (wire) => {
    const status = SNAPSHOT_STATUSES[wire.status]
    if (status === undefined) throw refusal('malformed', `unknown status ${wire.status}`)
    if ((status === 'ok') !== wire.data.length > 0) throw refusal('malformed', `${status} with ${wire.data.length} B`)
    return { id: integer(wire.id, 1, MAX_ID, 'request id'), status, data: wire.data }
  },
  write: ({ id, status, data }) => ({ id, status: SNAPSHOT_STATUSES.indexOf(status), data }),
})
