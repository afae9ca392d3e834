import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { Session } from '../session.js'
import { createMcpServer, offerWorlds, VERSION } from './server.js'

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
  const server = createMcpServer(offerWorlds([session.world.server]), () => session)
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
