import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import type { ServerDefinition } from '../define-server.js'
import type { Session } from '../session.js'
import { createMcpServer, openOnce, type WorldOffer } from './server.js'

/** Serves one client over stdin and stdout until it goes. stdout carries the protocol and nothing else. */
export async function serveStdio(offer: WorldOffer, open: (server: ServerDefinition) => Session): Promise<void> {
  const server = createMcpServer(offer, openOnce(open))
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve
    process.stdin.once('end', () => void server.close())
  })
  await server.connect(new StdioServerTransport())
  await closed
}
