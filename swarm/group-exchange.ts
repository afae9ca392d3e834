import { LIMITS, refusal, type Sha256, sha256 } from '../proto/index.js'
import { type ReceivedGroup, receiveGroup } from './channels.js'
import { TransportError } from './errors.js'
import { GROUP } from './exchanges.js'
import type { SwarmHost } from './host.js'
import { createRateLimit } from './rate-limit.js'
import { type ServeOptions, type Server, sendRequest, serveRequests } from './request-response.js'

export interface GroupExchangeOptions extends ServeOptions {
  /** Returns the body with this hash, or null. */
  lookup(bodySha256: Sha256): Promise<Uint8Array | null>
  /**
   * Accepts an announcement that a node offers directly. The node treats the return as a receipt, so it must return only when the
   * announcement is on disk. Called again for a known announcement.
   * @throws SwarmRefusal to refuse it
   */
  onOffer?(group: ReceivedGroup, from: string): Promise<void>
}

const NOTHING = new Uint8Array()

/** Serves group bodies by hash and, if `onOffer` is given, accepts announcements. */
export function serveGroups(host: SwarmHost, options: GroupExchangeOptions): Promise<Server> {
  const { serving } = host
  const ofKey = createRateLimit(host.clock, LIMITS.bodiesPerMinute.value)
  const ofBlock = createRateLimit(host.clock, LIMITS.bodiesPerMinuteOfBlock.value)
  const mayFetch = (peer: string): boolean =>
    serving.standingOf(peer) === 'reliable' || (ofKey.allow(peer) && ofBlock.allow(serving.blockOf(peer)))
  return serveRequests(
    host,
    GROUP,
    async (request, { peer }) => {
      if (request.kind === 'fetch') {
        if (!mayFetch(peer)) throw refusal('rate_limited', 'too many bodies a minute for a key without accepted groups')
        const body = await options.lookup(request.bodySha256)
        if (!body) throw refusal('not_found', request.bodySha256)
        return body
      }
      if (!options.onOffer) throw refusal('not_found', 'this node accepts no announcements')
      await options.onOffer(await receiveGroup(request.announcement, host.runId), peer)
      return NOTHING
    },
    options,
  )
}

/**
 * Fetches a body, from its author first and then from other holders, until one sends bytes with the announced hash and size.
 * @param holders  peer ids, tried in order
 * @throws TransportError `no_source` if no holder delivered it; the cause is the last failure
 */
export async function fetchGroupBody(
  host: SwarmHost,
  holders: readonly string[],
  want: { readonly bodySha256: Sha256; readonly bodySizeBytes?: number },
  signal: AbortSignal,
): Promise<Uint8Array> {
  let last: unknown
  for (const holder of holders) {
    try {
      const body = await sendRequest(host, GROUP, holder, { kind: 'fetch', bodySha256: want.bodySha256 }, signal)
      const { bodySizeBytes = body.length } = want
      if (body.length === bodySizeBytes && sha256(body) === want.bodySha256) return body
      const detail = `a body of ${body.length} B that is not ${want.bodySha256}`
      host.onRefusal({ peer: holder, code: 'body_mismatch', effect: 'reject', detail, protocol: GROUP.protocol })
      last = new TransportError('bad_hash', detail)
    } catch (why) {
      signal.throwIfAborted()
      last = why
    }
  }
  throw new TransportError('no_source', `body ${want.bodySha256} from ${holders.length} holders`, { cause: last })
}

/**
 * Offers an announcement to the coordinator directly and waits for the receipt.
 * @param sealed  a sealed group announcement, at most `LIMITS.announcementBytes`
 * @throws TransportError `refused` with the reason. After other errors the announcement may have arrived, and a repeated offer is safe
 */
export async function offerGroup(
  host: SwarmHost,
  coordinator: string,
  sealed: Uint8Array,
  signal: AbortSignal,
): Promise<void> {
  if (sealed.length > LIMITS.announcementBytes.value)
    throw refusal('too_large', `an announcement of ${sealed.length} B`)
  await sendRequest(host, GROUP, coordinator, { kind: 'offer', announcement: sealed }, signal)
}
