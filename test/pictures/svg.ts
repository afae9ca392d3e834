/** Drawing of SVG pictures as text. Every picture is a light card with an edge, so that it reads on pages of any colour. */

export const INK = {
  text: '#1f2937',
  soft: '#5b6775',
  line: '#cbd5e1',
  card: '#ffffff',
  panel: '#f4f6fa',
  blue: '#1d5fae',
  blueSoft: '#dfebf9',
  green: '#137a4f',
  greenSoft: '#ddf3e8',
  amber: '#8a5a00',
  amberSoft: '#fdf0d3',
  red: '#b3261e',
  redSoft: '#fbe3e1',
  purple: '#6b3fa0',
  purpleSoft: '#eee5f8',
} as const

export type Tone = 'blue' | 'green' | 'amber' | 'red' | 'purple'
export const softOf = (tone: Tone): string => INK[`${tone}Soft`]

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
export const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => ENTITIES[sign]!)

interface TextForm {
  readonly size?: number
  readonly fill?: string
  readonly weight?: 400 | 600 | 700
  readonly anchor?: 'start' | 'middle' | 'end'
  readonly mono?: boolean
}

export function text(x: number, y: number, content: string, form: TextForm = {}): string {
  const { size = 13, fill = INK.text, weight = 400, anchor = 'start', mono = false } = form
  return `<text x="${x}" y="${y}" font-size="${size}" fill="${fill}" font-weight="${weight}" text-anchor="${anchor}"${mono ? ' class="m"' : ''}>${escaped(content)}</text>`
}

/** Lines of text below each other. */
export const lines = (x: number, y: number, contents: readonly string[], form: TextForm = {}): string =>
  contents.map((content, i) => text(x, y + i * ((form.size ?? 13) + 5), content, form)).join('\n')

export const box = (
  [x, y, width, height]: readonly [number, number, number, number],
  fill: string,
  stroke: string = INK.line,
  dashed = false,
): string =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="8" fill="${fill}" stroke="${stroke}"${dashed ? ' stroke-dasharray="6 5"' : ''}/>`

/** Arrow along points, with its head at the last. */
export const arrow = (points: readonly (readonly [number, number])[], stroke: string = INK.soft): string =>
  `<polyline points="${points.map((point) => point.join(',')).join(' ')}" fill="none" stroke="${stroke}" stroke-width="1.6" marker-end="url(#head)"/>`

/** Splits a text into lines of at most so many letters. */
export function wrapped(content: string, letters: number): string[] {
  const found: string[] = []
  for (const word of content.split(' ')) {
    const last = found.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= letters) found[found.length - 1] = `${last} ${word}`
    else found.push(word)
  }
  return found
}

/** A picture with its title and description for screen readers. */
export function picture(
  [width, height]: readonly [number, number],
  { title, description }: { readonly title: string; readonly description: string },
  parts: readonly string[],
  background: string = INK.card,
): string {
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="t d" font-family="system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif">`,
    `<title id="t">${escaped(title)}</title>`,
    `<desc id="d">${escaped(description)}</desc>`,
    "<style>.m{font-family:ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace}</style>",
    `<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0 10 5 0 10z" fill="${INK.soft}"/></marker></defs>`,
    `<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="12" fill="${background}" stroke="${INK.line}"/>`,
    ...parts,
    '</svg>',
  ].join('\n')}\n`
}
