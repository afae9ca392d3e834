// An MCP client that calls the tools of an environment. Usage: node examples/mcp-client.mjs
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'

const folder = dirname(createRequire(import.meta.url).resolve('prove-swarm/package.json'))
const client = new Client({ name: 'example', version: '1.0.0' })
const server = { command: process.execPath, args: [join(folder, 'bin', 'prove-server.cjs'), 'banking', '--seed', '7'] }
await client.connect(new StdioClientTransport(server))
try {
  const { tools } = await client.listTools()
  console.log(`${tools.length} tools: ${tools.map(({ name }) => name).join(', ')}`)
  const { structuredContent } = await client.callTool({ name: 'list_accounts', arguments: { kind: 'checking' } })
  console.log(structuredContent)
} finally {
  await client.close()
}
