import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js'
import type { ServerDefinition } from './define-server.js'
import type { Session } from './session.js'
import { jsonSchemaOf } from './tool-schema.js'

const VERSION = '1.0.0'
const toolLists = new WeakMap<ServerDefinition, Tool[]>()

/** The server's tools in MCP's words. */
function toolList(server: ServerDefinition): Tool[] {
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

/**
 * An MCP server over one session. Domain failures, unknown tools and bad arguments come back as tool errors
 * (`isError`, text `{"error":code,"message":...}`); a defect of the world is a protocol error, so that nobody mistakes
 * it for the policy's fault.
 */
function mcpServer(session: Session): Server {
  const definition = session.world.server
  const server = new Server(
    { name: definition.name, title: definition.title, version: VERSION },
    { capabilities: { tools: {} }, instructions: definition.description },
  )
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: toolList(definition) }))
  server.setRequestHandler(CallToolRequestSchema, ({ params }): CallToolResult => {
    const result = session.call(params.name, params.arguments ?? {})
    if (result.ok) {
      return {
        content: [{ type: 'text', text: JSON.stringify(result.output) }],
        structuredContent: { ...result.output },
      }
    }
    const error = { error: result.code, message: result.message }
    return { isError: true, content: [{ type: 'text', text: JSON.stringify(error) }] }
  })
  return server
}

/** What a tool call came to, as an MCP client sees it. `text` is the JSON that the policy reads. */
export interface ToolResponse {
  readonly ok: boolean
  readonly text: string
}

export interface McpConnection {
  /** @throws the SDK's McpError when the infrastructure failed: the rollout is then void, not unsuccessful */
  callTool(name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<ToolResponse>
  close(): Promise<void>
}

/** Connects an MCP client to a session within this process. Closing it closes both ends; the session lives on. */
export async function connectInProcess(session: Session): Promise<McpConnection> {
  const server = mcpServer(session)
  const client = new Client({ name: 'prove-rollout', version: VERSION })
  const [near, far] = InMemoryTransport.createLinkedPair()
  await Promise.all([server.connect(far), client.connect(near)])
  return {
    async callTool(name, args, signal) {
      const result = await withOwnSignal(
        signal,
        (own) => client.callTool({ name, arguments: args }, undefined, { signal: own }) as Promise<CallToolResult>,
      )
      const first = result.content[0]
      if (first?.type !== 'text') throw new Error(`${name}: the tool response holds no text`)
      return { ok: result.isError !== true, text: first.text }
    },
    close: () => client.close(),
  }
}

/**
 * Runs something under a signal of its own that aborts with `signal`. The SDK (1.32) never takes its listener off the
 * signal of a request, so a rollout's signal would gather one per call.
 */
async function withOwnSignal<T>(signal: AbortSignal, run: (own: AbortSignal) => Promise<T>): Promise<T> {
  signal.throwIfAborted()
  const own = new AbortController()
  const abort = (): void => own.abort(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await run(own.signal)
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** Serves a session over stdin and stdout until the client goes. stdout carries the protocol and nothing else. */
export async function serveStdio(session: Session): Promise<void> {
  const server = mcpServer(session)
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve
    process.stdin.once('end', () => void server.close())
  })
  await server.connect(new StdioServerTransport())
  await closed
}
