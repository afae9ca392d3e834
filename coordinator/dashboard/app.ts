import { readFile } from 'node:fs/promises'
import { join as pathOf } from 'node:path'
import { getConnInfo } from '@hono/node-server/conninfo'
import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { secureHeaders } from 'hono/secure-headers'
import { streamSSE } from 'hono/streaming'
import type { Logger } from 'pino'
import { packageRoot } from '../../common/cli/index.js'
import { groupBody, type SealedManifest } from '../../proto/index.js'
import type { Tokenizer } from '../../rollout/engine/index.js'
import type { BlobStore, Clock, Metrics } from '../../swarm/index.js'
import type { GroupReport } from '../report/group-report.js'
import { rankingOf } from '../report/leaderboard.js'
import type { LiveReport } from '../report/live-report.js'
import type { RunConfig } from '../settings/config.js'
import type { TaskSet } from '../settings/task-set.js'
import type { Access, TokenSaid, Visitor } from './access.js'
import { type ChartRoom, createChartRoom, type LineChart, SIZES } from './charts.js'
import { conversationOf } from './conversation.js'
import { createDownloads, listing, versionsInService } from './downloads.js'
import { DASHBOARD_LIMITS } from './limits.js'
import { tellNews } from './news.js'
import { GUESSES, LATER, ORDER, type OrderTaker, takeOrder } from './orders.js'
import { type Frame, type Markup, page } from './page.js'
import { coverage } from './pages/coverage.js'
import { group, groups, type Rollouts } from './pages/groups.js'
import { invitationCode, join } from './pages/join.js'
import { login } from './pages/login.js'
import { node, nodes } from './pages/nodes.js'
import { callsChart, overview, rewardChart, solvedChart } from './pages/overview.js'
import { STEP_CHARTS, stepChart, steps } from './pages/steps.js'
import { versions } from './pages/versions.js'

/** What the dashboard shows, and by what it is read. */
export interface DashboardParts {
  readonly config: Pick<RunConfig, 'about' | 'base'>
  readonly report: LiveReport
  readonly metrics: Metrics
  readonly taskSet: Pick<TaskSet, 'tasks'>
  readonly tokenizer: Pick<Tokenizer, 'detokenize'>
  /** Bodies of groups, and files that were published. */
  readonly bodies: Pick<BlobStore, 'read'>
  readonly blobs: Pick<BlobStore, 'path' | 'isWhole'>
  /** Manifests in service, the newest round first. */
  readonly manifests: () => readonly SealedManifest[]
  /** The text that volunteers join with now. */
  readonly invitation: () => string
  /** Takes an operator's order. */
  readonly takeOrder: OrderTaker
  /** Whether the run still takes events. */
  readonly isSound: () => boolean
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  readonly logger: Logger
}

const COOKIE = 'prove_dashboard'
const ASSETS = { 'dashboard.css': 'text/css', 'live.js': 'text/javascript', 'icon.svg': 'image/svg+xml' } as const
const CHARTS = ['reward', 'solved', 'calls', ...(Object.keys(STEP_CHARTS) as (keyof typeof STEP_CHARTS)[])] as const
type ChartName = (typeof CHARTS)[number]

const SELF = ["'self'"]
const POLICY = {
  ...{ defaultSrc: ["'none'"], baseUri: ["'none'"], frameAncestors: ["'none'"], formAction: SELF },
  ...{ scriptSrc: SELF, styleSrc: SELF, imgSrc: SELF, connectSrc: SELF },
}
/** Of a drawing: it may carry its own style, and nothing else. */
const DRAWING_POLICY = { defaultSrc: ["'none'"], styleSrc: ["'unsafe-inline'"] }
const guarded = (contentSecurityPolicy: typeof POLICY | typeof DRAWING_POLICY) =>
  secureHeaders({
    contentSecurityPolicy,
    // With none at all, browsers would not say either where a form was sent from.
    referrerPolicy: 'same-origin',
    // Whether the name is ever served without TLS again is for whoever ends TLS to say.
    strictTransportSecurity: false,
  })

type Env = { Variables: { visitor: Visitor; token: TokenSaid } }

const clientOf = (context: Context): string => getConnInfo(context).remote.address ?? ''

/** All routes. What a stranger may ask for stands before the line that turns strangers away. */
export function dashboardApp(parts: DashboardParts, access: Access, signal: AbortSignal): Hono<Env> {
  const { report, metrics, clock, logger } = parts
  const app = new Hono<Env>()
  const charts = createChartRoom()
  const downloads = createDownloads({
    ...{ blobs: parts.blobs, manifests: parts.manifests },
    adapterOf: (version) => report.run.report().versions[version]?.adapterSha256,
  })
  let livePages = 0

  // The one that is named first has the last word.
  for (const path of ['/charts/*', '/join/code.svg']) app.use(path, guarded(DRAWING_POLICY))
  app.use(guarded(POLICY))
  app.use(async (context, next) => {
    const why = access.refusal({ host: context.req.header('host'), origin: context.req.header('origin') })
    if (why !== null) return context.text(`${why}\n`, 403)
    const token = access.bearer(context.req.header('authorization'), clientOf(context))
    context.set('token', token)
    context.set('visitor', access.visitor({ token, session: getCookie(context, COOKIE) }))
    context.header('Cache-Control', 'no-store')
    return next()
  })
  app.use(
    bodyLimit({
      maxSize: DASHBOARD_LIMITS.requestBytes,
      onError: (context) => context.text('the request is too large\n', 413),
    }),
  )

  app.get('/healthz', (context) => {
    const isSound = parts.isSound()
    return context.json({ status: isSound ? 'ok' : 'broken' }, isSound ? 200 : 503)
  })
  app.get('/assets/:name', async (context) => {
    const name = context.req.param('name')
    if (!Object.hasOwn(ASSETS, name)) return context.notFound()
    const content = await readFile(pathOf(packageRoot, 'coordinator', 'dashboard', 'assets', name))
    return context.body(content, 200, {
      'Content-Type': ASSETS[name as keyof typeof ASSETS],
      'Cache-Control': 'no-cache',
    })
  })
  app.get('/login', (context) => (access.hasToken ? context.html(login(null)) : context.redirect('/')))
  app.post('/login', async (context) => {
    const { token } = await context.req.parseBody()
    const entered = access.logIn(typeof token === 'string' ? token.trim() : '', clientOf(context))
    if (entered === 'later') return context.html(login(GUESSES), 429, LATER)
    if (entered === 'wrong') return context.html(login('that is not the token'), 403)
    const { session } = entered
    const secure = context.req.header('origin')?.startsWith('https:') ?? false
    setCookie(context, COOKIE, session, {
      ...{ httpOnly: true, sameSite: 'Strict', path: '/', secure },
      maxAge: DASHBOARD_LIMITS.sessionMs / 1000,
    })
    return context.redirect('/', 303)
  })
  app.post('/logout', (context) => {
    access.logOut(getCookie(context, COOKIE))
    deleteCookie(context, COOKIE, { path: '/' })
    return context.redirect(access.hasToken ? '/login' : '/', 303)
  })

  app.post(ORDER, (context) => takeOrder(context, { hasToken: access.hasToken, token: context.var.token }, parts))

  app.use(async (context, next) => {
    if (context.var.visitor !== 'stranger') return next()
    if (context.var.token === 'later') return context.text(`${GUESSES}\n`, 429, LATER)
    const asksForPage = context.req.header('accept')?.includes('text/html') ?? false
    if (asksForPage && context.req.method === 'GET') return context.redirect('/login', 303)
    return context.text('unauthorized\n', 401, { 'WWW-Authenticate': 'Bearer' })
  })

  const frame = (context: Context<Env>): Frame => {
    const { about, base } = parts.config
    const { behind, revision } = report
    return { ...about, model: base.name, visitor: context.var.visitor, hasToken: access.hasToken, behind, revision }
  }
  const show = (context: Context<Env>, section: string, title: string, content: Markup) =>
    context.html(page(frame(context), section, title, content))

  app.get('/', (context) => show(context, '/', 'Overview', overview(report.run.report(), clock.now())))
  app.get('/steps', (context) => show(context, '/steps', 'Training', steps(report.run.report())))
  app.get('/nodes', (context) => {
    const now = clock.now()
    return show(context, '/nodes', 'Volunteers', nodes(report.nodes.report(now), rankingOf(report.state).teams, now))
  })
  app.get('/nodes/:node', (context) => {
    const now = clock.now()
    const name = context.req.param('node')
    const found = report.nodes.report(now).find((one) => one.node === name)
    if (!found) return context.notFound()
    return show(context, '/nodes', 'Volunteer', node(found, report.nodes.verdictsOf(name), now))
  })
  app.get('/groups', (context) => {
    const { node: of, verdict } = context.req.query()
    const wanted = verdict === 'accepted' || verdict === 'refused' ? verdict : undefined
    return show(context, '/groups', 'Groups', groups(report.groups.newest(), { node: of, verdict: wanted }))
  })
  app.get('/groups/:lease', async (context) => {
    const leaseId = context.req.param('lease')
    const found = report.groups.find(leaseId).find(({ lease }) => lease.leaseId === leaseId)
    if (!found) return context.notFound()
    const rollouts = await rolloutsOf(found, context.var.visitor, Number(context.req.query('rollout') ?? 0), parts)
    const task = parts.taskSet.tasks[found.lease.taskIndex]
    return show(context, '/groups', 'Group', group(found, task, rollouts))
  })
  app.get('/coverage', (context) => {
    const { tasks } = parts.taskSet
    const environments = report.coverage.environments(
      tasks.map((task) => task.environments.map(({ environment }) => environment)),
    )
    return show(
      context,
      '/coverage',
      'Tasks',
      coverage(environments, report.coverage.tasks(), tasks.length, report.state.orders),
    )
  })
  app.get('/versions', (context) => {
    const inService = versionsInService(parts.manifests())
    return show(context, '/versions', 'Versions', versions(report.run.report(), inService))
  })
  app.get('/versions.json', (context) => context.json(listing(parts.manifests())))
  app.get('/versions/:version/:file{.+}', (context) => {
    const { version, file } = context.req.param()
    return downloads.give(context, /^\d{1,9}$/.test(version) ? Number(version) : -1, file)
  })
  app.get('/join', (context) => show(context, '/join', 'Join', join(parts.invitation())))
  app.get('/join/code.svg', (context) => drawing(context, invitationCode(parts.invitation())))
  app.get('/charts/:name{[a-z]+\\.svg}', async (context) => {
    const name = context.req.param('name').replace('.svg', '')
    if (!CHARTS.includes(name as ChartName)) return context.notFound()
    return drawing(context, await drawn(charts, chartOf(report, name as ChartName), context))
  })
  app.get('/live', (context) => {
    if (livePages >= DASHBOARD_LIMITS.livePages) return context.text('too many pages are kept up to date\n', 503)
    livePages += 1
    return streamSSE(context, async (stream) => {
      const gone = new AbortController()
      stream.onAbort(() => gone.abort())
      const to = {
        tell: (revision: number) => stream.writeSSE({ data: String(revision) }),
        beat: () => stream.write(': nothing new\n\n'),
      }
      await tellNews(report, to, clock, AbortSignal.any([signal, gone.signal])).finally(() => {
        livePages -= 1
      })
    })
  })
  app.get('/metrics', async (context) => {
    // Of the process and its network: nothing that a run's public needs to know.
    if (context.var.visitor !== 'operator') return context.text('unauthorized\n', 401, { 'WWW-Authenticate': 'Bearer' })
    return context.body(await metrics.metrics(), 200, { 'Content-Type': metrics.contentType })
  })
  app.notFound((context) => context.text('there is no such page\n', 404))
  app.onError((error, context) => {
    logger.error({ error, path: context.req.path }, 'a page could not be shown')
    return context.text('internal error: the log of the coordinator says more\n', 500)
  })
  return app
}

const chartOf = ({ run }: LiveReport, name: ChartName): LineChart => {
  const report = run.report()
  if (name === 'reward') return rewardChart(report)
  if (name === 'solved') return solvedChart(report)
  return name === 'calls' ? callsChart(report) : stepChart(report, name)
}

function drawn(charts: ChartRoom, chart: LineChart, { req }: Context<Env>): Promise<string> {
  const { dark, width = 'half' } = req.query()
  return charts.draw(chart, {
    dark: dark !== undefined,
    width: Object.hasOwn(SIZES, width) ? (width as keyof typeof SIZES) : 'half',
  })
}

const drawing = (context: Context<Env>, svg: string) => context.body(svg, 200, { 'Content-Type': 'image/svg+xml' })

/** Whoever reads what others sampled for the version at work could deliver the same, so the public is not shown it. */
async function rolloutsOf(
  { verdict }: GroupReport,
  visitor: Visitor,
  wanted: number,
  { bodies, tokenizer }: Pick<DashboardParts, 'bodies' | 'tokenizer'>,
): Promise<Rollouts> {
  if (!verdict) return { missing: 'The group has not been delivered yet.' }
  if (visitor !== 'operator') return { missing: 'Rollouts are shown to the operator alone: others could copy them.' }
  const bytes = await bodies.read(verdict.bodySha256)
  if (!bytes)
    return {
      missing: 'Its body is not kept: it was refused, it was believed without being looked at, or it is too old.',
    }
  const body = groupBody.parse(bytes)
  const index = Number.isInteger(wanted) && wanted >= 0 && wanted < body.rollouts.length ? wanted : 0
  return { body, index, conversation: conversationOf(body.rollouts[index]!, tokenizer) }
}
