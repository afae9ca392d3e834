import { randomUUID } from 'node:crypto'
import { getConnInfo } from '@hono/node-server/conninfo'
import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server'
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import { accessRefusal, createSessionTable, hostsOf, listen } from '../../../common/http/index.js'
import type { Environment } from '../define-environment.js'
import type { Session } from '../session.js'
import { readClientRequest } from './client-request.js'
import { createHandleServer } from './handle-server.js'
import { createHandles } from './handles.js'
import { HOST_LIMITS } from './limits.js'
import { createMcpServer, type EnvironmentOffer, openOnce } from './server.js'

export const MCP_PATH = '/mcp'
/** What MCP's transport needs of a browser (specifications 2025-11-25 and 2026-07-28, "Transports"). */
const CORS = {
  allowMethods: ['GET', 'POST', 'DELETE'],
  allowHeaders: [
    ...['content-type', 'accept', 'mcp-session-id', 'mcp-protocol-version', 'last-event-id'],
    ...['mcp-method', 'mcp-name'],
  ],
  exposeHeaders: ['mcp-session-id'],
}

export interface HttpHostOptions {
  /** Name or address to listen on. Default 127.0.0.1: other machines cannot connect. */
  readonly host?: string
  /** 0 takes any free port. */
  readonly port: number
  /** Host names that clients may use besides those of the loopback interface and `host`. */
  readonly allowedHosts?: readonly string[]
  /** Origins whose pages may call, such as `http://localhost:5173`. Without any, only programs may: they send no Origin. */
  readonly allowedOrigins?: readonly string[]
  /** Seed of sessions that a client opens by itself, without naming one. Default 0. */
  readonly defaultSeed?: number
  readonly maxSessions?: number
  readonly maxSessionsPerClient?: number
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
}

/** Opens an environment for a client; `seed` is the one it asked for with `?seed=N` when it connected. */
export type OpenEnvironment = (environment: Environment, seed: number | undefined) => Session

/**
 * Serves environments over MCP's streamable HTTP transport, with JSON answers, to clients of either era at one address. Up to
 * 2025-11-25, every MCP session has its own sessions of the environments. Such an MCP session begins with `initialize`, and ends with
 * DELETE, after some time, or with the host. Since 2026-07-28 MCP has no sessions: clients open a session of the environments by a
 * tool, and name it in each call.
 * @throws the system's error if the address cannot be listened on
 */
export async function serveHttp(
  offer: EnvironmentOffer,
  open: OpenEnvironment,
  options: HttpHostOptions,
): Promise<HttpHost> {
  const { host = '127.0.0.1', port, idleMs = HOST_LIMITS.idleMs, allowedOrigins = [] } = options
  const { maxSessions = HOST_LIMITS.maxSessions, maxSessionsPerClient = HOST_LIMITS.maxSessionsPerClient } = options
  const now = options.now ?? (() => performance.now())
  const access = { hosts: hostsOf(host, options.allowedHosts), origins: new Set(allowedOrigins) }
  const limits = { maxSessions, maxPerClient: maxSessionsPerClient, idleMs, restMs: HOST_LIMITS.restMs, now }
  const sessions = createSessionTable<HttpSession>(limits, ({ server }) => server.close())
  const handles = createHandles(offer, open, limits)
  const withHandles = createMcpHandler(
    // Whoever authenticates clients could tell them apart by more; here the address is all there is.
    ({ authInfo, requestInfo }) => {
      const asked = requestInfo && new URL(requestInfo.url).searchParams.get('seed')
      const defaultSeed = asked ? Number(asked) : (options.defaultSeed ?? 0)
      return createHandleServer(offer, handles, { client: authInfo?.clientId ?? '', defaultSeed })
    },
    { legacy: 'reject', maxRequestBodySize: HOST_LIMITS.maxRequestBytes, maxSubscriptions: 1 },
  )

  const begin = async (request: Request, client: string, seed: number | undefined): Promise<Response> => {
    const release = sessions.reserve(client)
    if (!release) {
      const most = `${maxSessions} in all, ${maxSessionsPerClient} of one address`
      return refusal(503, 'too_many_sessions', `All sessions are in use (${most}). End one, or try again later.`)
    }
    const server = createMcpServer(
      offer,
      openOnce((environment) => open(environment, seed)),
    )
    const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: true,
      maxRequestBodySize: HOST_LIMITS.maxRequestBytes,
      onsessioninitialized: (id): void => sessions.add(id, client, { transport, server }),
      onsessionclosed: (id) => void sessions.remove(id),
    })
    try {
      await server.connect(transport)
      const response = await transport.handleRequest(request)
      if (transport.sessionId === undefined) await server.close()
      return response
    } finally {
      release()
    }
  }

  const app = new Hono()
  app.use(async ({ req }, next) => {
    const refused = accessRefusal(req.raw, access)
    return refused ? refusal(403, refused.code, refused.message) : await next()
  })
  // For pages of the origins that were let in.
  app.use(cors({ origin: [...access.origins], ...CORS }))
  app.all(MCP_PATH, async (context) => {
    const id = context.req.header('mcp-session-id')
    const client = getConnInfo(context).remote.address ?? ''
    const request = await readClientRequest(context.req.raw)
    if (request instanceof Response) return request
    if (id === undefined) {
      const seed = context.req.query('seed')
      if (seed !== undefined && !isSeed(seed))
        return refusal(400, 'bad_seed', 'seed must be an integer from 0 to 4294967295')
      if (!(await isLegacyRequest(request, undefined, { maxRequestBodySize: HOST_LIMITS.maxRequestBytes })))
        return withHandles.fetch(request, { authInfo: { token: '', clientId: client, scopes: [] } })
      return begin(request, client, seed === undefined ? undefined : Number(seed))
    }
    // Only calls keep a session alive: a stream that is merely held open would keep it for ever.
    const isUse = context.req.method === 'POST'
    const answered = sessions.use(id, isUse, ({ transport }) => transport.handleRequest(request))
    if (answered) return answered
    return sessions.wasEvicted(id)
      ? refusal(404, 'session_evicted', 'This session rested while others needed its room. Initialize a new one.')
      : refusal(404, 'unknown_session', 'There is no such session, or it was idle too long. Initialize a new one.')
  })
  app.notFound(() => refusal(404, 'unknown_path', `MCP is served at ${MCP_PATH}.`))
  app.onError((error) => refusal(500, 'internal', error.message))

  const closeIdle = (): number => sessions.closeIdle() + handles.closeIdle()
  const listening = await listen(app, { host, port, requestTimeoutMs: HOST_LIMITS.requestTimeoutMs })
  const sweep = setInterval(closeIdle, Math.min(idleMs, 60_000)).unref()
  return {
    url: `${listening.origin}${MCP_PATH}`,
    get sessionCount() {
      return sessions.size + handles.size
    },
    closeIdle,
    async close() {
      clearInterval(sweep)
      await Promise.all([sessions.closeAll(), handles.closeAll(), withHandles.close()])
      await listening.close()
    },
  }
}

export const isSeed = (text: string): boolean => /^\d{1,10}$/.test(text) && Number(text) <= 0xffffffff

type RefusalCode =
  | 'host_not_allowed'
  | 'origin_not_allowed'
  | 'bad_seed'
  | 'too_many_sessions'
  | 'session_evicted'
  | 'unknown_session'
  | 'unknown_path'
  | 'internal'

/** An HTTP error with a JSON-RPC error for a body, as MCP clients expect it; `data.code` is for programs. */
function refusal(status: number, code: RefusalCode, message: string): Response {
  const headers = code === 'too_many_sessions' ? { 'retry-after': `${HOST_LIMITS.retryAfterSeconds}` } : undefined
  return Response.json(
    { jsonrpc: '2.0', error: { code: status === 404 ? -32001 : -32000, message, data: { code } }, id: null },
    { status, ...(headers ? { headers } : {}) },
  )
}
