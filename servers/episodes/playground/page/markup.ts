import { html } from 'hono/html'
import type { RowChange } from '../../../kernel/index.js'

/** HTML in which all inserted texts are escaped. */
export type Markup = ReturnType<typeof html>

export const badge = (tone: 'good' | 'bad' | 'dull' | 'warn', words: string): Markup =>
  html`<span class="badge ${tone}">${words}</span>`
export const empty = (words: string): Markup => html`<p class="empty">${words}</p>`
export const decimal = (value: number | null): string => (value === null ? '–' : String(Number(value.toFixed(4))))

/** Returns a table. The first cell of each row is its heading. */
export function table(
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly (Markup | string)[])[],
): Markup {
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table>
<caption>${caption}</caption>
<thead><tr>${columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${rows.map(
    ([name, ...cells]) => html`<tr><th scope="row">${name}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`,
  )}</tbody></table></div>`
}

type Row = Readonly<Record<string, unknown>>

/** Returns a list of changed rows with the changed fields. */
export function changesList(changes: readonly RowChange[]): Markup {
  return html`<ul class="changes">${changes.map(
    (change) => html`<li>${nameOf(change)} ${badge(...kindOf(change))}<dl>${fieldsOf(change)}</dl></li>`,
  )}</ul>`
}

const nameOf = ({ environment, table: name, key }: RowChange): Markup =>
  html`<code>${environment}.${name}</code> ${key}`

function kindOf({ before, after }: RowChange): ['good' | 'bad' | 'dull', string] {
  if (before === null) return ['good', 'new']
  return after === null ? ['bad', 'deleted'] : ['dull', 'changed']
}

function fieldsOf({ before, after }: RowChange): Markup[] {
  const [old, now] = [(before ?? {}) as Row, (after ?? {}) as Row]
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])]
  return names
    .filter((name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]))
    .map(
      (name) =>
        html`<dt>${name}</dt><dd>${old[name] === undefined ? '' : html`<del>${text(old[name])}</del> `}${now[name] === undefined ? '' : html`<ins>${text(now[name])}</ins>`}</dd>`,
    )
}

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
