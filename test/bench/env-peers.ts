import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'
import { CALLS, microseconds } from './env-measure.js'
import type { Metric } from './env-world.js'

const LONGEST_MS = 5 * 60_000
/** Root of the checkout, relative to the compiled file. */
const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Costs of the same work in other programs: numbers by metric, by name of the program. */
export interface Peers {
  readonly versions: Readonly<Record<string, string>>
  readonly sides: Readonly<Record<string, Partial<Record<Metric, number>>>>
}

/** Returns Python's numbers from `test/bench/env_peer.py`. Without Python, prints a line to stderr and returns none. */
export async function pythonPeers(): Promise<Peers> {
  const own = `${root}.venv/bin/python`
  const child = spawn(existsSync(own) ? own : 'python3', [`${root}test/bench/env_peer.py`], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: LONGEST_MS,
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk
  })
  const status = await new Promise<number | string | null>((resolve) => {
    child.once('error', ({ message }) => resolve(message)).once('close', resolve)
  })
  if (status === 0) return JSON.parse(output) as Peers
  console.error(`bench: goes on without the Python peers: ${status}`)
  return { versions: {}, sides: {} }
}

/** Measures the calls per second of the MCP SDK alone, in memory, with schemas checked on the server. */
export async function emptyMcpCalls(): Promise<number> {
  const server = new McpServer({ name: 'empty', version: '1.0.0' })
  const schema = { text: z.string() }
  server.registerTool('echo', { inputSchema: schema, outputSchema: schema }, ({ text }) => ({
    content: [{ type: 'text', text }],
    structuredContent: { text },
  }))
  const client = new Client({ name: 'bench', version: '1.0.0' })
  const [near, far] = InMemoryTransport.createLinkedPair()
  await Promise.all([server.connect(far), client.connect(near)])
  try {
    const converse = async (): Promise<void> => {
      for (let i = 0; i < CALLS; i++) await client.callTool({ name: 'echo', arguments: { text: 'hello' } })
    }
    return 1e6 / (await microseconds(CALLS, converse, { warmup: 200 }))
  } finally {
    await client.close()
  }
}
