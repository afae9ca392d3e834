import wrap from 'wrap-ansi'
import { countOf } from '../../common/errors/index.js'
import { placeText } from '../report/leaderboard-place.js'
import type { NodeView } from '../session/view.js'

const LABEL_COLUMNS = 9
/** Least width of the view: a narrower terminal cuts the lines. */
const FEWEST_COLUMNS = 30

/** Formats a view in lines of at most `columns` columns. */
export function screenLines(
  view: NodeView,
  { nowMs, columns }: { readonly nowMs: number; readonly columns: number },
): string[] {
  const width = Math.max(FEWEST_COLUMNS, columns)
  const rows: (readonly [string, string])[] = [
    ['', `PROVE node …${view.peerId.slice(-8)}, ${durationOf(nowMs - view.startedAtMs)}`],
    ['now', view.state],
    ...(view.announcement === null ? [] : [['operator', view.announcement] as const]),
    ['run', `…${view.coordinator.slice(-8)}, ${versionOf(view)}, ${countOf(view.peers, 'peer')}`],
    ['speed', speedOf(view)],
    ['groups', `${view.accepted} accepted, ${view.refused} refused, ${view.waiting} waiting`],
    ['credit', `${credit(view.credit)} now, ${credit(view.allCredit)} in all (${countOf(view.allAccepted, 'group')})`],
    ...(view.place === null ? [] : [['rank', placeText(view.place)] as const]),
    ['traffic', `${bytes(view.sent)} up, ${bytes(view.received)} down, ${bytes(view.monthBytes)} this month`],
    ['limits', view.limits.join(', ')],
    ...view.notKept.map((text) => ['', text] as const),
    ...view.reasons.map((reason, i) => [i === 0 ? 'refused' : '', reason] as const),
  ]
  return rows.flatMap(([label, text]) => row(label, text, width))
}

function row(label: string, text: string, width: number): string[] {
  if (label === '' && text.startsWith('PROVE')) return wrap(text, width, { hard: true }).split('\n')
  const lines = wrap(text, width - LABEL_COLUMNS, { hard: true }).split('\n')
  return lines.map((line, i) => (i === 0 ? label : '').padEnd(LABEL_COLUMNS) + line)
}

function versionOf({ version, versions }: NodeView): string {
  if (version === null) return 'no version yet'
  return `version ${version}${versions === null ? '' : ` of ${versions}`}`
}

function speedOf({ rollouts, tokens, tokensPerSecond, backend }: NodeView): string {
  if (backend === null) return '-'
  const speed = `${Math.round(tokensPerSecond)} tokens/s on ${backend}`
  return rollouts === 0 ? speed : `${speed}, ${countOf(rollouts, 'rollout')} in progress, ${tokens} tokens so far`
}

const credit = (value: number): string => Math.round(value).toLocaleString('en')

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** Formats a number of bytes. */
export function bytes(count: number): string {
  const power = Math.min(UNITS.length - 1, count < 1 ? 0 : Math.floor(Math.log10(count) / 3))
  const value = count / 1000 ** power
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[power]}`
}

/** Formats the running time: `3 min`, `2 h 5 min`, `4 d 3 h`. */
export function durationOf(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000))
  const hours = Math.floor(minutes / 60)
  if (minutes < 1) return 'started just now'
  if (hours < 1) return `running for ${minutes} min`
  if (hours < 24) return `running for ${hours} h ${minutes % 60} min`
  return `running for ${Math.floor(hours / 24)} d ${hours % 24} h`
}
