import { atMost, bytesOf, hexOf } from './bounds.js'
import { type Codec, codec } from './codec.js'
import type { Sha256 } from './content-id.js'
import { refusal } from './errors.js'
import { prove } from './gen/swarm.js'
import { bytes } from './wire-shape.js'

/** What the group stream is asked: to give a body, or to take note of an announcement. */
export type GroupRequest =
  | { readonly kind: 'fetch'; readonly bodySha256: Sha256 }
  /** A sealed group announcement. Gossip has no receipts; the reply to this is one. */
  | { readonly kind: 'offer'; readonly announcement: Uint8Array }

export const groupRequest: Codec<GroupRequest> = codec<GroupRequest, prove.GroupRequest.$Properties>({
  what: 'group request',
  limit: 'announcementBytes',
  slack: 'requestOverheadBytes',
  type: prove.GroupRequest,
  maxFields: 1,
  shape: { 1: bytes(), 2: bytes() },
  read: (wire) => {
    // The generated declaration calls the members of a oneof present; the one that was not sent is null.
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
