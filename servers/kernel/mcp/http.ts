import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { type ServerType, serve } from '@hono/node-server'
import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { type Context, Hono } from 'hono'
import type { ServerDefinition } from '../define-server.js'
import type { Session } from '../session.js'
import { HOST_LIMITS } from './limits.js'
import { createMcpServer, openOnce, type WorldOffer } from './server.js'

export const MCP_PATH = '/mcp'

export interface HttpHostOptions {
  /** Name or address to listen on. Default 127.0.0.1: other machines cannot connect. */
  readonly host?: string
  /** 0 takes any free port. */
  readonly port: number
  /** Host names that clients may use besides those of the loopback interface and `host`. */
  readonly allowedHosts?: readonly string[]
  readonly maxSessions?: number
  readonly idleMs?: number
  /** Milliseconds on a clock that never goes back; for tests. */
  readonly now?: () => number
}

export interface HttpHost {
  /** Where clients connect: `http://127.0.0.1:8080/mcp`. */
  readonly url: string
  readonly sessionCount: number
  /** Closes sessions that have been idle too long. Also happens by itself. @returns how many */
  closeIdle(): number
  /** Ends every session and stops listening. */
  close(): Promise<void>
}

interface HttpSession {
  readonly transport: WebStandardStreamableHTTPServerTransport
  readonly server: Server
  lastUsed: number
}

/** Opens a world for a client; `seed` is the one it asked for with `?seed=N` when it connected. */
export type OpenWorld = (server: ServerDefinition, seed: number | undefined) => Session

/**
 * Serves worlds over MCP's streamable HTTP transport (specification 2025-11-25, "Transports"), with JSON answers. Every
 * MCP session has its own sessions of the worlds; it begins with `initialize` and ends with DELETE, with time, or with
 * the host.
 * @throws the system's error if the address cannot be listened on
 */
export async function serveHttp(offer: WorldOffer, open: OpenWorld, options: HttpHostOptions): Promise<HttpHost> {
  const { host = '127.0.0.1', port, maxSessions = HOST_LIMITS.maxSessions, idleMs = HOST_LIMITS.idleMs } = options
  const now = options.now ?? (() => performance.now())
  const names = new Set(['127.0.0.1', 'localhost', '[::1]', host, ...(options.allowedHosts ?? [])])
  const sessions = new Map<string, HttpSession>()
  let opening = 0

  const end = async (id: string): Promise<void> => {
    const session = sessions.get(id)
    sessions.delete(id)
    await session?.server.close()
  }
  const closeIdle = (): number => {
    const idle = [...sessions].filter(([, { lastUsed }]) => now() - lastUsed >= idleMs)
    for (const [id] of idle) void end(id)
    return idle.length
  }

  const begin = async (request: Request, seed: number | undefined): Promise<Response> => {
    if (sessions.size + opening >= maxSessions && closeIdle() === 0) {
      return refusal(503, `All ${maxSessions} sessions are in use. End one, or try again later.`)
    }
    const server = createMcpServer(
      offer,
      openOnce((world) => open(world, seed)),
    )
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: true,
      maxRequestBodySize: HOST_LIMITS.maxRequestBytes,
      onsessioninitialized: (id) => void sessions.set(id, { transport, server, lastUsed: now() }),
      onsessionclosed: (id) => void sessions.delete(id),
    })
    opening++
    try {
      await server.connect(transport)
      const response = await transport.handleRequest(request)
      if (transport.sessionId === undefined) await server.close()
      return response
    } finally {
      opening--
    }
  }

  const app = new Hono()
  app.use(async (context, next) => hostRefusal(context, names) ?? (await next()))
  app.all(MCP_PATH, async (context) => {
    const id = context.req.header('mcp-session-id')
    if (id === undefined) {
      const seed = context.req.query('seed')
      if (seed !== undefined && !isSeed(seed)) return refusal(400, 'seed must be an integer from 0 to 4294967295')
      return begin(context.req.raw, seed === undefined ? undefined : Number(seed))
    }
    const session = sessions.get(id)
    if (!session) return refusal(404, 'There is no such session, or it was idle too long. Initialize a new one.')
    // Only calls keep a session alive: a stream that is merely held open would keep it for ever.
    if (context.req.method === 'POST') session.lastUsed = now()
    return session.transport.handleRequest(context.req.raw)
  })
  app.notFound(() => refusal(404, `MCP is served at ${MCP_PATH}.`))
  app.onError((error) => refusal(500, error.message))

  const listener = await listen(app, host, port)
  const sweep = setInterval(closeIdle, Math.min(idleMs, 60_000)).unref()
  const { port: actual } = listener.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${actual}${MCP_PATH}`,
    get sessionCount() {
      return sessions.size
    },
    closeIdle,
    async close() {
      clearInterval(sweep)
      await Promise.all([...sessions.keys()].map(end))
      await new Promise<void>((resolve) => {
        listener.close(() => resolve())
        if ('closeAllConnections' in listener) listener.closeAllConnections()
      })
    },
  }
}

export const isSeed = (text: string): boolean => /^\d{1,10}$/.test(text) && Number(text) <= 0xffffffff

function listen(app: Hono, hostname: string, port: number): Promise<ServerType> {
  return new Promise((resolve, reject) => {
    const options = { requestTimeout: HOST_LIMITS.requestTimeoutMs }
    const listener = serve({ fetch: app.fetch, hostname, port, serverOptions: options }, () => resolve(listener))
    listener.once('error', reject)
  })
}

/** A page that rebinds its name to this machine, or calls from another origin, shows in these headers. */
function hostRefusal(context: Context, names: ReadonlySet<string>): Response | undefined {
  const { host, origin } = { host: context.req.header('host'), origin: context.req.header('origin') }
  const nameIn = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).hostname : undefined)
  if (!names.has(nameIn(`http://${host}`) ?? '')) return refusal(403, `The host ${host} is not allowed.`)
  if (origin !== undefined && !names.has(nameIn(origin) ?? ''))
    return refusal(403, `The origin ${origin} is not allowed.`)
  return undefined
}

/** An HTTP error with a JSON-RPC error for a body, as MCP clients expect it. */
function refusal(status: number, message: string): Response {
  return Response.json(
    { jsonrpc: '2.0', error: { code: status === 404 ? -32001 : -32000, message }, id: null },
    { status },
  )
}
