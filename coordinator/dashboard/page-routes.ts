import type { Context } from 'hono'
import { groupBody } from '../../proto/index.js'
import type { GroupReport } from '../report/group-report.js'
import { rankingOf } from '../report/leaderboard.js'
import type { Access, Visitor } from './access.js'
import { conversationOf } from './conversation.js'
import { versionsInService } from './downloads.js'
import { type Frame, type Markup, page } from './page.js'
import { coverage } from './pages/coverage.js'
import { group, groups, type Rollouts } from './pages/groups.js'
import { join } from './pages/join.js'
import { node, nodes } from './pages/nodes.js'
import { overview } from './pages/overview.js'
import { steps } from './pages/steps.js'
import { versions } from './pages/versions.js'
import type { App, DashboardParts, Env } from './routes.js'

/** Adds the HTML pages. */
export function addPageRoutes(app: App, parts: DashboardParts, { hasToken }: Pick<Access, 'hasToken'>): void {
  const { report, clock } = parts
  const frame = (context: Context<Env>): Frame => {
    const { about, base } = parts.config
    const { behind, revision } = report
    return { ...about, model: base.name, visitor: context.var.visitor, hasToken, behind, revision }
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
    const content = coverage(environments, report.coverage.tasks(), tasks.length, report.state.orders)
    return show(context, '/coverage', 'Tasks', content)
  })
  app.get('/versions', (context) => {
    const inService = versionsInService(parts.manifests())
    return show(context, '/versions', 'Versions', versions(report.run.report(), inService))
  })
  app.get('/join', (context) => show(context, '/join', 'Join', join(parts.invitation())))
}

/**
 * Reads one rollout of a group. Only the operator sees rollouts: a volunteer could copy rollouts that others sampled for the
 * current version.
 */
async function rolloutsOf(
  { verdict }: GroupReport,
  visitor: Visitor,
  wanted: number,
  { bodies, tokenizer }: Pick<DashboardParts, 'bodies' | 'tokenizer'>,
): Promise<Rollouts> {
  if (!verdict) return { missing: 'The group has not been delivered yet.' }
  if (visitor !== 'operator') return { missing: 'Only the operator sees rollouts, because others could copy them.' }
  const bytes = await bodies.read(verdict.bodySha256)
  if (!bytes)
    return {
      missing: 'The body is not stored: the group was refused, was accepted without verification, or is too old.',
    }
  const body = groupBody.parse(bytes)
  const index = Number.isInteger(wanted) && wanted >= 0 && wanted < body.rollouts.length ? wanted : 0
  return { body, index, conversation: conversationOf(body.rollouts[index]!, tokenizer) }
}
