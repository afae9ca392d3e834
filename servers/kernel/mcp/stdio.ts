import { StdioServerTransport, serveStdio as serveLine } from '@modelcontextprotocol/server/stdio'
import type { Environment } from '../define-environment.js'
import type { Session } from '../session.js'
import { clientLines } from './client-lines.js'
import { createHandleServer, createLineServer } from './handle-server.js'
import { createHandles } from './handles.js'
import { HOST_LIMITS } from './limits.js'
import { type EnvironmentOffer, openOnce } from './server.js'

/**
 * Serves one client over stdin and stdout until it goes. stdout carries the protocol and nothing else. How the client begins decides
 * which MCP is spoken: after `initialize` there is one session, otherwise the client opens its own.
 * @param open  opens an environment; without a seed, the host's own
 */
export async function serveStdio(
  offer: EnvironmentOffer,
  open: (environment: Environment, seed?: number) => Session,
  defaultSeed: number,
): Promise<void> {
  const { maxSessions, restMs, idleMs } = HOST_LIMITS
  const limits = { maxSessions, maxPerClient: maxSessions, restMs, idleMs, now: () => performance.now() }
  const handles = createHandles(offer, open, limits)
  const input = clientLines(process.stdin, (error) => void process.stdout.write(`${JSON.stringify(error)}\n`))
  const ended = new Promise<void>((resolve) => {
    for (const name of ['end', 'close'] as const) input.once(name, () => resolve())
  })
  const line = serveLine(
    ({ era }) =>
      era === 'modern'
        ? createHandleServer(offer, handles, { client: 'stdin', defaultSeed })
        : createLineServer(
            offer,
            openOnce((environment) => open(environment)),
          ),
    { transport: new StdioServerTransport(input) },
  )
  await ended
  await line.close()
}
