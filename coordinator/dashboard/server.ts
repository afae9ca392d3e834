import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { partsOfAddress, type RunConfig } from '../settings/config.js'
import { createAccess, readToken } from './access.js'
import { type DashboardParts, dashboardApp } from './app.js'
import { DashboardError } from './errors.js'
import { DASHBOARD_LIMITS } from './limits.js'

export interface Dashboard {
  /** Where browsers find it. */
  readonly url: string
  close(): Promise<void>
}

/**
 * Shows a run to browsers and to collectors of metrics.
 * @throws DashboardError when the token cannot be read, or the address not be listened on
 */
export async function serveDashboard(
  { listen, tokenFile, public: isPublic, hosts }: RunConfig['dashboard'],
  parts: DashboardParts,
): Promise<Dashboard> {
  const token = tokenFile === undefined ? null : await readToken(tokenFile)
  const { host, port } = partsOfAddress(listen)
  const access = createAccess({ token, public: isPublic, hosts: [...hosts, host], now: () => parts.clock.now() })
  const closing = new AbortController()
  const app = dashboardApp(parts, access, closing.signal)
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server
  server.requestTimeout = DASHBOARD_LIMITS.requestTimeoutMs
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const why = code === 'EADDRINUSE' ? 'another program listens there' : message
    throw new DashboardError(
      'not_listening',
      `${listen}: ${why}. Name another address in run.yaml, such as dashboard: {listen: 127.0.0.1:0} for any free port.`,
      { cause },
    )
  }
  const { port: actual } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${actual}`,
    async close() {
      closing.abort(new Error('the dashboard is closing'))
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
