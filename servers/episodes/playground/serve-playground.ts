import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Hono } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import { packageRoot } from '../../../common/cli/index.js'
import { accessRefusal, hostsOf, type Listening, listen } from '../../../common/http/index.js'
import type { Task } from '../../../rollout/episode/index.js'
import type { RewardPreset } from '../../../rollout/reward/index.js'
import { EPISODE_SERVER_LIMITS } from '../limits.js'

/** Folder of the page. `npm run build` creates it, and any web server can serve it. */
export const PLAYGROUND_FOLDER = join(packageRoot, 'dist', 'playground')

const FILES = {
  'index.html': 'text/html; charset=utf-8',
  'playground.js': 'text/javascript; charset=utf-8',
  'playground.css': 'text/css; charset=utf-8',
  'icon.svg': 'image/svg+xml',
} as const

const SELF = ["'self'"]
/** The content security policy of index.html, plus a ban on frames. The page may fetch published rollouts from any server that allows it. */
const POLICY = {
  ...{ defaultSrc: ["'none'"], baseUri: ["'none'"], formAction: ["'none'"], frameAncestors: ["'none'"] },
  ...{ scriptSrc: SELF, styleSrc: SELF, imgSrc: [...SELF, 'data:'] },
  connectSrc: [...SELF, 'https:', 'http://localhost:*', 'http://127.0.0.1:*'],
}

export interface ServePlaygroundOptions {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  /** Tasks to play; null: the tasks that are built into the page. */
  readonly tasks: readonly Task[] | null
  /** Reward preset of the episodes. */
  readonly reward: RewardPreset
}

/**
 * Serves the playground to browsers. The environments run in the page, not in this process.
 * @throws the system's error if a file is missing or the address is not available
 */
export async function servePlayground({ host, port, tasks, reward }: ServePlaygroundOptions): Promise<Listening> {
  const app = new Hono()
  const access = { hosts: hostsOf(host), origins: new Set<string>() }
  app.use(secureHeaders({ contentSecurityPolicy: POLICY, strictTransportSecurity: false }))
  app.use(async ({ req }, next) => {
    const refused = accessRefusal(req.raw, access)
    return refused ? Response.json({ error: refused.code, message: refused.message }, { status: 403 }) : await next()
  })
  const page = await readFile(join(PLAYGROUND_FOLDER, 'index.html'), 'utf8')
  const wanted = `data-reward="${reward.name}"${tasks === null ? '' : ' data-tasks="tasks.jsonl"'}`
  const shown = page.replace('<html lang="en">', `<html lang="en" ${wanted}>`)
  const lines = (tasks ?? []).map((task) => `${JSON.stringify(task)}\n`).join('')
  app.get('/', (context) => context.html(shown))
  if (tasks !== null) app.get('/tasks.jsonl', (context) => context.text(lines))
  for (const [name, type] of Object.entries(FILES).slice(1)) {
    const content = await readFile(join(PLAYGROUND_FOLDER, name))
    app.get(`/${name}`, (context) => context.body(content, 200, { 'Content-Type': type }))
  }
  app.notFound((context) => context.text('no such page; open /\n', 404))
  return listen(app, { host, port, requestTimeoutMs: EPISODE_SERVER_LIMITS.requestTimeoutMs })
}
