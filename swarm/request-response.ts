import type { Stream } from '@libp2p/interface'
import { type Codec, detailForWire, LIMITS, type Reply, refusal, SwarmRefusal } from '../proto/index.js'
import { type ByteStream, createByteStream, type Pace } from './byte-stream.js'
import { TransportError } from './errors.js'
import type { SwarmHost } from './host.js'
import { createInboundStreams } from './inbound-streams.js'
import { createRateLimit } from './rate-limit.js'
import { startTimeLimit } from './time-limit.js'

/** One exchange: a framed request and a framed reply on a separate stream. */
export interface Exchange<Request, Response> {
  readonly protocol: string
  readonly request: Codec<Request>
  /** Limits the size of the whole reply. */
  readonly reply: Codec<Reply>
  readonly response: Codec<Response>
}

export interface Caller {
  readonly peer: string
  /** Fires at the time limit of the exchange, or when the server closes. */
  readonly signal: AbortSignal
}

export interface ServeOptions {
  /** Limit for each peer. Default `LIMITS.requestsPerMinute`. */
  readonly requestsPerMinute?: number
  readonly timeoutMs?: number
}

export interface Server {
  /** Accepts no further requests and aborts the running ones. */
  close(): Promise<void>
}

/**
 * Serves requests of peers. An error of `handler` becomes a reply: a SwarmRefusal with its code, any other error as `internal`. Refused
 * input is reported through the host and never ends the process.
 */
export async function serveRequests<Request, Response>(
  host: SwarmHost,
  exchange: Exchange<Request, Response>,
  handler: (request: Request, caller: Caller) => Promise<Response>,
  options: ServeOptions = {},
): Promise<Server> {
  const rate = createRateLimit(host.clock, options.requestsPerMinute ?? LIMITS.requestsPerMinute.value)
  const logger = host.logger.child({ part: 'requests' })
  const closing = new AbortController()
  const streams = createInboundStreams(host, exchange.protocol)

  const answer = async (
    bytes: ByteStream,
    peer: string,
    onRequest: () => void,
    signal: AbortSignal,
  ): Promise<Reply> => {
    try {
      if (!rate.allow(peer)) throw refusal('rate_limited', 'too many requests a minute')
      const data = await bytes.readFrame(exchange.request.maxBytes, signal)
      onRequest()
      const response = await handler(exchange.request.parse(data), { peer, signal })
      return { ok: true, payload: exchange.response.encode(response) }
    } catch (why) {
      if (why instanceof TransportError) throw why
      signal.throwIfAborted()
      if (why instanceof SwarmRefusal) {
        const { code, effect, detail } = why
        host.onRefusal({ peer, code, effect, detail, protocol: exchange.protocol })
        return { ok: false, code, detail: detailForWire(detail) }
      }
      logger.error({ protocol: exchange.protocol, peer, error: why }, 'a request handler failed')
      return { ok: false, code: 'internal', detail: '' }
    }
  }

  /** Large replies wait for the upload limit, except those to the coordinator: it waits for the work of this host. */
  const paceOf = ({ length }: Uint8Array, peer: string): Pace | undefined => {
    if (length > LIMITS.unpacedReplyBytes.value && peer !== host.runId) return host.serving.upload
    host.serving.upload.count(length)
    return undefined
  }

  const serve = async (stream: Stream, peer: string): Promise<void> => {
    const bytes = createByteStream(stream, host.clock)
    // libp2p bounds streams per connection, but a peer may open several connections.
    const place = streams.take(bytes, peer)
    if (!place) return
    const { signal, end } = startTimeLimit(
      host.clock,
      options.timeoutMs ?? LIMITS.handlerTimeoutMs.value,
      closing.signal,
    )
    try {
      const reply = exchange.reply.encode(await answer(bytes, peer, () => place.waits(false), signal))
      await bytes.writeFrame(reply, signal, paceOf(reply, peer))
      await bytes.end(signal)
    } catch (why) {
      logger.debug({ protocol: exchange.protocol, peer, error: why }, 'an exchange failed')
      bytes.abort(why instanceof Error ? why : new Error(String(why)))
    } finally {
      end()
      place.close()
    }
  }

  const stop = await host.handle(exchange.protocol, (stream, peer) => void serve(stream, peer))
  return {
    async close() {
      if (closing.signal.aborted) return
      closing.abort(new TransportError('closed', exchange.protocol))
      await stop()
    },
  }
}

/**
 * Sends a request to one peer and returns its response.
 * @throws TransportError `refused` with the peer's code, `unreachable`, `timeout`, `stream_ended`;
 *         SwarmRefusal if the reply is out of bounds or malformed
 */
export async function sendRequest<Request, Response>(
  host: SwarmHost,
  exchange: Exchange<Request, Response>,
  peer: string,
  request: Request,
  signal: AbortSignal,
  timeoutMs: number = LIMITS.requestTimeoutMs.value,
): Promise<Response> {
  const limit = startTimeLimit(host.clock, timeoutMs, signal)
  const both = limit.signal
  let bytes: ByteStream | null = null
  try {
    const stream = await host.openStream(peer, exchange.protocol, { signal: both })
    // The handler may take as long as the whole exchange, so 5 s without a byte are not a stall here.
    bytes = createByteStream(stream, host.clock, timeoutMs)
    await bytes.writeFrame(exchange.request.encode(request), both)
    const answer = exchange.reply.parse(await bytes.readFrame(exchange.reply.maxBytes, both))
    await bytes.end(both)
    if (!answer.ok)
      throw new TransportError('refused', `${answer.code} ${answer.detail}`.trim(), { refusal: answer.code })
    return exchange.response.parse(answer.payload)
  } catch (why) {
    bytes?.abort(why instanceof Error ? why : new Error(String(why)))
    signal.throwIfAborted()
    if (both.aborted) throw new TransportError('timeout', `${exchange.protocol} of ${peer}`, { cause: why })
    throw why
  } finally {
    limit.end()
  }
}
