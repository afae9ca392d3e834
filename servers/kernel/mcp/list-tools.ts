import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ListToolsResultSchema } from '@modelcontextprotocol/sdk/types.js'

export interface ListedTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: unknown
  readonly outputSchema: unknown
  readonly annotations?: {
    readonly readOnlyHint?: boolean | undefined
    readonly destructiveHint?: boolean | undefined
    readonly idempotentHint?: boolean | undefined
  }
}

/** Self-description of an MCP server. The kernel does not export this module: it starts programs, and the kernel runs in browsers too. */
export interface ListedServer {
  readonly title: string
  readonly instructions: string
  readonly tools: readonly ListedTool[]
}

export interface ListBounds {
  readonly tools: number
  /** Of all messages together, and of one. */
  readonly bytes: number
  /** Ends the work, and the server. */
  readonly signal: AbortSignal
}

/**
 * Starts an MCP server, asks it for its tools and ends it. The server's stderr goes to the stderr of this process.
 * @param command  the program and its arguments; no shell reads them
 * @throws Error when the server does not start, does not answer as MCP has it, or says more than `bounds` allow
 */
export async function listToolsOf(command: readonly string[], bounds: ListBounds): Promise<ListedServer> {
  const { signal } = bounds
  const transport = new StdioClientTransport({
    command: command[0]!,
    args: command.slice(1),
    stderr: 'inherit',
    maxBufferSize: bounds.bytes,
  })
  const client = new Client({ name: 'prove-server', version: '1.0.0' })
  let failed: Error | undefined
  client.onerror = (error) => {
    failed ??= error
  }
  // The SDK's own limit would end a request earlier than the signal.
  const timeout = 2 ** 31 - 1
  // One for each request, for the SDK's listeners stay on a signal for good.
  const options = () => ({ signal: AbortSignal.any([signal]), timeout })
  const ended = new AbortController()
  client.onclose = () => ended.abort()
  try {
    signal.throwIfAborted()
    await client.connect(transport, options())
    const tools: ListedTool[] = []
    let bytes = 0
    let cursor: string | undefined
    do {
      // Not by `listTools`, which compiles the schemas of strangers.
      const params = cursor === undefined ? {} : { cursor }
      const page = await client.request({ method: 'tools/list', params }, ListToolsResultSchema, options())
      bytes += JSON.stringify(page).length
      if (bytes > bounds.bytes) throw new Error(`it says more than ${bounds.bytes} bytes of its tools`)
      for (const { name, title, description, inputSchema, outputSchema, annotations } of page.tools) {
        const about = { name, description: description ?? title ?? '', inputSchema, outputSchema }
        tools.push({ ...about, ...(annotations === undefined ? {} : { annotations }) })
      }
      if (tools.length > bounds.tools) throw new Error(`it lists more than ${bounds.tools} tools`)
      // One that gives empty pages for ever.
      if (page.nextCursor !== undefined && page.tools.length === 0) throw new Error('a page of its list is empty')
      cursor = page.nextCursor
    } while (cursor !== undefined)
    const { name = '', title } = client.getServerVersion() ?? {}
    return { title: title ?? name, instructions: client.getInstructions() ?? '', tools }
  } catch (cause) {
    // That the connection ended says less than why it did.
    throw ended.signal.aborted && failed ? failed : cause
  } finally {
    await client.close()
  }
}
