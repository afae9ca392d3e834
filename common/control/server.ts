import { once } from 'node:events'
import { chmod } from 'node:fs/promises'
import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { CodedError } from '../errors/index.js'
import { takeControlAddress } from './address.js'
import { PRIVATE_FILE } from './owner-only.js'

/** What a route is asked. */
export interface ControlAsk {
  readonly query: Readonly<Record<string, string>>
  /** Parsed JSON; undefined for a request without a body. */
  readonly body: unknown
}

/**
 * What a route answers: one JSON value; lines of text, which are sent many at a time; or `live` lines, each of which is sent when it comes,
 * until whoever asked has gone. Between these an empty line now and then shows that the program is there.
 */
export type ControlAnswer =
  | { readonly json: unknown }
  | { readonly lines: AsyncIterable<string> }
  | { readonly live: AsyncIterableIterator<string> }

/** One thing that commands in another terminal can ask of a running program. */
export interface ControlRoute {
  readonly method: 'GET' | 'POST'
  readonly path: `/${string}`
  /** @throws ControlRefusal for a request that makes no sense */
  answer(ask: ControlAsk): Promise<ControlAnswer>
}

/** A request that the program does not fulfil. */
export class ControlRefusal extends CodedError<'bad_request' | 'unknown_route'> {}

const MAX_BODY_BYTES = 64 * 1024
/** Nobody on this machine takes so long to send a request, or to take the next piece of an answer. */
const REQUEST_TIMEOUT_MS = 30_000
const IDLE_TIMEOUT_MS = 120_000
/** Lines are sent in pieces of about so many characters. */
const PIECE_CHARS = 64 * 1024
/** Well within the time that either side waits for a sign of the other. */
const SIGN_OF_LIFE_MS = 20_000

/**
 * Listens for commands on a socket that only the owner of the data directory can open: `control.sock` in it,
 * or a named pipe on Windows. The caller holds the data directory.
 * @throws the system's error when it cannot listen there
 */
export async function serveControl(
  dataDir: string,
  routes: readonly ControlRoute[],
): Promise<{ close(): Promise<void> }> {
  const { address, release } = await takeControlAddress(dataDir)
  const server = createAdaptorServer({ fetch: appOf(routes).fetch, overrideGlobalObjects: false }) as Server
  server.requestTimeout = REQUEST_TIMEOUT_MS
  server.setTimeout(IDLE_TIMEOUT_MS)
  try {
    server.listen(address)
    await once(server, 'listening')
    if (process.platform !== 'win32') await chmod(address, PRIVATE_FILE)
  } catch (error) {
    server.close()
    await release()
    throw error
  }
  return {
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
      await release()
    },
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
    if (error instanceof ControlRefusal) return context.json({ code: error.code, message: error.message }, 400)
    return context.json({ code: 'internal', message: error.message }, 500)
  })
  return app
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ControlRefusal('bad_request', `the body is no JSON: ${(cause as Error).message}`)
  }
}

/** Asks for lines only as fast as they are taken. */
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
  let coming = next()
  return new ReadableStream({
    async pull(controller) {
      let timer: NodeJS.Timeout | undefined
      const sign = new Promise<string>((resolve) => {
        timer = setTimeout(resolve, SIGN_OF_LIFE_MS, '')
      })
      const line = await Promise.race([coming, sign]).finally(() => clearTimeout(timer))
      if (line === null) return controller.close()
      controller.enqueue(encoder.encode(`${line}\n`))
      if (line !== '') coming = next()
    },
    async cancel() {
      await lines.return?.()
    },
  })
}
