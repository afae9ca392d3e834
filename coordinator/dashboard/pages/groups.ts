import { html } from 'hono/html'
import type { GroupBody } from '../../../proto/index.js'
import type { Task } from '../../../rollout/episode/index.js'
import type { GroupReport } from '../../report/group-report.js'
import type { Conversation, SampledPiece } from '../conversation.js'
import { DASHBOARD_LIMITS } from '../limits.js'
import { badge, decimal, empty, figure, keyLink, leaseLink, live, type Markup, moment, table } from '../page.js'

export interface GroupFilter {
  readonly node: string | undefined
  readonly verdict: 'accepted' | 'refused' | undefined
}

/** Returns the code of a group's refusal, at once or by a later audit; null: the group is accepted. */
const refusalOf = ({ verdict, audits }: GroupReport): string | null =>
  audits.find(({ accepted }) => !accepted)?.code ?? verdict?.code ?? null

function verdictBadge(group: GroupReport): Markup {
  const { verdict } = group
  if (!verdict) return badge('dull', group.released === null ? 'in progress' : `released: ${group.released}`)
  const code = refusalOf(group)
  if (code !== null) return badge('bad', verdict.code === null ? `revoked: ${code}` : code)
  return verdict.zeroVariance ? badge('dull', 'accepted, zero variance') : badge('good', 'accepted')
}

const isWanted = (group: GroupReport, { node, verdict }: GroupFilter): boolean =>
  (node === undefined || group.lease.node === node) &&
  (verdict === undefined || (refusalOf(group) === null) === (verdict === 'accepted'))

/** @param reports  newest first */
export function groups(reports: readonly GroupReport[], filter: GroupFilter): Markup {
  const wanted = reports.filter((group) => isWanted(group, filter))
  const shown = wanted.slice(0, DASHBOARD_LIMITS.rows)
  const of = filter.node === undefined ? '' : `node=${encodeURIComponent(filter.node)}`
  const choices = [
    { name: 'All', verdict: undefined, query: of },
    { name: 'Accepted', verdict: 'accepted', query: `${of}&verdict=accepted` },
    { name: 'Refused', verdict: 'refused', query: `${of}&verdict=refused` },
  ] as const
  return html`<nav class="choices" aria-label="Which groups"><ul>${choices.map(
    ({ name, verdict, query }) =>
      html`<li><a href="/groups?${query.replace(/^&/, '')}" ${verdict === filter.verdict ? html`aria-current="true"` : ''}>${name}</a></li>`,
  )}</ul></nav>
${filter.node === undefined ? '' : html`<p>Groups of ${keyLink(filter.node)}; <a href="/groups">show all groups</a></p>`}
${live(
  'groups',
  shown.length === 0
    ? empty('No group matches.')
    : html`${table(
        'Groups, newest first',
        [
          { name: 'group' },
          { name: 'verdict' },
          { name: 'rewards' },
          { name: 'version', numeric: true },
          { name: 'task', numeric: true },
          { name: 'key' },
          { name: 'training' },
          { name: 'judged' },
        ],
        shown.map((group) => [
          leaseLink(group.lease.leaseId),
          verdictBadge(group),
          rewards(group),
          group.lease.version,
          group.lease.taskIndex,
          keyLink(group.lease.node),
          group.batches.map(({ step, outcome }) => `step ${step} ${outcome}`).join(', ') || group.unusedFor || '–',
          moment(group.verdict!.atMs),
        ]),
      )}${wanted.length > shown.length ? html`<p class="quiet">Older groups: <code>prove-coordinator groups list</code>.</p>` : ''}`,
)}`
}

const rewards = ({ verdict }: GroupReport): Markup | string =>
  verdict && verdict.rewards.length > 0
    ? html`<span class="name">${verdict.rewards.map((reward) => reward.toFixed(2)).join(' ')}</span>`
    : '–'

/** A rollout of a group, or why none can be shown. */
export type Rollouts =
  | { readonly body: GroupBody; readonly index: number; readonly conversation: Conversation }
  | { readonly missing: string }

/** Renders a group, from its lease to the training step, with one of its rollouts. */
export function group(report: GroupReport, task: Task | undefined, rollouts: Rollouts): Markup {
  const { lease, verdict, audits, batches, unusedFor, bodyLost } = report
  return html`${live(
    'group',
    html`<p class="long name">${lease.leaseId}</p>
<dl class="figures">
${figure('Verdict', verdictBadge(report), verdict ? html`${moment(verdict.atMs)}` : '')}
${figure('Version', lease.version, `round ${lease.round}, ${lease.backend}`)}
${figure('Volunteer', keyLink(lease.node), verdict ? `credit ${decimal(verdict.credit, 1)}` : '')}
${figure('Solved', verdict ? `${verdict.solved} of ${verdict.rewards.length}` : '–', verdict ? `${verdict.calls} calls, ${verdict.sampledTokens} tokens` : '')}
${figure('Audit', verdict?.audit ?? '–', logitErrorsOf(report))}
${figure('Training', batches.at(-1)?.outcome ?? unusedFor ?? '–', batches.map(({ step }) => `step ${step}`).join(', '))}
</dl>
${verdict?.detail ? html`<p class="note">${verdict.detail}</p>` : ''}
${audits.map(({ atMs, accepted, code, detail }) => html`<p class="note">Audited ${moment(atMs)}: ${accepted ? 'passed' : `revoked, ${code} ${detail}`}</p>`)}
${bodyLost === null ? '' : html`<p class="note">The body is lost: ${bodyLost}</p>`}`,
  )}
${task ? taskOf(task, lease.taskIndex) : ''}
<section><h2>Rollouts</h2>${'missing' in rollouts ? empty(rollouts.missing) : rolloutOf(lease.leaseId, rollouts)}</section>`
}

function logitErrorsOf({ verdict, audits }: GroupReport): string {
  const logitErrors = audits.findLast((audit) => audit.logitErrors !== null)?.logitErrors ?? verdict?.logitErrors
  if (!logitErrors) return ''
  return `logit error of ${logitErrors.logitError.toFixed(2)} nats on ${logitErrors.tokens} tokens; expected for honest work: ${logitErrors.expected.toFixed(2)}`
}

function taskOf(task: Task, index: number): Markup {
  return html`<section><h2>Task ${index}</h2>
<p>${task.kind}; environments: ${task.environments.map(({ environment }) => environment).join(', ')}; ${task.toolset.length} tools offered</p>
<ol class="turns">${task.turns.map((turn) => html`<li>${turn}</li>`)}</ol>
<details id="truth"><summary>Expected calls</summary>${
    task.groundTruth.length === 0
      ? empty('None: the correct answer makes no call.')
      : html`<ol>${task.groundTruth.map(({ name, arguments: args }) => html`<li><code>${name} ${JSON.stringify(args)}</code></li>`)}</ol>`
  }</details></section>`
}

function rolloutOf(leaseId: string, { body, index, conversation }: Extract<Rollouts, { body: unknown }>): Markup {
  const { passages, calls, reward, endReason } = conversation
  return html`<nav class="choices" aria-label="Rollouts of the group"><ul>${body.rollouts.map(
    (one, i) =>
      html`<li><a href="/groups/${leaseId}?rollout=${i}#rollout" ${i === index ? html`aria-current="true"` : ''}>${i + 1} <span class="quiet">${one.reward.total.toFixed(2)}</span></a></li>`,
  )}</ul></nav>
<article id="rollout" class="rollout" aria-label="Rollout ${index + 1}">
<dl class="pairs">
<div><dt>Reward</dt><dd>${decimal(reward.total)}</dd></div>
${reward.components.map(({ name, value }) => html`<div><dt>${name}</dt><dd>${decimal(value)}</dd></div>`)}
<div><dt>Ended</dt><dd>${endReason}</dd></div>
</dl>
<p class="quiet">Marked by the probability of each token, as the node reports: <span class="t2">under 1/2</span> <span class="t3">under 1/10</span> <span class="t4">under 1/100</span></p>
${passages.map((passage) =>
  passage.kind === 'assistant'
    ? html`<section class="said assistant"><h3>Assistant <span class="quiet">${passage.tokens} tokens</span></h3><pre>${passage.pieces.map(pieceOf)}</pre></section>`
    : passage.kind === 'prompt'
      ? html`<details id="prompt" class="said"><summary>Prompt <span class="quiet">${passage.tokens} tokens</span></summary><pre tabindex="0">${passage.text}</pre></details>`
      : html`<section class="said environment"><h3>Environment and user <span class="quiet">${passage.tokens} tokens</span></h3><pre>${passage.text}</pre></section>`,
)}
<h3>Calls</h3>
${
  calls.length === 0
    ? empty('The rollout made no call.')
    : table(
        'Calls and results',
        [{ name: 'call' }, { name: 'arguments' }, { name: 'outcome' }, { name: 'result' }],
        calls.map(({ name, argumentsJson, ok, malformed, raw, resultJson }) => [
          malformed ? '–' : name,
          html`<code>${cut(malformed ? raw : argumentsJson)}</code>`,
          malformed ? badge('bad', 'not parseable') : ok ? badge('good', 'done') : badge('warn', 'error'),
          html`<code>${cut(resultJson)}</code>`,
        ]),
      )
}
</article>`
}

const cut = (text: string): string =>
  text.length <= DASHBOARD_LIMITS.resultChars ? text : `${text.slice(0, DASHBOARD_LIMITS.resultChars)}…`

/** Probabilities below which a piece gets the next colour. */
const LIKELY = [0.5, 0.1, 0.01]

function pieceOf({ text, logprob }: SampledPiece): Markup {
  const probability = Math.exp(logprob)
  const level = 1 + LIKELY.filter((bound) => probability < bound).length
  const shown = `${(100 * probability).toPrecision(3)} %`
  return level === 1
    ? html`<span title="${shown}">${text}</span>`
    : html`<span class="t${level}" title="${shown}">${text}</span>`
}
