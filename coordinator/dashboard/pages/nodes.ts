import { html } from 'hono/html'
import type { LeaderboardTeam } from '../../../proto/index.js'
import type { NodeVerdict } from '../../ledger/run-state.js'
import type { NodeReport, NodeReputation } from '../../report/node-report.js'
import { countsOf, timeOf } from '../../report/words.js'
import { DASHBOARD_LIMITS } from '../limits.js'
import {
  ago,
  badge,
  decimal,
  empty,
  figure,
  keyLink,
  leaseLink,
  live,
  type Markup,
  moment,
  plural,
  table,
  thousands,
} from '../page.js'

const TONES = {
  new: 'dull',
  trusted: 'good',
  doubted: 'warn',
  'held back': 'warn',
  excluded: 'bad',
  quarantined: 'bad',
  banned: 'bad',
} as const

const reputationBadge = (reputation: NodeReputation): Markup =>
  badge(
    TONES[reputation.kind],
    reputation.kind === 'quarantined' ? `quarantined until ${timeOf(reputation.untilMs)}` : reputation.kind,
  )

const NUMERIC = new Set(['credit', 'tokens/s', 'accepted', 'refused', 'open', 'abandoned', 'audits'])

/** Renders all keys of the run and their teams, most credit first. */
export function nodes(reports: readonly NodeReport[], teams: readonly LeaderboardTeam[], nowMs: number): Markup {
  if (reports.length === 0)
    return live(
      'nodes',
      html`${empty('No key has asked for work yet.')}<p>Volunteers join with <a href="/join">the invitation</a>.</p>`,
    )
  const columns = [
    'key',
    'credit',
    'team',
    'reputation',
    'backend',
    'tokens/s',
    'accepted',
    'refused',
    'open',
    'abandoned',
    'audits',
    'seen',
  ]
  const rest = reports.length - DASHBOARD_LIMITS.rows
  return live(
    'nodes',
    html`${table(
      'Volunteers, most credit first',
      columns.map((name) => ({ name, numeric: NUMERIC.has(name) })),
      reports
        .slice(0, DASHBOARD_LIMITS.rows)
        .map((node) => [
          keyLink(node.node),
          thousands(Math.round(node.credit)),
          node.team ?? '–',
          reputationBadge(node.reputation),
          node.backend ?? '–',
          decimal(node.tokensPerSecond, 1),
          node.accepted,
          refusals(node),
          node.openLeases,
          node.abandoned,
          `${node.audits.all - node.audits.failed}/${node.audits.all}`,
          ago(node.lastSeenAtMs, nowMs),
        ]),
    )}${rest > 0 ? html`<p class="quiet">And ${thousands(rest)} more: <code>prove-coordinator nodes</code> lists all.</p>` : ''}${teams.length === 0 ? '' : teamTable(teams)}`,
  )
}

function teamTable(teams: readonly LeaderboardTeam[]): Markup {
  const rest = teams.length - DASHBOARD_LIMITS.rows
  return html`<section><h2>Teams</h2>${table(
    'Teams, most credit first',
    [{ name: 'team' }, { name: 'credit', numeric: true }, { name: 'keys', numeric: true }],
    teams
      .slice(0, DASHBOARD_LIMITS.rows)
      .map(({ name, credit, keys }) => [name, thousands(Math.round(credit)), thousands(keys)]),
  )}${rest > 0 ? html`<p class="quiet">And ${thousands(rest)} more: <code>prove-coordinator leaderboard</code> lists all.</p>` : ''}</section>`
}

const refusals = ({ refused }: NodeReport): number => [...refused.values()].reduce((sum, count) => sum + count, 0)

/** Renders the work of a key and its newest verdicts. */
export function node(report: NodeReport, verdicts: readonly NodeVerdict[], nowMs: number): Markup {
  return html`${live(
    'node',
    html`<p class="long name">${report.node}</p>
<dl class="figures">
${figure('Credit', thousands(Math.round(report.credit)), report.team === null ? '' : `for the team ${report.team}`)}
${figure('Reputation', reputationBadge(report.reputation), report.reputation.kind === 'banned' ? (report.reputation.reason ?? 'by the operator') : '')}
${figure('Backend', report.backend ?? '–', report.tokensPerSecond === null ? '' : `${decimal(report.tokensPerSecond, 1)} tokens/s`)}
${figure('Accepted', thousands(report.accepted), `${plural(report.zeroVariance, 'zero-variance group')}`)}
${figure('Refused', thousands(refusals(report)), countsOf(report.refused))}
${figure('Audits', `${report.audits.all - report.audits.failed} of ${report.audits.all}`, 'passed')}
${figure('Leases', thousands(report.openLeases), `open; ${thousands(report.abandoned)} abandoned`)}
${figure('Last seen', ago(report.lastSeenAtMs, nowMs), html`since ${moment(report.registeredAtMs)}`)}
${report.left === null ? '' : figure('Ended its work', report.left.reason, report.left.detail === '' ? moment(report.left.atMs) : report.left.detail)}
</dl>`,
  )}
<section><h2>Newest verdicts</h2>${live(
    'verdicts',
    verdicts.length === 0
      ? empty('None of its groups has a verdict yet.')
      : table(
          'Newest verdicts, newest first',
          [
            { name: 'lease' },
            { name: 'verdict' },
            { name: 'credit', numeric: true },
            { name: 'judged' },
            { name: 'why' },
          ],
          verdicts
            .toReversed()
            .map(({ leaseId, accepted, code, credit, atMs, detail }) => [
              leaseLink(leaseId),
              accepted ? badge('good', 'accepted') : badge('bad', code!),
              decimal(credit, 1),
              moment(atMs),
              detail,
            ]),
        ),
  )}<p><a href="/groups?node=${report.node}">Groups of this volunteer</a></p></section>`
}
