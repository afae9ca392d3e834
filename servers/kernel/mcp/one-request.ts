import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js'
import type { OfferedTool } from '../tool-schema.js'
import { VERSION } from './answers.js'
import type { ToolResponse } from './in-process.js'
import { HOST_LIMITS } from './limits.js'
import { lazyValidator } from './validator.js'

/** Tools that lie behind one address. */
export interface ToolsAtAddress {
  readonly name: string
  readonly instructions: string
  readonly tools: readonly OfferedTool[]
  /** `meta` goes into the result's `_meta`. */
  call(
    name: string,
    args: Record<string, unknown>,
  ): Promise<ToolResponse & { readonly meta?: Readonly<Record<string, unknown>> }>
}

/**
 * Answers one HTTP request of MCP's streamable transport without a session: what is remembered between calls is behind the address,
 * so any client of the address sees it, over any number of connections.
 */
export async function answerMcpRequest(request: Request, served: ToolsAtAddress): Promise<Response> {
  const server = new Server(
    { name: served.name, version: VERSION },
    { capabilities: { tools: {} }, instructions: served.instructions, jsonSchemaValidator: lazyValidator },
  )
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: served.tools.map(mcpToolOf) }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }): Promise<CallToolResult> => {
    const { ok, text, meta } = await served.call(params.name, params.arguments ?? {})
    const result: CallToolResult = { content: [{ type: 'text', text }], ...(ok ? {} : { isError: true }) }
    return meta ? { ...result, _meta: { ...meta } } : result
  })
  const transport = new WebStandardStreamableHTTPServerTransport({
    enableJsonResponse: true,
    maxRequestBodySize: HOST_LIMITS.maxRequestBytes,
  })
  await server.connect(transport)
  try {
    return await transport.handleRequest(request)
  } finally {
    await server.close()
  }
}

const mcpToolOf = ({ name, description, inputSchema, readOnly }: OfferedTool): Tool => ({
  name,
  description,
  inputSchema: inputSchema as Tool['inputSchema'],
  annotations: { readOnlyHint: readOnly, openWorldHint: false },
})
