import { once } from 'node:events'
import { chmod } from 'node:fs/promises'
import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { CodedError } from '../errors/index.js'
import { limitConnections } from '../http/index.js'
import { controlAddresses, type TakenAddress } from './address.js'
import { PRIVATE_FILE } from './owner-only.js'

/** A request to a route. */
export interface ControlAsk {
  readonly query: Readonly<Record<string, string>>
  /** Parsed JSON; undefined for a request without a body. */
  readonly body: unknown
}

/**
 * The answer of a route: one JSON value, lines of text that are sent in batches, or `live` lines. Each live line is sent at once, until the
 * client disconnects. An empty line every 20 s shows that the program still runs.
 */
export type ControlAnswer =
  | { readonly json: unknown }
  | { readonly lines: AsyncIterable<string> }
  | { readonly live: AsyncIterableIterator<string> }

/** One request that commands in another terminal can send to a running program. */
export interface ControlRoute {
  readonly method: 'GET' | 'POST'
  readonly path: `/${string}`
  /** Answers a request. @throws ControlRefusal for an invalid request */
  answer(ask: ControlAsk): Promise<ControlAnswer>
}

/** A request that the program refuses. */
export class ControlRefusal extends CodedError<'bad_request' | 'unknown_route'> {}

const MAX_BODY_BYTES = 64 * 1024
/** Open connections. A further one replaces the oldest one without a running request. */
const MOST_CONNECTIONS = 64
/** No client on this machine needs this long to send a request, or to read the next piece of an answer. */
const REQUEST_TIMEOUT_MS = 30_000
const IDLE_TIMEOUT_MS = 120_000
/** Approximate number of characters of a batch of lines. */
const PIECE_CHARS = 64 * 1024
/** Interval of empty lines, well within the timeouts of both sides. */
const KEEP_ALIVE_MS = 20_000

/**
 * Listens for commands on a socket that only the owner of the data directory can open: `control.sock` in it, or a named pipe on Windows.
 * The caller has locked the data directory.
 * @param addresses  the addresses to try, the preferred one first
 * @throws the system's error if the socket cannot be opened
 */
export async function serveControl(
  dataDir: string,
  routes: readonly ControlRoute[],
  addresses = controlAddresses(dataDir),
): Promise<{ close(): Promise<void> }> {
  const { server, release } = await listening(addresses, routes)
  return {
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
      await release()
    },
  }
}

/** Listens on the first address that the system allows. @throws the error of the last one */
async function listening(
  [take, ...others]: readonly (() => Promise<TakenAddress>)[],
  routes: readonly ControlRoute[],
): Promise<{ readonly server: Server; release(): Promise<void> }> {
  const { address, release } = await take!()
  const server = createAdaptorServer({ fetch: appOf(routes).fetch, overrideGlobalObjects: false }) as Server
  server.requestTimeout = REQUEST_TIMEOUT_MS
  limitConnections(server, MOST_CONNECTIONS)
  server.setTimeout(IDLE_TIMEOUT_MS)
  try {
    server.listen(address)
    await once(server, 'listening')
    if (process.platform !== 'win32') await chmod(address, PRIVATE_FILE)
    return { server, release }
  } catch (error) {
    server.close()
    await release()
    if (others.length === 0) throw error
    return listening(others, routes)
  }
}

function appOf(routes: readonly ControlRoute[]): Hono {
  const app = new Hono()
  app.use(bodyLimit({ maxSize: MAX_BODY_BYTES }))
  for (const { method, path, answer } of routes) {
    app.on(method, path, async (context) => {
      const text = await context.req.text()
      const answered = await answer({ query: context.req.query(), body: text === '' ? undefined : jsonOf(text) })
      if ('json' in answered) return context.json(answered.json as object)
      const stream = 'live' in answered ? liveStreamOf(answered.live) : streamOf(answered.lines)
      return context.body(stream, 200, { 'content-type': 'application/jsonl' })
    })
  }
  app.notFound((context) => context.json({ code: 'unknown_route', message: context.req.path }, 404))
  app.onError((error, context) => {
    if (error instanceof ControlRefusal) return context.json({ code: error.code, message: error.detail }, 400)
    return context.json({ code: 'internal', message: error.message }, 500)
  })
  return app
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ControlRefusal('bad_request', `the body is not JSON: ${(cause as Error).message}`)
  }
}

/** Reads lines only as fast as the client reads them. */
function streamOf(lines: AsyncIterable<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const iterator = lines[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      let piece = ''
      while (piece.length < PIECE_CHARS) {
        const { done, value } = await iterator.next()
        if (done) {
          if (piece !== '') controller.enqueue(encoder.encode(piece))
          controller.close()
          return
        }
        piece += `${value}\n`
      }
      controller.enqueue(encoder.encode(piece))
    },
    async cancel() {
      await iterator.return?.()
    },
  })
}

function liveStreamOf(lines: AsyncIterableIterator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const next = (): Promise<string | null> => lines.next().then(({ done, value }) => (done ? null : value))
  let nextLine = next()
  return new ReadableStream({
    async pull(controller) {
      let timer: NodeJS.Timeout | undefined
      const keepAlive = new Promise<string>((resolve) => {
        timer = setTimeout(resolve, KEEP_ALIVE_MS, '')
      })
      const line = await Promise.race([nextLine, keepAlive]).finally(() => clearTimeout(timer))
      if (line === null) return controller.close()
      controller.enqueue(encoder.encode(`${line}\n`))
      if (line !== '') nextLine = next()
    },
    async cancel() {
      await lines.return?.()
    },
  })
}
