import { createHash } from 'node:crypto'
import { html } from 'hono/html'
import { durationOf, numberOf, shortKey, shortLease, timeOf } from '../report/words.js'
import type { Visitor } from './access.js'
import { type ChartForm, type LineChart, SIZES } from './charts.js'

/** HTML in which all inserted values are escaped. */
export type Markup = ReturnType<typeof html>

/** Data that every page shows around its content. */
export interface Frame {
  readonly visitor: Visitor
  readonly hasToken: boolean
  /** Name of the base model. */
  readonly model: string
  readonly operator: string
  readonly purpose: string
  /** Number of events that the page shows. */
  readonly revision: number
  /** Events of the log that have not been counted yet. */
  readonly behind: number
}

export const SECTIONS = [
  { path: '/', name: 'Overview' },
  { path: '/steps', name: 'Training' },
  { path: '/nodes', name: 'Volunteers' },
  { path: '/groups', name: 'Groups' },
  { path: '/coverage', name: 'Tasks' },
  { path: '/versions', name: 'Versions' },
  { path: '/join', name: 'Join' },
] as const

/** Renders a page. @param path  of the section that the page belongs to */
export function page(frame: Frame, path: string, title: string, content: Markup): Markup {
  const { visitor, hasToken, model, operator, purpose, behind, revision } = frame
  const links = SECTIONS.map(
    (section) =>
      html`<li><a href="${section.path}" ${section.path === path ? html`aria-current="page"` : ''}>${section.name}</a></li>`,
  )
  const session =
    visitor === 'operator'
      ? html`<form method="post" action="/logout"><button class="plain">Log out</button></form>`
      : html`<a href="/login">Log in</a>`
  return html`<!doctype html>
<html lang="en">
${head(`${title} · ${model}`)}
<body>
<a class="skip" href="#content">To the content</a>
<header class="top">
<p class="run"><a href="/">${model}</a></p>
${purpose === '' ? '' : html`<p class="purpose">${purpose}</p>`}
<p class="door"><span id="connection" data-state="still" role="status"></span>${hasToken ? session : ''}</p>
<nav aria-label="Sections"><ul>${links}</ul></nav>
</header>
<main id="content" tabindex="-1" data-revision="${revision}">
<h1>${title}</h1>
${live('behind', behind === 0 ? '' : html`<p class="note">The coordinator is still reading the log: ${thousands(behind)} events are left. The numbers grow until then.</p>`)}
${content}
</main>
<footer>${operator === '' ? '' : html`<p>Operated by ${operator}.</p>`}</footer>
</body>
</html>`
}

export const head = (title: string): Markup => html`<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/dashboard.css">
<script type="module" src="/assets/live.js"></script>
</head>`

/** A part of a page that `live.js` replaces when the report has changed. */
export const live = (id: string, content: Markup | string): Markup => html`<div id="${id}" data-live>${content}</div>`

export interface Column {
  readonly name: string
  /** Right-aligned, for numbers. */
  readonly numeric?: boolean
}

/** Renders a table. The first cell of a row is its header. */
export function table(caption: string, columns: readonly Column[], rows: readonly (readonly unknown[])[]): Markup {
  const align = (i: number): Markup | string => (columns[i]!.numeric ? html`class="number"` : '')
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table>
<caption>${caption}</caption>
<thead><tr>${columns.map(({ name }, i) => html`<th scope="col" ${align(i)}>${name}</th>`)}</tr></thead>
<tbody>${rows.map(
    (cells) =>
      html`<tr>${cells.map((cell, i) => (i === 0 ? html`<th scope="row" ${align(i)}>${cell}</th>` : html`<td ${align(i)}>${cell}</td>`))}</tr>
`,
  )}</tbody>
</table></div>`
}

/** Renders a number with its name above and an explanation below. */
export const figure = (name: string, value: unknown, below: unknown = ''): Markup =>
  html`<div class="figure"><dt>${name}</dt><dd><span class="value">${value}</span>${below === '' ? '' : html`<span class="below">${below}</span>`}</dd></div>`

/**
 * Renders a chart that is loaded as an image, with the colours and the width of the screen.
 * @param name  name in its address
 * @param width  width of its place on a large screen
 */
export function chartFigure(name: string, caption: string, chart: LineChart, width: 'half' | 'whole' = 'half'): Markup {
  const [first] = chart.series
  const points = (first?.values ?? []).flatMap((value, i) =>
    value === null ? [] : [{ value, version: chart.from + i }],
  )
  const [begin, end] = [points[0], points.at(-1)]
  if (!begin || !end)
    return html`<figure class="chart"><figcaption>${caption}</figcaption><p class="empty">No numbers yet.</p></figure>`
  // The address contains a hash of the data, so that a browser reuses an unchanged chart.
  const of = createHash('sha256').update(JSON.stringify(chart)).digest('hex').slice(0, 16)
  const source = (media: string, form: ChartForm): Markup =>
    html`<source media="${media}" srcset="${chartPath(name, of, form)}" width="${SIZES[form.width].width}" height="${SIZES[form.width].height}">`
  const alt = `${caption}, by version: ${brief(begin.value)} at version ${begin.version}, ${brief(end.value)} at version ${end.version}`
  return html`<figure class="chart"><figcaption>${caption}</figcaption><picture>
${source('(prefers-color-scheme: dark) and (max-width: 40rem)', { dark: true, width: 'phone' })}
${source('(prefers-color-scheme: dark)', { dark: true, width })}
${source('(max-width: 40rem)', { dark: false, width: 'phone' })}
<img src="${chartPath(name, of, { dark: false, width })}" width="${SIZES[width].width}" height="${SIZES[width].height}" alt="${alt}" loading="lazy">
</picture></figure>`
}

const chartPath = (name: string, of: string, { dark, width }: ChartForm): string =>
  `/charts/${name}.svg?of=${of}&width=${width}${dark ? '&dark' : ''}`

const brief = (value: number): string => String(Number(value.toPrecision(3)))

export const thousands = (value: number): string => value.toLocaleString('en')
export const percent = (share: number | null): string =>
  share === null ? '–' : `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`
export const decimal = (value: number | null | undefined, digits = 3): string =>
  value === null || value === undefined ? '–' : numberOf(value, digits)
export const moment = (ms: number): Markup => html`<time datetime="${new Date(ms).toISOString()}">${timeOf(ms)}</time>`
export const ago = (ms: number, nowMs: number): string => `${durationOf(nowMs - ms)} ago`
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${thousands(count)} ${count === 1 ? one : many}`

export const keyLink = (node: string): Markup =>
  html`<a class="name" href="/nodes/${node}" title="${node}">${shortKey(node)}</a>`
export const leaseLink = (leaseId: string): Markup =>
  html`<a class="name" href="/groups/${leaseId}" title="${leaseId}">${shortLease(leaseId)}</a>`
/** A state as a word. The colour repeats it. */
export const badge = (tone: 'good' | 'bad' | 'dull' | 'warn', words: string): Markup =>
  html`<span class="badge ${tone}">${words}</span>`
export const empty = (words: string): Markup => html`<p class="empty">${words}</p>`

/** The number of a version, with a mark if the version is withdrawn. */
export const versionName = ({ version, withdrawn }: { readonly version: number; readonly withdrawn: boolean }) =>
  withdrawn ? html`${version} ${badge('warn', 'withdrawn')}` : version
