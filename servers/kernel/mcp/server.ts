import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  type ListToolsResult,
  McpError,
} from '@modelcontextprotocol/sdk/types.js'
import type { ServerDefinition } from '../define-environment.js'
import { WorldDefect } from '../errors.js'
import { callRefused, type Session } from '../session.js'
import { jsonSchemaOf } from '../tool-schema.js'
import { answerCall, identityOf, type ListedTool, notACursor, pageOf, toolAnswer } from './answers.js'
import { instructionsOf, titleOf } from './instructions.js'
import { lazyValidator } from './validator.js'

/** Worlds that one MCP server offers together. */
export interface WorldOffer {
  readonly servers: readonly ServerDefinition[]
  readonly tools: readonly ListedTool[]
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

const toolLists = new WeakMap<ServerDefinition, readonly ListedTool[]>()

/** The server's tools in MCP's words. */
function toolsOf(server: ServerDefinition): readonly ListedTool[] {
  let list = toolLists.get(server)
  if (!list) {
    list = server.tools.map(({ name, description, input, output, annotations }) => ({
      name,
      title: titleOf(name),
      description,
      inputSchema: jsonSchemaOf(input, 'input'),
      outputSchema: jsonSchemaOf(output, 'output'),
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
  const server = new Server(identityOf(offer.servers), {
    capabilities: { tools: {} },
    instructions: instructionsOf(offer.servers),
    jsonSchemaValidator: lazyValidator,
  })
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
    const page = pageOf(offer.tools, params?.cursor)
    if (page) return page as ListToolsResult
    throw new McpError(ErrorCode.InvalidParams, notACursor(params?.cursor))
  })
  server.setRequestHandler(CallToolRequestSchema, ({ params }): CallToolResult => {
    const world = offer.serverOf(params.name)
    if (!world) return toolAnswer(callRefused('unknown_tool', `There is no tool called ${params.name}.`))
    return answerCall(sessionOf(world), params.name, params.arguments ?? {}, params._meta)
  })
  return server
}
