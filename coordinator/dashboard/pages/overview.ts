import { html } from 'hono/html'
import { alarmsOf } from '../../report/alarms.js'
import { orderWords } from '../../report/order-words.js'
import type { RunReport } from '../../report/run-report.js'
import type { HeldOutScore, VersionReport } from '../../report/version-report.js'
import { durationOf, meanWords, shareWords } from '../../report/words.js'
import type { LineChart } from '../charts.js'
import {
  ago,
  chartFigure,
  decimal,
  empty,
  figure,
  live,
  type Markup,
  moment,
  percent,
  plural,
  table,
  thousands,
  versionName,
} from '../page.js'

/** Versions in the table. */
const SHOWN = 10

/** Renders the progress of the run, its alarms and its newest versions. */
export function overview(run: RunReport, nowMs: number): Markup {
  if (!run.configuration || run.versions.length === 0)
    return live(
      'overview',
      empty('The run has not published its first version yet. That takes about a minute after the first start.'),
    )
  return html`${live('orders', orders(run))}
${live('alarms', alarms(run))}
${live('figures', figures(run, nowMs))}
${live('reward', chartFigure('reward', 'Mean reward and its components', rewardChart(run), 'whole'))}
<div class=\"charts\">
${live('success', chartFigure('solved', 'Solved tasks', solvedChart(run)))}
${live('calls', chartFigure('calls', 'Tool calls per rollout', callsChart(run)))}
</div>
<div class="halves">
${live('verdicts', verdicts(run))}
${live('care', care(run))}
</div>
${live('versions', newestVersions(run))}`
}

const series = (versions: readonly VersionReport[], of: (version: VersionReport) => number | null | undefined) =>
  versions.map((version) => of(version) ?? null)

/** Returns no series for a run without scores. */
const heldOutSeries = (versions: readonly VersionReport[], of: (score: HeldOutScore) => number) =>
  versions.some(({ heldOut }) => heldOut)
    ? [{ name: 'held-out', values: series(versions, ({ heldOut }) => heldOut && of(heldOut)) }]
    : []

export function rewardChart({ versions }: RunReport): LineChart {
  const parts = [...new Set(versions.flatMap((version) => Object.keys(version.parts)))]
  return {
    ...{ unit: 'reward', from: versions[0]?.version ?? 0 },
    series: [
      { name: 'reward', values: series(versions, ({ reward }) => reward) },
      ...heldOutSeries(versions, ({ reward }) => reward.mean),
      ...parts.map((name) => ({ name, values: series(versions, (version) => version.parts[name]) })),
    ],
  }
}

export const solvedChart = ({ versions }: RunReport): LineChart => ({
  ...{ unit: 'share of rollouts', most: 1, from: versions[0]?.version ?? 0 },
  series: [
    { name: 'solved', values: series(versions, ({ solved }) => solved) },
    ...heldOutSeries(versions, ({ solved }) => solved.mean),
  ],
})

export const callsChart = ({ versions }: RunReport): LineChart => ({
  ...{ unit: 'calls', from: versions[0]?.version ?? 0 },
  series: [
    { name: 'calls', values: series(versions, ({ calls }) => calls) },
    ...heldOutSeries(versions, ({ calls }) => calls),
  ],
})

function orders(run: RunReport): Markup | string {
  const sentences = orderWords(run.orders).map(sentence)
  if (sentences.length === 0) return ''
  return html`<section class="orders" aria-labelledby="orders-title"><h2 id="orders-title">Orders of the operator</h2><ul>${sentences.map((text) => html`<li>${text}</li>`)}</ul></section>`
}

function alarms(run: RunReport): Markup | string {
  const sentences = [
    ...alarmsOf(run).map(({ text }) => sentence(text)),
    ...run.quarantinedEnvironments.map(
      (environment) => `Environment ${environment} is nondeterministic: its tasks are disabled.`,
    ),
    ...run.refusedBatches
      .slice(-3)
      .map(({ batchId, code, detail }) => `The trainer refused batch ${batchId}: ${code} ${detail}`),
  ]
  if (sentences.length === 0) return ''
  return html`<section class="alarms" aria-labelledby="alarms-title"><h2 id="alarms-title">Alarms</h2><ul>${sentences.map((text) => html`<li>${text}</li>`)}</ul></section>`
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

function figures(run: RunReport, nowMs: number): Markup {
  const { configuration, versions } = run
  const newest = versions.length - 1
  const known = versions.filter(({ reward }) => reward !== null)
  const [first, last] = [known[0], known.at(-1)]
  const since =
    first && last && first !== last ? `${signed(last.reward! - first.reward!)} since version ${first.version}` : ''
  const step = versions.findLast(({ stats }) => stats.mismatchKl !== undefined)
  const stale = versions.findLast(({ staleness }) => staleness !== null)
  return html`<section aria-label="Progress" class="progress">
<p><strong>Version ${newest}</strong> of ${configuration!.versions}, round ${run.round ?? '–'}. ${forecast(run, nowMs)}</p>
<progress max="${configuration!.versions}" value="${newest}" aria-label="Versions published">${newest} of ${configuration!.versions}</progress>
<p class="quiet">Started ${moment(run.startedAtMs!)}; last event ${ago(run.lastEventAtMs!, nowMs)}${run.pendingBatch === null ? '.' : html`; the trainer works on batch ${run.pendingBatch}.`}</p>
</section>
<dl class="figures">
${figure('Mean reward', decimal(last?.reward), last ? `version ${last.version}${since === '' ? '' : `, ${since}`}` : 'no group yet')}
${figure('Solved', percent(last?.solved ?? null), 'of replayed rollouts')}
${heldOutFigure(versions)}
${figure('Calls', decimal(last?.calls, 1), 'per rollout')}
${figure('Groups accepted', thousands(run.accepted), run.accepted === 0 ? '' : `${percent(run.zeroVariance / run.accepted)} with zero variance`)}
${figure('Volunteers', thousands(run.keys), `${plural(run.openLeases, 'open lease')}`)}
${figure('Tokens verified', compact(run.tokens))}
${figure('Drift', decimal(step?.stats.mismatchKl, 4), 'KL from samplers to trainer')}
${figure('Staleness', decimal(stale?.staleness, 1), 'versions, last batch')}
</dl>`
}

function heldOutFigure(versions: readonly VersionReport[]): Markup | string {
  const found = versions.findLast(({ heldOut }) => heldOut)
  if (!found?.heldOut) return ''
  const { reward, solved, calls, tasks } = found.heldOut
  const more = `version ${found.version}, ${thousands(tasks)} tasks, ${shareWords(solved, tasks)} solved, ${decimal(calls, 1)} calls`
  return figure('Held-out reward', meanWords(reward, tasks), more)
}

const compact = (value: number): string => value.toLocaleString('en', { notation: 'compact', maximumFractionDigits: 1 })
const signed = (value: number): string => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`

export function forecast({ configuration, versions, completeAtMs, orders }: RunReport, nowMs: number): string {
  if (versions.length - 1 >= configuration!.versions) return 'The run is complete.'
  if (orders.pause) return 'The run is paused.'
  if (completeAtMs === null) return 'It is too early for a forecast.'
  const rest = completeAtMs - nowMs
  return rest > 0 ? `Complete in about ${durationOf(rest)}.` : 'The next version takes longer than the previous ones.'
}

function verdicts({ accepted, zeroVariance, refused }: RunReport): Markup {
  const counts = [...refused].sort(([, a], [, b]) => b - a)
  const all = accepted + counts.reduce((sum, [, count]) => sum + count, 0)
  const row = (name: string, count: number): unknown[] => [
    name,
    thousands(count),
    html`<meter min="0" max="${Math.max(1, all)}" value="${count}" aria-label="${name}">${count}</meter>`,
  ]
  return html`<section aria-labelledby="verdicts-title"><h2 id="verdicts-title">Verdicts</h2>${
    all === 0
      ? empty('No group has a verdict yet.')
      : table(
          'Groups by verdict',
          [{ name: 'verdict' }, { name: 'groups', numeric: true }, { name: 'share' }],
          [
            row('accepted, with reward variance', accepted - zeroVariance),
            row('accepted, zero variance', zeroVariance),
            ...counts.map(([code, count]) => row(code, count)),
          ],
        )
  }</section>`
}

function care({ audits, doubtedGroups, quarantinedEnvironments, refusedBatches, versions }: RunReport): Markup {
  const skipped = versions.filter((version) => version.skipped).length
  return html`<section aria-labelledby="care-title"><h2 id="care-title">Checks</h2><dl class="pairs">
<div><dt>Audits passed</dt><dd>${thousands(audits.passed)}</dd></div>
<div><dt>Audits failed</dt><dd>${thousands(audits.failed)}</dd></div>
<div><dt>Groups in batches whose keys were caught later</dt><dd>${thousands(doubtedGroups)}</dd></div>
<div><dt>Steps without an update</dt><dd>${thousands(skipped)}</dd></div>
<div><dt>Batches that the trainer refused</dt><dd>${thousands(refusedBatches.length)}</dd></div>
<div><dt>Nondeterministic environments</dt><dd>${quarantinedEnvironments.length === 0 ? 'none' : quarantinedEnvironments.join(', ')}</dd></div>
</dl></section>`
}

function newestVersions({ versions }: RunReport): Markup {
  const columns = [
    'version',
    'reward',
    'solved',
    'calls',
    'held-out',
    'accepted',
    'zero variance',
    'refused',
    'published',
  ]
  const rows = versions
    .slice(-SHOWN)
    .reverse()
    .map((one) => [
      versionName(one),
      decimal(one.reward),
      percent(one.solved),
      decimal(one.calls, 1),
      decimal(one.heldOut?.reward.mean),
      one.accepted,
      one.zeroVariance,
      one.refused,
      moment(one.publishedAtMs),
    ])
  return html`<section aria-labelledby="newest-title"><h2 id="newest-title">Newest versions</h2>${table(
    'Groups of each version',
    columns.map((name) => ({ name, numeric: name !== 'published' })),
    rows,
  )}</section>`
}
