import type { AddressInfo } from 'node:net'
import { type ServerType, serve } from '@hono/node-server'
import type { Hono } from 'hono'

/** What takes over connections that routes let become WebSockets: the server of `ws`, without a port of its own. */
export type WebSockets = NonNullable<Parameters<typeof serve>[0]['websocket']>['server']

export interface ListenOptions {
  /** Name or address. */
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  /** Time to send one request in full, so that slow senders do not hold connections. */
  readonly requestTimeoutMs: number
  /** Whoever gives it ends its connections. */
  readonly webSockets?: WebSockets
}

export interface Listening {
  /** Such as `http://127.0.0.1:8080`, without a slash at its end. */
  readonly origin: string
  /** Drops what is under way and stops listening. */
  close(): Promise<void>
}

/** Serves an app over HTTP. @throws the system's error if the address cannot be listened on */
export async function listen(
  { fetch }: Pick<Hono, 'fetch'>,
  { host, port, requestTimeoutMs, webSockets }: ListenOptions,
): Promise<Listening> {
  const serverOptions = { requestTimeout: requestTimeoutMs }
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
