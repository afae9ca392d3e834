import { readClientMessage } from './client-messages.js'
import { HOST_LIMITS } from './limits.js'

/** The media types that the SDKs require in `Accept`, although only one of them is sent. */
const BOTH = 'application/json, text/event-stream'
const EVENTS = 'text/event-stream'

/** Tests whether a client accepts a media type: without a header, it accepts all. */
export function accepts(request: Request, type: string): boolean {
  const accept = request.headers.get('accept')?.toLowerCase()
  if (accept === undefined || accept.trim() === '') return true
  const [main] = type.split('/')
  return accept.split(',').some((one) => [type, `${main}/*`, '*/*'].includes(one.split(';')[0]!.trim()))
}

/**
 * Returns a client's request as the SDKs read it, or the response that answers it. `Accept` has to name only what is sent: JSON in
 * response to a POST, events in response to a GET. Messages are read as `readClientMessage` does; a byte order mark is skipped.
 */
export async function readClientRequest(request: Request): Promise<Request | Response> {
  const headers = new Headers(request.headers)
  if (request.method === 'GET' && accepts(request, EVENTS)) headers.set('accept', EVENTS)
  if (request.method !== 'POST')
    return new Request(request.url, { method: request.method, headers, signal: request.signal })
  if (accepts(request, 'application/json')) headers.set('accept', BOTH)
  const text = await boundedText(request)
  // Longer than the limit: the SDK refuses it by its length.
  const body = text === null ? ' '.repeat(HOST_LIMITS.maxRequestBytes + 1) : text.replace(/^\uFEFF/, '')
  headers.delete('content-length')
  const again = (content: string): Request =>
    new Request(request.url, { method: 'POST', headers, body: content, signal: request.signal })
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return again(body)
  }
  if (Array.isArray(value)) return again(body)
  const read = readClientMessage(value)
  if ('error' in read) return Response.json(read.error, { status: 400 })
  return again(read.message === value ? body : JSON.stringify(read.message))
}

/** Reads a body up to the limit; null if it is longer. */
async function boundedText(request: Request): Promise<string | null> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request.body ?? []) {
    length += chunk.length
    if (length > HOST_LIMITS.maxRequestBytes) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
