import { Hono, type MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { accessRefusal, hostsOf, type Listening, listen } from '../../common/http/index.js'
import { EPISODE_SERVER_LIMITS } from './limits.js'
import { episodeApi } from './wire/episode-api.js'
import { episodeMcp } from './wire/mcp.js'
import { isVerifyPath, nemoGymApi } from './wire/nemo-gym.js'
import { orsApi } from './wire/ors.js'
import type { EpisodeService } from './wire/service.js'
import { taskMcp } from './wire/task-mcp.js'

export interface ServeOptions {
  readonly host: string
  /** TCP port; 0: any free port. */
  readonly port: number
  readonly allowedHosts?: readonly string[]
  readonly allowedOrigins?: readonly string[]
}

/** Interval between two closings of idle episodes. */
const SWEEP_MS = 60_000

/**
 * Serves episodes over all protocols at one address. An episode that one protocol opens is available in the others.
 * @throws the system's error if the address is not available
 */
export async function serveEpisodes(service: EpisodeService, options: ServeOptions): Promise<Listening> {
  const { host, port, allowedHosts, allowedOrigins = [] } = options
  const access = { hosts: hostsOf(host, allowedHosts), origins: new Set(allowedOrigins) }
  const app = new Hono()
  app.use(async ({ req }, next) => {
    const refused = accessRefusal(req.raw, access)
    return refused ? Response.json({ error: refused.code, message: refused.message }, { status: 403 }) : await next()
  })
  const [small, large] = [limited(EPISODE_SERVER_LIMITS.requestBytes), limited(EPISODE_SERVER_LIMITS.verifyBytes)]
  app.use((context, next) => (isVerifyPath(context.req.path) ? large : small)(context, next))
  app.get('/health', () => Response.json({ status: 'ok', episodes: service.episodes.size }))
  // First, because its sessions use the paths of all others as names of tools.
  app.route('/', nemoGymApi(service))
  app.route('/', episodeMcp(service))
  app.route('/', taskMcp(service))
  app.route('/', episodeApi(service))
  app.route('/', orsApi(service))
  app.notFound(({ req }) => Response.json({ error: 'unknown_path', message: `no path ${req.path}` }, { status: 404 }))
  const listening = await listen(app, {
    host,
    port,
    requestTimeoutMs: EPISODE_SERVER_LIMITS.requestTimeoutMs,
  })
  const sweep = setInterval(() => service.episodes.closeIdle(), SWEEP_MS).unref()
  return {
    origin: listening.origin,
    close() {
      clearInterval(sweep)
      return listening.close()
    },
  }
}

/** Creates a handler that rejects larger requests. */
const limited = (maxSize: number): MiddlewareHandler =>
  bodyLimit({
    maxSize,
    onError: () =>
      Response.json(
        { error: 'too_large', message: `the request is too large: send at most ${maxSize} bytes` },
        // The server does not read the rest of the body.
        { status: 413, headers: { connection: 'close' } },
      ),
  })
