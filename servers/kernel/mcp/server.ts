import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  type ListToolsResult,
  McpError,
} from '@modelcontextprotocol/sdk/types.js'
import type { Environment } from '../define-environment.js'
import { EnvironmentDefect } from '../errors.js'
import { callRefused, type Session } from '../session.js'
import { jsonSchemaOf } from '../tool-schema.js'
import { answerCall, identityOf, type ListedTool, notACursor, pageOf, toolAnswer } from './answers.js'
import { instructionsOf, titleOf } from './instructions.js'
import { lazyValidator } from './validator.js'

/** Environments that one MCP server offers together. */
export interface EnvironmentOffer {
  readonly environments: readonly Environment[]
  readonly tools: readonly ListedTool[]
  environmentOf(tool: string): Environment | undefined
}

/** @throws EnvironmentDefect if two environments have a tool of the same name */
export function offerEnvironments(environments: readonly Environment[]): EnvironmentOffer {
  const owners = new Map<string, Environment>()
  for (const environment of environments) {
    for (const { name } of environment.tools) {
      const other = owners.get(name)
      if (other)
        throw new EnvironmentDefect(environment.name, `its tool ${name} is also one of ${other.name}; offer them apart`)
      owners.set(name, environment)
    }
  }
  return { environments, tools: environments.flatMap(toolsOf), environmentOf: (tool) => owners.get(tool) }
}

const toolLists = new WeakMap<Environment, readonly ListedTool[]>()

/** The server's tools in MCP's words. */
function toolsOf(environment: Environment): readonly ListedTool[] {
  let list = toolLists.get(environment)
  if (!list) {
    list = environment.tools.map(({ name, description, input, output, annotations }) => ({
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
    toolLists.set(environment, list)
  }
  return list
}

/** Opens each environment's session when one of its tools is first called. */
export function openOnce(open: (environment: Environment) => Session): (environment: Environment) => Session {
  const sessions = new Map<Environment, Session>()
  return (environment) => {
    let session = sessions.get(environment)
    if (!session) {
      session = open(environment)
      sessions.set(environment, session)
    }
    return session
  }
}

/**
 * Creates an MCP server for one client. Domain failures, unknown tools and bad arguments are returned as tool errors (`isError`, text
 * `{"error":code,"message":...}`). A defect of the environment is a protocol error, so that clients do not mistake it for the
 * policy's fault.
 * @param sessionOf  the session in which an environment's tool is called, asked at every call
 */
export function createMcpServer(offer: EnvironmentOffer, sessionOf: (environment: Environment) => Session): Server {
  const server = new Server(identityOf(offer.environments), {
    capabilities: { tools: {} },
    instructions: instructionsOf(offer.environments),
    jsonSchemaValidator: lazyValidator,
  })
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
    const page = pageOf(offer.tools, params?.cursor)
    if (page) return page as ListToolsResult
    throw new McpError(ErrorCode.InvalidParams, notACursor(params?.cursor))
  })
  server.setRequestHandler(CallToolRequestSchema, ({ params }): CallToolResult => {
    const environment = offer.environmentOf(params.name)
    if (!environment) return toolAnswer(callRefused('unknown_tool', `There is no tool called ${params.name}.`))
    return answerCall(sessionOf(environment), params.name, params.arguments ?? {}, params._meta)
  })
  return server
}
