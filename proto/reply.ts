import { refusalCode, sentence } from './bounds.js'
import { type Codec, codec } from './codec.js'
import { type RefusalCode, refusal } from './errors.js'
import { prove } from './gen/swarm.js'
import { bytes, number } from './wire-shape.js'

/** The reply on a request-response stream: a payload, or the reason of a refusal. */
export type Reply =
  | { readonly ok: true; readonly payload: Uint8Array }
  | { readonly ok: false; readonly code: RefusalCode; readonly detail: string }

/** Creates the reply codec for payloads of one kind. @param payload  size limit of the payload */
export const reply = (
  payload: 'leaseResponseBytes' | 'groupBodyBytes' | 'verdictResponseBytes' | 'leaderboardResponseBytes',
): Codec<Reply> =>
  codec<Reply, prove.Reply.$Properties>({
    what: 'reply',
    limit: payload,
    slack: 'replyOverheadBytes',
    type: prove.Reply,
    shape: { 1: number(), 2: bytes(), 3: bytes(), 4: bytes() },
    read: (wire) => {
      if (wire.ok) {
        if (wire.code !== '' || wire.detail !== '') throw refusal('malformed', 'a good reply has no refusal')
        return { ok: true, payload: wire.payload }
      }
      if (wire.payload.length > 0) throw refusal('malformed', 'a refusal has no payload')
      return { ok: false, code: refusalCode(wire.code), detail: sentence(wire.detail, 'detailBytes', 'detail') }
    },
    write: (value) => value,
  })
