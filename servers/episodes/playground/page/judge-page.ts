import { html } from 'hono/html'
import type { Finding, Judgement, Replayed } from '../judge-published.js'
import type { Published } from '../published.js'
import { badge, decimal, empty, type Markup, table } from './markup.js'

/** What can be judged: those that came with the page, a file, an address. */
export function judgeForm(attackGroups: readonly { readonly title: string }[], shown: number | null): Markup {
  return html`<section aria-labelledby="exhibits"><h2 id="exhibits">See a lie caught</h2>
<p>An honest group of rollouts, and what attackers make of it. Each is judged in this tab.</p>
<div class="row">${attackGroups.map(
    ({ title }, i) =>
      html`<button type="button" class="second" data-act="attackGroup" data-attack-group="${i}" aria-pressed="${i === shown ? 'true' : 'false'}">${title}</button>`,
  )}</div></section>
<section aria-labelledby="own"><h2 id="own">Judge what somebody has published</h2>
<form class="card" data-form="fetch" novalidate><div class="field"><label for="file">A file</label>
<input id="file" type="file" accept=".json,application/json"></div>
<div class="field"><label for="address">Or its address</label><input id="address" name="address" type="url" autocomplete="off" aria-describedby="address-hint">
<span class="quiet" id="address-hint">https, from a server that lets other pages read it</span></div>
<button type="submit">Fetch and judge</button><p id="problem" role="alert"></p></form></section>`
}

const OUTCOMES = {
  holds: badge('good', 'holds'),
  lie: badge('bad', 'a lie'),
  open: badge('dull', 'not judged here'),
} as const

/** What came of it. */
export function judgementPage({ title, about, task }: Published, { findings, rollouts, signer }: Judgement): Markup {
  const lies = findings.filter(({ outcome }) => outcome === 'lie')
  return html`<section aria-labelledby="judged"><h2 id="judged">${title === '' ? 'A published rollout' : title}</h2>
${about === '' ? '' : html`<p>${about}</p>`}
<p class="verdict" role="status">${lies.length === 0 ? badge('good', 'Nothing of it is found wrong') : badge('bad', `Caught: ${[...new Set(lies.map(({ code }) => code))].join(', ')}`)}</p>
${signer === null ? '' : html`<p class="quiet long">Signed by <code>${signer}</code></p>`}
<h3>The user</h3><ol>${task.turns.map((turn) => html`<li>${turn}</li>`)}</ol>
<h3>What was asked of it</h3><ul class="findings">${sorted(findings).map(
    ({ check, outcome, detail, code }) =>
      html`<li>${OUTCOMES[outcome]} ${check}${code === undefined ? '' : html` <code>${code}</code>`}${detail === '' ? '' : html`<br><span class="quiet">${detail}</span>`}</li>`,
  )}</ul>
${rollouts.map(rolloutOf)}</section>`
}

/** Lies first: they are what is looked for. */
const sorted = (findings: readonly Finding[]): Finding[] =>
  [...findings].sort((a, b) => Number(b.outcome === 'lie') - Number(a.outcome === 'lie'))

function rolloutOf({ calls, claimedReward, reward }: Replayed, i: number): Markup {
  return html`<section><h3>Rollout ${i + 1}</h3>
<p>Reward claimed ${decimal(claimedReward)}, recomputed ${decimal(reward)}</p>
${
  calls.length === 0
    ? empty('It made no call.')
    : table(
        `Calls of rollout ${i + 1}, played again`,
        ['call', 'played again', 'answer here', 'answer as published'],
        calls.map(({ text, ok, claimed, replayed }) => [
          html`<code>${text}</code>`,
          ok ? badge('good', 'the same') : badge('bad', 'another'),
          html`<code>${cut(replayed)}</code>`,
          ok ? '' : html`<code>${cut(claimed)}</code>`,
        ]),
      )
}</section>`
}

const cut = (text: string): string => (text.length <= 600 ? text : `${text.slice(0, 600)}…`)
