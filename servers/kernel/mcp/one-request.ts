import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js'
import {
  createMcpHandler,
  Server as HandleServer,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'
import type { OfferedTool } from '../tool-schema.js'
import { notACursor, pageOf, type ToolAnswer, VERSION } from './answers.js'
import type { ToolResponse } from './in-process.js'
import { HOST_LIMITS } from './limits.js'
import { lazyValidator } from './validator.js'

/** Tools that lie behind one address. */
export interface ToolsAtAddress {
  readonly name: string
  readonly instructions: string
  readonly tools: readonly OfferedTool[]
  /** Whether calls can bring other tools, which sessions of the first era are then notified of. */
  readonly mayChange?: boolean
  /** @param meta  the request's `_meta` */
  call(name: string, args: Record<string, unknown>, meta: Readonly<Record<string, unknown>>): Promise<CallAtAddress>
}

export interface CallAtAddress extends ToolResponse {
  /** The result's `_meta`. */
  readonly meta?: Readonly<Record<string, unknown>>
  /** Whether other tools are listed from now on. */
  readonly toolsChanged?: true
}

/**
 * Answers one HTTP request of MCP's streamable transport without a session. The state between calls belongs to the address. So all clients
 * of the address see it, over any number of connections. Clients of either era are answered.
 */
export async function answerMcpRequest(request: Request, served: ToolsAtAddress): Promise<Response> {
  if (!(await isLegacyRequest(request, undefined, { maxRequestBodySize: HOST_LIMITS.maxRequestBytes })))
    return answerWithoutSession(request, served)
  const server = new Server(
    { name: served.name, version: VERSION },
    {
      capabilities: { tools: served.mayChange ? { listChanged: true } : {} },
      instructions: served.instructions,
      jsonSchemaValidator: lazyValidator,
    },
  )
  const tools = served.tools.map(mcpToolOf)
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
    const page = pageOf(tools, params?.cursor)
    if (page) return page
    throw new McpError(ErrorCode.InvalidParams, notACursor(params?.cursor))
  })
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { sendNotification }) => {
    const called = await served.call(params.name, params.arguments ?? {}, params._meta ?? {})
    if (called.toolsChanged) await sendNotification({ method: 'notifications/tools/list_changed' })
    return answerOf(called)
  })
  const transport = new WebStandardStreamableHTTPServerTransport({
    // JSON holds one message: a notification beside the answer needs a stream.
    enableJsonResponse: served.mayChange !== true,
    maxRequestBodySize: HOST_LIMITS.maxRequestBytes,
  })
  await server.connect(transport)
  try {
    const response = await transport.handleRequest(request)
    if (!served.mayChange) return response
    // A stream is still being written to; its end comes with the answer, and only then may the server be closed.
    return new Response(response.body && (await response.text()), response)
  } finally {
    await server.close()
  }
}

/** The same to a client of MCP 2026-07-28, which has neither `initialize` nor sessions. */
async function answerWithoutSession(request: Request, served: ToolsAtAddress): Promise<Response> {
  const handler = createMcpHandler(() => createAddressServer(served), {
    ...{ legacy: 'reject', maxSubscriptions: 1 },
    maxRequestBodySize: HOST_LIMITS.maxRequestBytes,
  })
  try {
    return await handler.fetch(request)
  } finally {
    await handler.close()
  }
}

function createAddressServer(served: ToolsAtAddress): HandleServer {
  const { name, instructions } = served
  const tools = served.tools.map(mcpToolOf)
  const server = new HandleServer({ name, version: VERSION }, { capabilities: { tools: {} }, instructions })
  server.setRequestHandler('tools/list', ({ params }) => {
    const page = pageOf(tools, params?.cursor)
    if (page) return page as never
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, notACursor(params?.cursor))
  })
  server.setRequestHandler('tools/call', async ({ params }) =>
    answerOf(await served.call(params.name, params.arguments ?? {}, params._meta ?? {})),
  )
  return server
}

function answerOf({ ok, text, meta }: CallAtAddress): ToolAnswer {
  const answer: ToolAnswer = { content: [{ type: 'text', text }], ...(ok ? {} : { isError: true }) }
  return meta ? { ...answer, _meta: { ...meta } } : answer
}

const mcpToolOf = ({ name, description, inputSchema, readOnly }: OfferedTool): Tool => ({
  name,
  description,
  inputSchema: inputSchema as Tool['inputSchema'],
  annotations: { readOnlyHint: readOnly, openWorldHint: false },
})
