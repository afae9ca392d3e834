import type { RecordedVersion, Recording } from './recording.js'
import { escaped, picture } from './svg.js'
import { appears, LINE, onTerminal, type Shown, windowBar } from './terminal.js'

const SECONDS = 18
/** Share of the animation in which versions are published. */
const TRAINING = 11
const [WIDTH, HEIGHT] = [860, 450]
const CHART = { x: 570, y: 92, width: 250, height: 150 }

const versionLine = ({ version, accepted, refused, reward, seconds }: RecordedVersion): string =>
  `version ${String(version).padStart(2)}  groups ${String(accepted).padStart(3)} accepted ${refused} refused  reward ${reward === null ? '  –  ' : reward.toFixed(3)}  ${String(seconds).padStart(3)} s`

/** Shows an element in a part of the animation only. */
const during = (from: number, to: number, content: string): string => {
  const [begin, end] = [from, to].map((at) => Math.min(0.9999, Math.max(0.0001, at / SECONDS)).toFixed(4))
  return `<g>${content}<animate attributeName="opacity" values="${from === 0 ? 1 : 0};${from === 0 ? 1 : 0};1;1;${to >= SECONDS ? 1 : 0};${to >= SECONDS ? 1 : 0}" keyTimes="0;${begin};${begin};${end};${end};1" dur="${SECONDS}s" repeatCount="indefinite"/></g>`
}

/** Mean reward by version, drawn as the versions appear. */
function chart(versions: readonly RecordedVersion[], atOf: (version: RecordedVersion) => number): string {
  const points = versions.filter((one) => one.reward !== null)
  const most = Math.max(...points.map(({ reward }) => reward!))
  const last = versions.at(-1)!.version
  const place = ({ version, reward }: RecordedVersion): [number, number] => [
    CHART.x + (version / last) * CHART.width,
    CHART.y + CHART.height - (reward! / most) * (CHART.height - 10),
  ]
  const axis = `<path d="M${CHART.x} ${CHART.y}V${CHART.y + CHART.height}H${CHART.x + CHART.width}" fill="none" stroke="#42506a"/>`
  const segments = points.flatMap((point, i) => {
    const [x, y] = place(point).map((value) => value.toFixed(1))
    const from = i === 0 ? null : place(points[i - 1]!).map((value) => value.toFixed(1))
    const line = from ? `<path d="M${from[0]} ${from[1]}L${x} ${y}" stroke="#7fd6a3" stroke-width="2"/>` : ''
    return [`<g>${appears(atOf(point), SECONDS)}${line}<circle cx="${x}" cy="${y}" r="3" fill="#7fd6a3"/></g>`]
  })
  const label = (x: number, y: number, content: string, anchor = 'start'): string =>
    `<text x="${x}" y="${y}" font-size="12" fill="#8695aa" text-anchor="${anchor}">${escaped(content)}</text>`
  return [
    label(CHART.x, CHART.y - 14, 'mean reward of the last 96 rollouts'),
    axis,
    label(CHART.x - 6, CHART.y + 16, most.toFixed(2), 'end'),
    label(CHART.x - 6, CHART.y + CHART.height, '0', 'end'),
    label(CHART.x, CHART.y + CHART.height + 18, 'version 0'),
    label(CHART.x + CHART.width, CHART.y + CHART.height + 18, String(last), 'end'),
    ...segments,
  ].join('\n')
}

/** The demo from its command to its result, shortened to some seconds. Columns of the real output are left out. */
export function demoPicture({ versions, report }: Recording): string {
  const total = versions.at(-1)!.seconds
  const atOf = ({ seconds }: RecordedVersion): number => 0.6 + (seconds / total) * (TRAINING - 1.6)
  const training: Shown[] = [
    { text: '$ npm run demo', tone: 'bright' },
    ...versions.map((one): Shown => ({ text: versionLine(one), at: atOf(one) })),
  ]
  const table = report.slice(
    0,
    report.findIndex((line) => line.startsWith('One held-out') || line.startsWith('No held-out')),
  )
  const results = table
    .filter((line) => !/temperature 1$|^ {2}reward/.test(line))
    .slice(0, 12)
    .map((line): Shown => ({ text: line.slice(0, 104), tone: /solved exactly/.test(line) ? 'good' : 'plain' }))
  const before = 'A coordinator and two volunteers on this machine teach a small model an environment.'
  return picture(
    [WIDTH, HEIGHT],
    {
      title: 'The demo in some seconds',
      description: `${before} ${versions.length - 1} versions in ${total} seconds. ${table.filter((line) => /solved exactly/.test(line)).join(' ')}`,
    },
    [
      windowBar(`npm run demo: ${Math.round(total / 60)} minutes in ${TRAINING} seconds`),
      during(0, TRAINING, `${onTerminal(20, training, SECONDS)}\n${chart(versions, atOf)}`),
      during(TRAINING, SECONDS, onTerminal(20, [{ text: '$ npm run demo', tone: 'bright' }, { text: '' }, ...results])),
      `<text x="20" y="${HEIGHT - 16}" font-size="12.5" fill="#8695aa">${escaped(before)}</text>`,
    ],
    '#101722',
  )
}

if (LINE * 18 > HEIGHT - 60) throw new Error('the lines of the demo do not fit')
