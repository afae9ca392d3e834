import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  type ListToolsResult,
  McpError,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js'
import type { ServerDefinition } from '../define-server.js'
import { WorldDefect } from '../errors.js'
import { type CallResult, callRefused, responseText, type Session } from '../session.js'
import { jsonSchemaOf } from '../tool-schema.js'
import { HOST_LIMITS } from './limits.js'
import { lazyValidator } from './validator.js'

export const VERSION = '1.0.0'

/** Key of a call's `_meta`: with `true` in the request, the response carries the hash of the world's state after the call. */
export const STATE_HASH = 'prove/stateHash'

/** Worlds that one MCP server offers together. */
export interface WorldOffer {
  readonly servers: readonly ServerDefinition[]
  readonly tools: readonly Tool[]
  serverOf(tool: string): ServerDefinition | undefined
}

/** @throws WorldDefect if two worlds have a tool of the same name */
export function offerWorlds(servers: readonly ServerDefinition[]): WorldOffer {
  const owners = new Map<string, ServerDefinition>()
  for (const server of servers) {
    for (const { name } of server.tools) {
      const other = owners.get(name)
      if (other) throw new WorldDefect(server.name, `its tool ${name} is also one of ${other.name}; offer them apart`)
      owners.set(name, server)
    }
  }
  return { servers, tools: servers.flatMap(toolsOf), serverOf: (tool) => owners.get(tool) }
}

const toolLists = new WeakMap<ServerDefinition, readonly Tool[]>()

/** The server's tools in MCP's words. */
function toolsOf(server: ServerDefinition): readonly Tool[] {
  let list = toolLists.get(server)
  if (!list) {
    list = server.tools.map(({ name, description, input, output, annotations }) => ({
      name,
      description,
      inputSchema: jsonSchemaOf(input, 'input') as Tool['inputSchema'],
      outputSchema: jsonSchemaOf(output, 'output') as NonNullable<Tool['outputSchema']>,
      annotations: {
        readOnlyHint: annotations.readOnly,
        destructiveHint: annotations.destructive ?? false,
        idempotentHint: annotations.idempotent ?? annotations.readOnly,
        openWorldHint: false,
      },
    }))
    toolLists.set(server, list)
  }
  return list
}

/** Opens each world's session when one of its tools is first called. */
export function openOnce(open: (server: ServerDefinition) => Session): (server: ServerDefinition) => Session {
  const sessions = new Map<ServerDefinition, Session>()
  return (world) => {
    let session = sessions.get(world)
    if (!session) {
      session = open(world)
      sessions.set(world, session)
    }
    return session
  }
}

/**
 * An MCP server for one client. Domain failures, unknown tools and bad arguments come back as tool errors (`isError`, text
 * `{"error":code,"message":...}`); a defect of the world is a protocol error, so that nobody mistakes it for the
 * policy's fault.
 * @param sessionOf  the session in which a world's tool is called, asked at every call
 */
export function createMcpServer(offer: WorldOffer, sessionOf: (server: ServerDefinition) => Session): Server {
  const server = new Server(identityOf(offer), {
    capabilities: { tools: {} },
    instructions: offer.servers.map(({ description }) => description).join('\n'),
    jsonSchemaValidator: lazyValidator,
  })
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => pageOf(offer.tools, params?.cursor))
  server.setRequestHandler(CallToolRequestSchema, ({ params }): CallToolResult => {
    const world = offer.serverOf(params.name)
    if (!world) return toolResult(callRefused('unknown_tool', `There is no tool called ${params.name}.`))
    const session = sessionOf(world)
    const result = toolResult(session.call(params.name, params.arguments ?? {}))
    return params._meta?.[STATE_HASH] === true ? { ...result, _meta: { [STATE_HASH]: session.stateHash() } } : result
  })
  return server
}

function identityOf({ servers }: WorldOffer): { name: string; title: string; version: string } {
  const [first] = servers
  if (first && servers.length === 1) return { name: first.name, title: first.title, version: VERSION }
  return { name: 'prove', title: servers.map(({ title }) => title).join(', '), version: VERSION }
}

/** The cursor is the number of tools already listed. */
function pageOf(tools: readonly Tool[], cursor = '0'): ListToolsResult {
  const from = Number(cursor)
  if (!/^\d{1,6}$/.test(cursor) || from > tools.length) {
    throw new McpError(ErrorCode.InvalidParams, `${JSON.stringify(cursor)} is not a cursor of this list`)
  }
  const to = from + HOST_LIMITS.toolsPerPage
  return { tools: tools.slice(from, to), ...(to < tools.length ? { nextCursor: String(to) } : {}) }
}

function toolResult(result: CallResult): CallToolResult {
  const content: CallToolResult['content'] = [{ type: 'text', text: responseText(result) }]
  return result.ok ? { content, structuredContent: { ...result.output } } : { isError: true, content }
}
