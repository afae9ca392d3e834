import type { Recording } from './recording.js'
import { INK, picture, text } from './svg.js'

/** A value in percent with its standard error. */
type Measured = readonly [number, number]

export interface Results {
  readonly rows: readonly {
    readonly run: string
    readonly tasks: string
    readonly before: Measured
    readonly after: Measured
    readonly difference: Measured
  }[]
}

const BARS = { x: 340, width: 190, y: 82, row: 62 }
const LINE = { x: 660, y: 82, width: 220, height: 210 }

function bar([value, error]: Measured, y: number, fill: string): string {
  const at = (percent: number): number => BARS.x + (percent / 100) * BARS.width
  return [
    `<rect x="${BARS.x}" y="${y}" width="${((value / 100) * BARS.width).toFixed(1)}" height="16" rx="2" fill="${fill}"/>`,
    `<path d="M${at(value - error).toFixed(1)} ${y + 8}H${at(value + error).toFixed(1)}" stroke="${INK.text}" stroke-width="1.6"/>`,
    text(at(value + error) + 6, y + 12.5, `${value.toFixed(1)} %`, { size: 11.5 }),
  ].join('\n')
}

const signed = (value: number): string => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(1)}`

function bars({ rows }: Results): string[] {
  return rows.flatMap(({ run, tasks, before, after, difference }, i) => {
    const y = BARS.y + i * BARS.row
    return [
      text(24, y + 12, run, { size: 12, weight: 600 }),
      text(24, y + 29, tasks, { size: 11.5, fill: INK.soft }),
      text(24, y + 45, `${signed(difference[0])} ± ${difference[1].toFixed(1)} points`, {
        ...{ size: 11.5, fill: difference[0] < 0 ? INK.red : INK.green, weight: 600 },
      }),
      bar(before, y, '#b8c4d4'),
      bar(after, y + 20, '#2f7fd0'),
    ]
  })
}

function line({ versions }: Recording): string[] {
  const points = versions.filter(({ reward }) => reward !== null)
  const most = Math.max(...points.map(({ reward }) => reward!))
  const last = versions.at(-1)!.version
  const path = points
    .map(({ version, reward }) =>
      [LINE.x + (version / last) * LINE.width, LINE.y + LINE.height - (reward! / most) * LINE.height]
        .map((value) => value.toFixed(1))
        .join(','),
    )
    .join(' ')
  return [
    text(LINE.x, 58, 'Mean reward of training rollouts', { size: 13, weight: 600 }),
    `<path d="M${LINE.x} ${LINE.y}V${LINE.y + LINE.height}H${LINE.x + LINE.width}" fill="none" stroke="${INK.line}"/>`,
    `<polyline points="${path}" fill="none" stroke="#2f7fd0" stroke-width="2"/>`,
    text(LINE.x - 8, LINE.y + 8, most.toFixed(2), { size: 11.5, anchor: 'end', fill: INK.soft }),
    text(LINE.x - 8, LINE.y + LINE.height, '0', { size: 11.5, anchor: 'end', fill: INK.soft }),
    text(LINE.x, LINE.y + LINE.height + 20, 'version 0', { size: 11.5, fill: INK.soft }),
    text(LINE.x + LINE.width, LINE.y + LINE.height + 20, `version ${last}, demo`, {
      ...{ size: 11.5, anchor: 'end', fill: INK.soft },
    }),
  ]
}

/** Solved held-out tasks before and after training, and the reward while the demo trained. */
export function resultsPicture(results: Results, recording: Recording): string {
  return picture(
    [930, BARS.y + results.rows.length * BARS.row + 26],
    {
      title: 'Held-out tasks solved before and after training',
      description: results.rows
        .map(({ run, tasks, before, after }) => `${run}, ${tasks}: ${before[0]} % before, ${after[0]} % after`)
        .join('. '),
    },
    [
      text(24, 34, 'Held-out tasks solved at temperature 0', { size: 16, weight: 700 }),
      `<rect x="${BARS.x}" y="48" width="12" height="12" fill="#b8c4d4"/>`,
      text(BARS.x + 18, 58, 'before', { size: 12 }),
      `<rect x="${BARS.x + 78}" y="48" width="12" height="12" fill="#2f7fd0"/>`,
      text(BARS.x + 96, 58, 'after', { size: 12 }),
      ...bars(results),
      ...line(recording),
      text(24, BARS.y + results.rows.length * BARS.row + 10, 'Lines are standard errors over tasks.', {
        size: 11.5,
        fill: INK.soft,
      }),
    ],
  )
}
