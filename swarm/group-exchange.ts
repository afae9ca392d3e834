import { LIMITS, refusal, type Sha256, sha256 } from '../proto/index.js'
import { type ReceivedGroup, receiveGroup } from './channels.js'
import { TransportError } from './errors.js'
import { GROUP } from './exchanges.js'
import type { SwarmHost } from './host.js'
import { type ServeOptions, type Server, sendRequest, serveRequests } from './request-response.js'

export interface GroupExchangeOptions extends ServeOptions {
  /** The body of that hash, or null when it is not held. */
  lookup(bodySha256: Sha256): Promise<Uint8Array | null>
  /**
   * Takes note of an announcement that was handed over. Its return is the receipt that the node relies on, so return
   * only once the announcement is safe; called again for one that is known already.
   * @throws SwarmRefusal to turn it down
   */
  onOffer?(group: ReceivedGroup, from: string): Promise<void>
}

const NOTHING = new Uint8Array()

/** Serves group bodies by hash and, where `onOffer` is given, accepts announcements. */
export function serveGroups(host: SwarmHost, options: GroupExchangeOptions): Promise<Server> {
  return serveRequests(
    host,
    GROUP,
    async (request, { peer }) => {
      if (request.kind === 'fetch') {
        const body = await options.lookup(request.bodySha256)
        if (!body) throw refusal('not_found', request.bodySha256)
        return body
      }
      if (!options.onOffer) throw refusal('not_found', 'this node takes no announcements')
      await options.onOffer(await receiveGroup(request.announcement, host.runId), peer)
      return NOTHING
    },
    options,
  )
}

/**
 * Pulls a body, from its author first and then from other holders, until the bytes have the announced hash and, where one was
 * announced, size.
 * @param holders  peer ids, tried in order
 * @throws TransportError `no_source` when none of them delivered; its cause tells the last reason
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
 * Hands an announcement to the coordinator and waits for the receipt.
 * @param sealed  a sealed group announcement, at most `LIMITS.announcementBytes`
 * @throws TransportError `refused` with the reason; otherwise it may or may not have arrived, and offering again is safe
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
