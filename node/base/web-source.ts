import { CodedError } from '../../common/errors/index.js'
import { chunkLength, LIMITS, type SnapshotWant } from '../../proto/index.js'
import type { OtherSource, SnapshotSource } from '../../swarm/index.js'

/** A URL does not serve the expected file. The message begins with the URL. */
export class WebSourceError extends CodedError<'web_source'> {
  constructor(detail: string, options?: ErrorOptions) {
    super('web_source', detail, options)
    this.message = detail
  }
}

export interface WebSourceOptions {
  /** Size of the whole file. */
  readonly sizeBytes: number
  /** Allowed protocols of URLs and redirects. Default: https. */
  readonly protocols?: readonly string[]
  /** Longest time without a byte (ms). */
  readonly stallMs?: number
}

const MAX_REDIRECTS = 5
const STALL_MS = 20_000
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/**
 * Reads chunks of one file from a web server, with range requests. The server is not trusted: sizes are bounded here, and the caller
 * checks the hashes.
 */
export function webSource(url: string, options: WebSourceOptions): OtherSource {
  const { sizeBytes, protocols = ['https:'], stallMs = STALL_MS } = options
  return {
    name: url,
    async open(signal) {
      const closing = new AbortController()
      const ending = AbortSignal.any([signal, closing.signal])
      /** Target of the last redirect: redirects of a hub are signed, and valid for a while. */
      let found: URL | null = null

      const range = async (from: number, length: number): Promise<Uint8Array> => {
        const remembered: URL | null = found
        try {
          return await readRange(remembered ?? new URL(url), from, length)
        } catch (error) {
          if (remembered === null || !(error instanceof WebSourceError)) throw error
          // The redirect may have expired.
          found = null
          return readRange(new URL(url), from, length)
        }
      }

      const readRange = async (start: URL, from: number, length: number): Promise<Uint8Array> => {
        const stalled = new AbortController()
        const timer = setTimeout(() => stalled.abort(), stallMs)
        try {
          const { response, at } = await follow(start, from, length, AbortSignal.any([ending, stalled.signal]))
          const bytes = await readBody(response, length, () => timer.refresh())
          found = at
          return bytes
        } catch (cause) {
          ending.throwIfAborted()
          if (cause instanceof WebSourceError) throw cause
          const why = stalled.signal.aborted ? `no data for ${stallMs / 1000} s` : reasonOf(cause)
          throw new WebSourceError(`${url}: ${why}`, { cause })
        } finally {
          clearTimeout(timer)
        }
      }

      const follow = async (start: URL, from: number, length: number, within: AbortSignal) => {
        let at = start
        for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
          if (!protocols.includes(at.protocol))
            throw new WebSourceError(`${url}: it redirects to ${at.protocol}//${at.host}`)
          const headers = { range: `bytes=${from}-${from + length - 1}`, 'accept-encoding': 'identity' }
          const response = await fetch(at, { headers, redirect: 'manual', signal: within })
          if (!REDIRECTS.has(response.status)) {
            await check(response, from, length)
            return { response, at }
          }
          await response.body?.cancel()
          const next = response.headers.get('location') ?? ''
          if (!URL.canParse(next, at)) throw new WebSourceError(`${url}: invalid redirect`)
          at = new URL(next, at)
        }
        throw new WebSourceError(`${url}: more than ${MAX_REDIRECTS} redirects`)
      }

      const check = async (response: Response, from: number, length: number): Promise<void> => {
        const refuse = async (why: string): Promise<never> => {
          await response.body?.cancel()
          throw new WebSourceError(`${url}: ${why}`)
        }
        if (response.status === 200 && from === 0 && length === sizeBytes) return
        if (response.status === 200) await refuse('the server does not support range requests')
        if (response.status === 416) await refuse(`the file has less than ${sizeBytes} bytes`)
        if (response.status !== 206) await refuse(`the server answers ${response.status}`)
        const content = response.headers.get('content-range') ?? ''
        const [, first, last, total] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(content) ?? []
        if (total !== '*' && Number(total) !== sizeBytes)
          await refuse(`the file has ${total ?? 'an unknown number of'} bytes instead of ${sizeBytes}`)
        if (Number(first) !== from || Number(last) !== from + length - 1) await refuse(`it sends ${content}`)
      }

      const readBody = async (response: Response, length: number, onBytes: () => void): Promise<Uint8Array> => {
        const bytes = new Uint8Array(length)
        let filled = 0
        for await (const piece of response.body ?? []) {
          onBytes()
          if (filled + piece.length > length) throw new WebSourceError(`${url}: the server sends more than requested`)
          bytes.set(piece, filled)
          filled += piece.length
        }
        if (filled < length) throw new WebSourceError(`${url}: the answer ends after ${filled} of ${length} bytes`)
        return bytes
      }

      return {
        peer: url,
        async ask(want: SnapshotWant) {
          if (want.kind !== 'chunk') return { id: 1, status: 'not_found', data: new Uint8Array() }
          const { index } = want
          const data = await range(index * LIMITS.chunkBytes.value, chunkLength(sizeBytes, index))
          return { id: 1, status: 'ok', data }
        },
        close: (why) => closing.abort(why),
      } satisfies SnapshotSource
    },
  }
}

/** Returns the reason of an error of `fetch`, which is in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message
}
