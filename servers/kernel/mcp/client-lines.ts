import { Readable } from 'node:stream'
import { ErrorCode } from '@modelcontextprotocol/sdk/types.js'
import { type RpcError, readClientMessage, rpcError } from './client-messages.js'
import { HOST_LIMITS } from './limits.js'

const LINE_FEED = 0x0a

/**
 * Returns the lines of a client as the SDK reads them. A line that the SDK would drop is answered with an error: text that is not a
 * message, and a line beyond `HOST_LIMITS.maxLineBytes`. A byte order mark in front of the first line is skipped.
 */
export const clientLines = (input: AsyncIterable<Buffer>, answer: (error: RpcError) => void): Readable =>
  Readable.from(lines(input, answer), { objectMode: false })

async function* lines(input: AsyncIterable<Buffer>, answer: (error: RpcError) => void): AsyncGenerator<string> {
  for await (const line of split(input)) {
    if (line === null) {
      const most = `a line has at most ${HOST_LIMITS.maxLineBytes} bytes; this one was skipped`
      answer(rpcError(null, ErrorCode.InvalidRequest, most))
      continue
    }
    const text = line.replace(/^\uFEFF/, '').trim()
    if (text === '') continue
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      answer(rpcError(null, ErrorCode.ParseError, 'the line is not JSON'))
      continue
    }
    const read = readClientMessage(value)
    if ('error' in read) answer(read.error)
    else yield `${read.message === value ? text : JSON.stringify(read.message)}\n`
  }
}

/** Yields each line; null for one that is too long, of which nothing is kept. */
async function* split(input: AsyncIterable<Buffer>): AsyncGenerator<string | null> {
  let pending: Buffer[] = []
  let length = 0
  const take = (part: Buffer): void => {
    length += part.length
    if (length > HOST_LIMITS.maxLineBytes) pending = []
    else pending.push(part)
  }
  const end = (): string | null => {
    const line = length > HOST_LIMITS.maxLineBytes ? null : Buffer.concat(pending).toString('utf8')
    pending = []
    length = 0
    return line
  }
  for await (const chunk of input) {
    let rest = chunk
    for (let at = rest.indexOf(LINE_FEED); at >= 0; at = rest.indexOf(LINE_FEED)) {
      take(rest.subarray(0, at))
      yield end()
      rest = rest.subarray(at + 1)
    }
    take(rest)
  }
  if (length > 0) yield end()
}
