import { setMaxListeners } from 'node:events'
import type { Stream } from '@libp2p/interface'
import {
  LIMITS,
  PROTOCOLS,
  type SnapshotResponse,
  type SnapshotWant,
  SwarmRefusal,
  snapshotRequest,
  snapshotResponse,
} from '../proto/index.js'
import { createByteStream } from './byte-stream.js'
import { TransportError } from './errors.js'
import type { SwarmHost } from './host.js'
import { createInboundStreams } from './inbound-streams.js'
import { createRateLimit } from './rate-limit.js'
import type { Server } from './request-response.js'

/** Finds the answer to a peer's question; null: not here, or not yet. */
export type SnapshotLookup = (want: SnapshotWant, peer: string) => Promise<Uint8Array | null>

const NOTHING = new Uint8Array()

/**
 * Serves manifests and chunks. Requests of one stream are answered in order, one at a time, so a peer that reads too slowly fills only
 * its own receive window.
 */
export async function serveSnapshots(host: SwarmHost, lookup: SnapshotLookup): Promise<Server> {
  const { upload } = host.serving
  const logger = host.logger.child({ part: 'snapshots' })
  const closing = new AbortController()
  // One listener for each stream that waits.
  setMaxListeners(LIMITS.inboundStreams.value, closing.signal)
  const streams = createInboundStreams(host, PROTOCOLS.snapshot)
  const rate = createRateLimit(host.clock, LIMITS.chunksPerMinute.value)

  const answer = async (id: number, want: SnapshotWant, peer: string): Promise<SnapshotResponse> => {
    if (upload.spent) return { id, status: 'busy', data: NOTHING }
    const data = await lookup(want, peer)
    return data ? { id, status: 'ok', data } : { id, status: 'not_found', data: NOTHING }
  }

  const serve = async (stream: Stream, peer: string): Promise<void> => {
    const bytes = createByteStream(stream, host.clock, LIMITS.snapshotIdleMs.value)
    const place = streams.take(bytes, peer)
    if (!place) return
    try {
      for (;;) {
        const frame = await bytes.readFrameOrEnd(snapshotRequest.maxBytes, closing.signal)
        if (!frame) break
        place.waits(false)
        const request = snapshotRequest.parse(frame)
        if (!rate.allow(peer))
          throw new SwarmRefusal(
            'ignore',
            'rate_limited',
            `more than ${LIMITS.chunksPerMinute.value} requests a minute`,
          )
        const response = await answer(request.id, request.want, peer)
        // Only content counts against the limit: a delayed `busy` would arrive too late to be of use.
        const pace = response.status === 'ok' ? upload : undefined
        await bytes.writeFrame(snapshotResponse.encode(response), closing.signal, pace)
        place.waits(true)
      }
      await bytes.end(closing.signal)
    } catch (why) {
      if (why instanceof SwarmRefusal) {
        const { code, effect, detail } = why
        host.onRefusal({ peer, code, effect, detail, protocol: PROTOCOLS.snapshot })
      } else if (!(why instanceof TransportError) && !closing.signal.aborted) {
        logger.error({ peer, error: why }, 'serving a snapshot failed')
      }
      bytes.abort(why instanceof Error ? why : new Error(String(why)))
    } finally {
      place.close()
    }
  }

  const stop = await host.handle(PROTOCOLS.snapshot, (stream, peer) => void serve(stream, peer))
  return {
    async close() {
      if (closing.signal.aborted) return
      closing.abort(new TransportError('closed', PROTOCOLS.snapshot))
      await stop()
    },
  }
}
