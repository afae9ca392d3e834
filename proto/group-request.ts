import { atMost, bytesOf, hexOf } from './bounds.js'
import { type Codec, codec } from './codec.js'
import type { Sha256 } from './content-id.js'
import { refusal } from './errors.js'
import { prove } from './gen/swarm.js'
import { bytes } from './wire-shape.js'

/** A request on the group stream: fetch a body, or offer an announcement. */
export type GroupRequest =
  | { readonly kind: 'fetch'; readonly bodySha256: Sha256 }
  /** A sealed group announcement. The reply is a receipt, which gossip does not have. */
  | { readonly kind: 'offer'; readonly announcement: Uint8Array }

export const groupRequest: Codec<GroupRequest> = codec<GroupRequest, prove.GroupRequest.$Properties>({
  what: 'group request',
  limit: 'announcementBytes',
  slack: 'requestOverheadBytes',
  type: prove.GroupRequest,
  maxFields: 1,
  shape: { 1: bytes(), 2: bytes() },
  read: (wire) => {
    // The generated declaration does not allow null, but a member of a oneof that was not sent is null.
    const announcement: Uint8Array | null = wire.announcement
    if (announcement) {
      atMost('announcementBytes', announcement.length, 'announcement')
      return { kind: 'offer', announcement }
    }
    const bodySha256: Uint8Array | null = wire.bodySha256
    if (!bodySha256) throw refusal('malformed', 'a group request fetches or offers')
    return { kind: 'fetch', bodySha256: hexOf(bodySha256, 32, 'body hash') }
  },
  write: (request) =>
    request.kind === 'fetch' ? { bodySha256: bytesOf(request.bodySha256) } : { announcement: request.announcement },
})
