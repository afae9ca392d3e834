import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { type CallToolResult, ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js'
import type { Environment } from '../define-environment.js'
import { EnvironmentDefect } from '../errors.js'
import type { Session } from '../session.js'
import { VERSION } from './answers.js'
import { createMcpServer, offerEnvironments } from './server.js'
import { lazyValidator } from './validator.js'

/** Result of a tool call, as an MCP client sees it. `text` is the JSON that the policy reads. */
export interface ToolResponse {
  readonly ok: boolean
  readonly text: string
}

export interface McpConnection {
  /**
   * @throws EnvironmentDefect when the environment itself is broken, the SDK's McpError when the connection is: the rollout is then void,
   *   not unsuccessful
   */
  callTool(name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<ToolResponse>
  close(): Promise<void>
}

/** Connects an MCP client to a session within this process. Closing it closes both ends; the session lives on. */
export async function connectInProcess(session: Session): Promise<McpConnection> {
  const line = await openLine(session.seedState.environment, session)
  return { callTool: line.callTool, close: line.close }
}

/**
 * Connections within this process that are used again for another session of the same server. An MCP handshake costs as
 * much as ten calls, and a group's replay needs one per environment and rollout.
 */
export interface ConnectionPool {
  /** Closing the connection makes it free again; it is then closed for its user all the same. */
  connect(session: Session): Promise<McpConnection>
}

/** Free connections of one server that are kept. */
const MAX_FREE = 32

export function createConnectionPool(): ConnectionPool {
  const free = new Map<Environment, Line[]>()
  return {
    async connect(session) {
      const { environment } = session.seedState
      const idle = free.get(environment) ?? []
      free.set(environment, idle)
      const line = idle.pop() ?? (await openLine(environment, session))
      line.session = session
      let closed = false
      /** Calls without an answer. One that failed counts for good: its answer could still come, to the next user. */
      let unanswered = 0
      return {
        async callTool(name, args, signal) {
          if (closed) throw new Error('the connection is closed')
          unanswered++
          const answer = await line.callTool(name, args, signal)
          unanswered--
          return answer
        },
        async close() {
          if (closed) return
          closed = true
          if (unanswered === 0 && idle.length < MAX_FREE) idle.push(line)
          else await line.close()
        },
      }
    },
  }
}

/** A client and a server that are connected to each other. */
interface Line extends McpConnection {
  /** In which the calls are made. */
  session: Session
}

async function openLine(definition: Environment, session: Session): Promise<Line> {
  const server = createMcpServer(offerEnvironments([definition]), () => line.session)
  const client = new Client({ name: 'prove-rollout', version: VERSION }, { jsonSchemaValidator: lazyValidator })
  const line: Line = {
    session,
    async callTool(name, args, signal) {
      const result = await withOwnSignal(
        signal,
        (own) => client.callTool({ name, arguments: args }, undefined, { signal: own }) as Promise<CallToolResult>,
      ).catch((cause: unknown) => {
        const isDefect = cause instanceof McpError && cause.code === ErrorCode.InternalError
        throw isDefect ? new EnvironmentDefect(definition.name, cause.message, { cause }) : cause
      })
      const first = result.content[0]
      if (first?.type !== 'text') throw new Error(`${name}: the tool response holds no text`)
      return { ok: result.isError !== true, text: first.text }
    },
    close: () => client.close(),
  }
  const [near, far] = InMemoryTransport.createLinkedPair()
  await Promise.all([server.connect(far), client.connect(near)])
  return line
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
