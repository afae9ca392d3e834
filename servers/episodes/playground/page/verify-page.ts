import { html } from 'hono/html'
import type { Published } from '../published.js'
import type { Finding, Replayed, VerificationResult } from '../verify-published.js'
import { badge, decimal, empty, type Markup, table } from './markup.js'

/** Returns the forms that choose what to verify: an example of the page, a file, or an address. */
export function verifyForm(attackGroups: readonly { readonly title: string }[], shown: number | null): Markup {
  return html`<section aria-labelledby="attacks"><h2 id="attacks">Examples: an honest group and forged ones</h2>
<p>An honest group of rollouts and forgeries of it. This page verifies each of them in this tab.</p>
<div class="row">${attackGroups.map(
    ({ title }, i) =>
      html`<button type="button" class="second" data-act="attack" data-attack="${i}" aria-pressed="${i === shown ? 'true' : 'false'}">${title}</button>`,
  )}</div></section>
<section aria-labelledby="own"><h2 id="own">Verify a published rollout or group</h2>
<form class="card" data-form="fetch" novalidate><div class="field"><label for="file">File</label>
<input id="file" type="file" accept=".json,application/json"></div>
<div class="field"><label for="address">Or address</label><input id="address" name="address" type="url" autocomplete="off" aria-describedby="address-hint">
<span class="quiet" id="address-hint">An https address of a server that allows other pages to read it (CORS).</span></div>
<button type="submit">Fetch and verify</button><p id="problem" role="alert"></p></form></section>`
}

const OUTCOMES = {
  passed: badge('good', 'passed'),
  failed: badge('bad', 'failed'),
  unchecked: badge('dull', 'not checked here'),
} as const

/** Returns the section that shows the result of a verification. */
export function verificationPage(
  { title, about, task }: Published,
  { findings, rollouts, signer }: VerificationResult,
): Markup {
  const failures = findings.filter(({ outcome }) => outcome === 'failed')
  return html`<section aria-labelledby="verified"><h2 id="verified">${title === '' ? 'A published rollout' : title}</h2>
${about === '' ? '' : html`<p>${about}</p>`}
<p class="verdict" role="status">${failures.length === 0 ? badge('good', 'All checks passed') : badge('bad', `Failed: ${[...new Set(failures.map(({ code }) => code))].join(', ')}`)}</p>
${signer === null ? '' : html`<p class="quiet long">Signed by <code>${signer}</code></p>`}
<h3>User turns</h3><ol>${task.turns.map((turn) => html`<li>${turn}</li>`)}</ol>
<h3>Checks</h3><ul class="findings">${sorted(findings).map(
    ({ check, outcome, detail, code }) =>
      html`<li>${OUTCOMES[outcome]} ${check}${code === undefined ? '' : html` <code>${code}</code>`}${detail === '' ? '' : html`<br><span class="quiet">${detail}</span>`}</li>`,
  )}</ul>
${rollouts.map(rolloutOf)}</section>`
}

/** Puts failed checks first. */
const sorted = (findings: readonly Finding[]): Finding[] =>
  [...findings].sort((a, b) => Number(b.outcome === 'failed') - Number(a.outcome === 'failed'))

function rolloutOf({ calls, claimedReward, reward }: Replayed, i: number): Markup {
  return html`<section><h3>Rollout ${i + 1}</h3>
<p>Claimed reward ${decimal(claimedReward)}, recomputed reward ${decimal(reward)}</p>
${
  calls.length === 0
    ? empty('This rollout makes no calls.')
    : table(
        `Replayed calls of rollout ${i + 1}`,
        ['call', 'replay', 'replayed result', 'published result'],
        calls.map(({ text, ok, claimed, replayed }) => [
          html`<code>${text}</code>`,
          ok ? badge('good', 'same') : badge('bad', 'different'),
          html`<code>${cut(replayed)}</code>`,
          ok ? '' : html`<code>${cut(claimed)}</code>`,
        ]),
      )
}</section>`
}

const cut = (text: string): string => (text.length <= 600 ? text : `${text.slice(0, 600)}…`)
