import type { AddressInfo } from 'node:net'
import { type ServerType, serve } from '@hono/node-server'
import type { Hono } from 'hono'

/** The server of `ws`, without a port, which takes over connections that routes upgrade to WebSockets. */
export type WebSockets = NonNullable<Parameters<typeof serve>[0]['websocket']>['server']

/**
 * Milliseconds for which a connection stays open between requests. Longer than clients keep unused connections (Go 90 s), because a
 * request on a connection that the server is closing is lost.
 */
const KEEP_ALIVE_MS = 120_000

export interface ListenOptions {
  /** Name or address. */
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** Time limit for sending one request, so that slow senders do not keep connections open. */
  readonly requestTimeoutMs: number
  /** The caller closes its connections. */
  readonly webSockets?: WebSockets
}

export interface Listening {
  /** For example `http://127.0.0.1:8080`, without a final slash. */
  readonly origin: string
  /** Aborts running requests and stops listening. */
  close(): Promise<void>
}

/** Serves an app over HTTP. @throws the system's error if the address cannot be listened on */
export async function listen(
  { fetch }: Pick<Hono, 'fetch'>,
  { host, port, requestTimeoutMs, webSockets }: ListenOptions,
): Promise<Listening> {
  const serverOptions = { requestTimeout: requestTimeoutMs, keepAliveTimeout: KEEP_ALIVE_MS }
  const listener = await new Promise<ServerType>((resolve, reject) => {
    const websocket = webSockets === undefined ? {} : { websocket: { server: webSockets } }
    const starting = serve({ fetch, hostname: host, port, serverOptions, ...websocket }, () => resolve(starting))
    starting.once('error', reject)
  })
  const { port: actual } = listener.address() as AddressInfo
  return {
    origin: `http://${host.includes(':') ? `[${host}]` : host}:${actual}`,
    close: () =>
      new Promise((resolve) => {
        listener.close(() => resolve())
        if ('closeAllConnections' in listener) listener.closeAllConnections()
      }),
  }
}
