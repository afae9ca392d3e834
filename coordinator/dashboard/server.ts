import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { limitConnections } from '../../common/http/index.js'
import { partsOfAddress, type RunConfig } from '../settings/config.js'
import { createAccess, readToken } from './access.js'
import { dashboardApp } from './app.js'
import { DashboardError } from './errors.js'
import { DASHBOARD_LIMITS } from './limits.js'
import type { DashboardParts } from './routes.js'

/** A dashboard in service. */
export interface Dashboard {
  /** Address for browsers. */
  readonly url: string
  close(): Promise<void>
}

/**
 * Serves the dashboard to browsers and to Prometheus.
 * @throws DashboardError when the token cannot be read, or the address is not available
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
  limitConnections(server, DASHBOARD_LIMITS.connections)
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const why = code === 'EADDRINUSE' ? 'another program listens at this address' : message
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
