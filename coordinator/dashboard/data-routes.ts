import type { Context } from 'hono'
import { streamSSE } from 'hono/streaming'
import type { LiveReport } from '../report/live-report.js'
import { type ChartCache, createChartCache, type LineChart, SIZES } from './charts.js'
import { createDownloads, listing } from './downloads.js'
import { DASHBOARD_LIMITS } from './limits.js'
import { followRevisions } from './live-updates.js'
import { invitationCode } from './pages/join.js'
import { callsChart, rewardChart, solvedChart } from './pages/overview.js'
import { STEP_CHARTS, stepChart } from './pages/steps.js'
import type { App, DashboardParts, Env } from './routes.js'
import { unauthorized } from './unauthorized.js'

const CHARTS = ['reward', 'solved', 'calls', ...(Object.keys(STEP_CHARTS) as (keyof typeof STEP_CHARTS)[])] as const
type ChartName = (typeof CHARTS)[number]

/** Adds what pages load and programs read: charts, live updates, downloads and metrics. */
export function addDataRoutes(app: App, parts: DashboardParts, signal: AbortSignal): void {
  const { report, metrics, clock } = parts
  const charts = createChartCache()
  const downloads = createDownloads({
    ...{ blobs: parts.blobs, manifests: parts.manifests },
    adapterOf: (version) => report.run.report().versions[version]?.adapterSha256,
  })
  let livePages = 0

  app.get('/versions.json', (context) => context.json(listing(parts.manifests())))
  app.get('/versions/:version/:file{.+}', (context) => {
    const { version, file } = context.req.param()
    return downloads.give(context, /^\d{1,9}$/.test(version) ? Number(version) : -1, file)
  })
  app.get('/join/code.svg', (context) => drawing(context, invitationCode(parts.invitation())))
  app.get('/charts/:name{[a-z]+\\.svg}', async (context) => {
    const name = context.req.param('name').replace('.svg', '')
    if (!CHARTS.includes(name as ChartName)) return context.notFound()
    return drawing(context, await drawn(charts, chartOf(report, name as ChartName), context))
  })
  app.get('/live', (context) => {
    if (livePages >= DASHBOARD_LIMITS.livePages) return context.text('too many pages have live updates\n', 503)
    livePages += 1
    return streamSSE(context, async (stream) => {
      const gone = new AbortController()
      stream.onAbort(() => gone.abort())
      const to = {
        send: (revision: number) => stream.writeSSE({ data: String(revision) }),
        beat: () => stream.write(': nothing new\n\n'),
      }
      await followRevisions(report, to, clock, AbortSignal.any([signal, gone.signal])).finally(() => {
        livePages -= 1
      })
    })
  })
  app.get('/metrics', async (context) => {
    // The metrics describe the process and its network too, so the public does not see them.
    if (context.var.visitor !== 'operator') return unauthorized(context)
    return context.body(await metrics.metrics(), 200, { 'Content-Type': metrics.contentType })
  })
}

const chartOf = ({ run }: LiveReport, name: ChartName): LineChart => {
  const report = run.report()
  if (name === 'reward') return rewardChart(report)
  if (name === 'solved') return solvedChart(report)
  return name === 'calls' ? callsChart(report) : stepChart(report, name)
}

function drawn(charts: ChartCache, chart: LineChart, { req }: Context<Env>): Promise<string> {
  const { dark, width = 'half' } = req.query()
  return charts.draw(chart, {
    dark: dark !== undefined,
    width: Object.hasOwn(SIZES, width) ? (width as keyof typeof SIZES) : 'half',
  })
}

const drawing = (context: Context<Env>, svg: string) => context.body(svg, 200, { 'Content-Type': 'image/svg+xml' })
