import { html } from 'hono/html'
import { countOf } from '../../../../common/errors/index.js'
import type { ParsedCall, RoutedTool, Task } from '../../../../rollout/episode/index.js'
import type { ToolResponse } from '../../../kernel/index.js'
import { type Branch, type PlayedTask, partsOf, type Step } from '../played-task.js'
import { type FormField, fieldsOf } from './form-fields.js'
import { badge, changesList, decimal, empty, type Markup, table } from './markup.js'

/** Returns the line for a task in the list of tasks. */
const taskTitle = ({ kind, environments, turns }: Task): string =>
  `${environments.map(({ environment }) => environment).join(', ')}: ${cut(turns[0]!, 90)}${kind === 'multi-turn' ? '' : ` (${kind})`}`

const cut = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most - 1)}…`)

/** Returns the form that chooses a task. @param environment  name of the environment to filter by; empty: no filter */
export function chooser(tasks: readonly Task[], environment: string, chosen: string | null): Markup {
  const environments = [
    ...new Set(tasks.flatMap((task) => task.environments.map(({ environment }) => environment))),
  ].sort()
  const shown = tasks.filter(
    (task) => environment === '' || task.environments.some((opened) => opened.environment === environment),
  )
  return html`<form class="card" data-form="open" novalidate>
<div class="field"><label for="environment">Environment</label><select id="environment" name="environment">
<option value="">all ${environments.length}</option>${environments.map(
    (name) => html`<option value="${name}" ${name === environment ? 'selected' : ''}>${name}</option>`,
  )}</select></div>
<div class="field"><label for="task">Task</label><select id="task" name="task">${shown.map(
    (task) => html`<option value="${task.id}" ${task.id === chosen ? 'selected' : ''}>${taskTitle(task)}</option>`,
  )}</select></div>
<button type="submit">Open the task</button>
</form>`
}

/** Returns the section of a task in play: the branch `shown`, and its comparison with the branch `against`. */
export function playPage(played: PlayedTask, shown: Branch, against: string | null, tool: string | null): Markup {
  const { task, branches } = played
  return html`<section aria-labelledby="branches"><h2 id="branches">Branches</h2>
<div class="row">${branches.map(
    ({ name, from }) =>
      html`<button type="button" class="second" data-act="show" data-branch="${name}" aria-pressed="${name === shown.name ? 'true' : 'false'}">${name}${from === null ? '' : ` (from ${from.branch}, step ${from.steps})`}</button>`,
  )}
<button type="button" class="second" data-act="fork">Fork ${shown.name} here</button>
<button type="button" class="second" data-act="save">Download ${shown.name}</button>
</div>
${branches.length < 2 ? '' : compareForm(branches, shown, against)}</section>
${against === null ? '' : comparison(played, shown.name, against)}
<div class="bench"><section aria-labelledby="talk"><h2 id="talk">Conversation ${shown.name}</h2>
${shown.episode.opening.map(({ role, content }) => said(role === 'user' ? 'User' : 'System', role, content))}
<div aria-live="polite">${shown.steps.map((step, i) => stepOf(step, shown.steps[i - 1]))}</div>
${shown.episode.isOver ? html`<p class="note">The conversation is over. Fork another branch or open another task.</p>` : moves(shown, tool)}
</section>
<section aria-labelledby="reward"><h2 id="reward">Reward of ${shown.name}</h2>${rewardOf(shown)}
<details><summary>Solution</summary>${truthOf(task)}</details></section></div>`
}

function compareForm(branches: readonly Branch[], shown: Branch, against: string | null): Markup {
  return html`<div class="row" role="group" aria-label="Compare">${branches
    .filter(({ name }) => name !== shown.name)
    .map(
      ({ name }) =>
        html`<button type="button" class="second" data-act="compare" data-branch="${name}" aria-pressed="${name === against ? 'true' : 'false'}">Compare with ${name}</button>`,
    )}</div>`
}

function comparison(played: PlayedTask, one: string, other: string): Markup {
  const { shared, rewards, changes } = played.compare(one, other)
  return html`<section aria-labelledby="compared"><h2 id="compared">${one} compared with ${other}</h2>
<p>${one} and ${other} share ${countOf(shared, 'step')}.</p>
${table(
  'Reward',
  ['component', one, other],
  rewards.map(({ name, one: ours, other: theirs }) => [
    name,
    decimal(ours),
    ours === theirs ? decimal(theirs) : html`<strong>${decimal(theirs)}</strong>`,
  ]),
)}
<h3>Rows that differ, first in ${one}, then in ${other}</h3>
${changes.length === 0 ? empty('The environments are in the same state.') : changesList(changes)}</section>`
}

const said = (who: string, role: string, text: string): Markup =>
  html`<div class="said ${role}"><h3>${who}</h3><pre>${text}</pre></div>`

function stepOf({ message, reaction, changes, scored }: Step, before: Step | undefined): Markup {
  const { text, calls } = message
  const gain = scored.total - (before?.scored.total ?? 0)
  const reward = html`<p class="quiet">Reward ${decimal(scored.total)}${before ? html` (${gain >= 0 ? '+' : ''}${decimal(gain)})` : ''}</p>`
  const words = calls.length === 0 || text !== '' ? said('You say', 'assistant', text) : ''
  if (calls.length === 0)
    return html`${words}${reward}${reaction.user === null ? html`<p>No turn of the user follows.</p>` : said('User', 'user', reaction.user)}`
  return html`${words}${calls.map((call, i) => callOf(call, reaction.results[i]))}
${changes.length === 0 ? html`<p class="quiet">The call changed nothing.</p>` : changesList(changes)}${reward}`
}

function callOf(call: ParsedCall, result: ToolResponse | undefined): Markup {
  const written = call.malformed ? call.raw : `${call.name} ${JSON.stringify(call.arguments)}`
  const ok = result?.ok === true
  return html`<div class="said assistant"><h3>Call ${badge(ok ? 'good' : 'warn', ok ? 'done' : 'error')}</h3>
<pre>${written}</pre><pre tabindex="0" role="region" aria-label="Result of ${call.malformed ? 'the call' : call.name}">${pretty(result?.text ?? '')}</pre></div>`
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 1)
  } catch {
    return json
  }
}

function rewardOf({ episode }: Branch): Markup {
  const scored = episode.score()
  return html`<dl class="figures"><div class="figure"><dt>Total</dt><dd><span class="value" id="total">${decimal(scored.total)}</span></dd></div>
<div class="figure"><dt>Solved</dt><dd><span class="value">${scored.solved ? badge('good', 'yes') : badge('dull', 'not yet')}</span></dd></div></dl>
<dl class="pairs">${Object.entries(partsOf(scored)).map(
    ([name, value]) => html`<div><dt>${name}</dt><dd>${decimal(value)}</dd></div>`,
  )}<div><dt>calls</dt><dd>${episode.calls.length}</dd></div></dl>`
}

const truthOf = ({ groundTruth }: Task): Markup =>
  groundTruth.length === 0
    ? empty('The solution makes no calls.')
    : html`<ol>${groundTruth.map(({ name, arguments: args, turn }) => html`<li><code>${name} ${JSON.stringify(args)}</code> <span class="quiet">in user turn ${turn + 1}</span></li>`)}</ol>`

function moves({ episode }: Branch, chosen: string | null): Markup {
  const tool = episode.offered.find(({ name }) => name === chosen) ?? episode.offered[0]!
  return html`<form class="card" data-form="call" novalidate aria-labelledby="call-title"><h3 id="call-title">Call a tool</h3>
<div class="field"><label for="tool">Tool</label><select id="tool" name="tool">${episode.offered.map(
    ({ name }) => html`<option value="${name}" ${name === tool.name ? 'selected' : ''}>${name}</option>`,
  )}</select></div>
<div id="arguments">${argumentFields(tool)}</div>
<div class="field"><label for="next-to-call">Text next to the call</label><textarea id="next-to-call" name="next-to-call"></textarea>
<span class="quiet">optional; the user reads it, and some rewards do</span></div>
<p id="problem" role="alert"></p>
<button type="submit">Make the call</button></form>
<form class="card" data-form="say" novalidate aria-labelledby="say-title"><h3 id="say-title">Answer the user</h3>
<div class="field"><label for="saying">Message</label><textarea id="saying" name="text"></textarea>
<span class="quiet">The user’s next turn follows. After the last turn, the conversation ends.</span></div>
<button type="submit">Send the message</button></form>`
}

/** Returns the form fields for the arguments of a tool. */
export const argumentFields = (tool: RoutedTool): Markup =>
  html`<p>${tool.description} ${tool.readOnly ? badge('dull', 'reads') : badge('warn', 'changes')}</p>${fieldsOf(tool.inputSchema).map(fieldOf)}`

function fieldOf({ name, kind, required, description, values, form }: FormField): Markup {
  const id = `arg-${name}`
  const hint = [required ? '' : 'optional', description, form].filter((part) => part !== '').join('; ')
  const described = hint === '' ? '' : html`aria-describedby="${id}-hint"`
  const input =
    kind === 'choice' || kind === 'switch'
      ? html`<select id="${id}" name="${name}" ${described}><option value=""></option>${(kind === 'switch' ? ['true', 'false'] : values).map((value) => html`<option value="${value}">${value}</option>`)}</select>`
      : kind === 'json'
        ? html`<textarea id="${id}" name="${name}" ${described}></textarea>`
        : html`<input id="${id}" name="${name}" type="text" ${kind === 'number' ? html`inputmode="decimal"` : ''} autocomplete="off" ${described}>`
  return html`<div class="field"><label for="${id}">${name}</label>${input}${hint === '' ? '' : html`<span class="quiet" id="${id}-hint">${hint}</span>`}</div>`
}
