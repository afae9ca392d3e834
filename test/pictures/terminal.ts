import { escaped, picture } from './svg.js'

/** A terminal with text, as an SVG picture. */

export const LINE = 19
export const LETTER = 7.83
const TOP = 46

export interface Shown {
  readonly text: string
  readonly tone?: 'plain' | 'soft' | 'good' | 'bright'
  /** Seconds after which the line appears; absent: at once. */
  readonly at?: number
}

const FILL = { plain: '#d6deeb', soft: '#8695aa', good: '#7fd6a3', bright: '#ffffff' } as const

/** Lines of text on the terminal. */
export const onTerminal = (x: number, rows: readonly Shown[], seconds?: number): string =>
  rows
    .map(({ text, tone = 'plain', at }, i) => {
      const motion = at === undefined || seconds === undefined ? '' : appears(at, seconds)
      return `<text x="${x}" y="${TOP + i * LINE + 14}" font-size="13" fill="${FILL[tone]}" class="m" xml:space="preserve">${motion}${escaped(text)}</text>`
    })
    .join('\n')

/** Makes an element appear at a moment, until the animation starts again. */
export const appears = (at: number, seconds: number): string => {
  const share = Math.max(0.0001, Math.min(0.9999, at / seconds)).toFixed(4)
  return `<animate attributeName="opacity" values="0;0;1;1" keyTimes="0;${share};${share};1" dur="${seconds}s" repeatCount="indefinite"/>`
}

/** The three lights and the title of a window. */
export const windowBar = (title: string): string =>
  [
    ...['#ff5f57', '#febc2e', '#28c840'].map(
      (fill, i) => `<circle cx="${20 + i * 18}" cy="20" r="5.5" fill="${fill}"/>`,
    ),
    `<text x="84" y="25" font-size="13" fill="#8695aa" class="m">${escaped(title)}</text>`,
  ].join('\n')

/** A picture of a terminal. */
export function terminalPicture(
  command: string,
  rows: readonly Shown[],
  { title, description }: { readonly title: string; readonly description: string },
): string {
  const columns = Math.max(...rows.map(({ text }) => text.length), command.length + 6)
  const size = [Math.ceil(columns * LETTER + 40), TOP + rows.length * LINE + 18] as const
  return picture(size, { title, description }, [windowBar(command), onTerminal(20, rows)], '#101722')
}
