import { html } from 'hono/html'
import type { RunReport } from '../../report/run-report.js'
import { meanWords, shareWords } from '../../report/words.js'
import type { LineChart } from '../charts.js'
import { DASHBOARD_LIMITS } from '../limits.js'
import { badge, chartFigure, decimal, empty, live, type Markup, table, thousands } from '../page.js'

/** Charts of a step's numbers, by their names in docs/reference/trainer.md. */
export const STEP_CHARTS = {
  loss: { stat: 'loss', caption: 'Loss' },
  kl: { stat: 'mismatchKl', caption: 'KL from samplers to trainer' },
  gradient: { stat: 'gradNorm', caption: 'Gradient norm' },
} as const

export const stepChart = ({ versions }: RunReport, name: keyof typeof STEP_CHARTS): LineChart => ({
  ...{ unit: STEP_CHARTS[name].stat, from: versions[0]?.version ?? 0 },
  series: [
    { name: STEP_CHARTS[name].stat, values: versions.map(({ stats }) => stats[STEP_CHARTS[name].stat] ?? null) },
  ],
})

/** Renders the steps of the trainer. */
export function steps(run: RunReport): Markup {
  const made = run.versions.filter(({ step }) => step !== null)
  if (made.length === 0)
    return html`${live('scores', scores(run))}${live(
      'steps',
      empty('The trainer has made no step yet: it waits for a batch of groups with reward variance.'),
    )}`
  const columns = [
    'version',
    'loss',
    'KL',
    'gradient',
    'entropy',
    'effective share',
    'rollouts',
    'tokens',
    'staleness',
    'update',
  ]
  const rows = made.slice(-DASHBOARD_LIMITS.rows).reverse()
  return html`<div class="charts">${Object.entries(STEP_CHARTS).map(([name, { caption }]) =>
    live(
      `chart-${name}`,
      chartFigure(name, caption, stepChart(run, name as keyof typeof STEP_CHARTS), name === 'loss' ? 'whole' : 'half'),
    ),
  )}</div>
${live(
  'steps',
  table(
    'Steps of the trainer, newest first',
    columns.map((name) => ({ name, numeric: name !== 'update' })),
    rows.map(({ version, stats, staleness, skipped, skippedFor }) => [
      version,
      decimal(stats.loss, 4),
      decimal(stats.mismatchKl, 5),
      decimal(stats.gradNorm, 3),
      decimal(stats.entropy, 3),
      decimal(stats.ess, 2),
      stats.trainedRollouts === undefined ? '–' : thousands(stats.trainedRollouts),
      stats.lossTokens === undefined ? '–' : thousands(stats.lossTokens),
      decimal(staleness, 1),
      skipped ? badge('warn', `none: ${skippedFor ?? 'reason unknown'}`) : badge('good', 'made'),
    ]),
  ),
)}
${live('scores', scores(run))}
${live('refused-batches', refusedBatches(run))}`
}

/** Renders the scores on held-out tasks. */
function scores({ versions }: RunReport): Markup | string {
  const scored = versions.flatMap(({ version, heldOut }) => (heldOut ? [{ version, ...heldOut }] : []))
  if (scored.length === 0) return ''
  const columns = ['version', 'tasks', 'reward', 'solved', 'calls', 'calls needed']
  return html`<section aria-labelledby="scores-title"><h2 id="scores-title">Held-out scores</h2>${table(
    'Scores on tasks that are not trained on, newest first, with 95 % intervals',
    columns.map((name) => ({ name, numeric: true })),
    scored
      .slice(-DASHBOARD_LIMITS.rows)
      .reverse()
      .map(({ version, tasks, reward, solved, calls, callsDue }) => [
        version,
        thousands(tasks),
        meanWords(reward, tasks),
        shareWords(solved, tasks),
        decimal(calls, 1),
        decimal(callsDue, 1),
      ]),
  )}</section>`
}

function refusedBatches({ refusedBatches: refused }: RunReport): Markup | string {
  if (refused.length === 0) return ''
  return html`<section><h2>Batches that the trainer refused</h2><ul>${refused
    .slice(-DASHBOARD_LIMITS.rows)
    .map(
      ({ batchId, code, detail }) => html`<li><span class="name">${batchId}</span>: ${code} ${detail}</li>`,
    )}</ul></section>`
}
