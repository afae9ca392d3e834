import type { Json, JsonObject } from '../../../rollout/reward/index.js'
import { itemAt } from '../item-at.js'

/** What a comparison looks at, by words that people use for it. */
const LOW: Readonly<Record<string, readonly string[]>> = {
  cheapest: ['price', 'total', 'cost', 'fare', 'fee', 'basic', 'standard', 'flex', 'business', 'value'],
  smallest: ['amount', 'megabytes', 'bytes', 'size'],
  'lowest rated': ['rating', 'stars'],
  'worst rated': ['rating', 'stars'],
  nearest: ['metres', 'km', 'distance'],
  closest: ['metres', 'km', 'distance'],
  earliest: ['date', 'start', 'departs', 'placed', 'arrives'],
  oldest: ['modified', 'taken', 'notified'],
  shortest: ['duration', 'minutes'],
}
const HIGH: Readonly<Record<string, readonly string[]>> = {
  'most expensive': itemAt(LOW, 'cheapest'),
  priciest: itemAt(LOW, 'cheapest'),
  largest: itemAt(LOW, 'smallest'),
  biggest: itemAt(LOW, 'smallest'),
  'best rated': itemAt(LOW, 'worst rated'),
  'top rated': itemAt(LOW, 'worst rated'),
  farthest: itemAt(LOW, 'nearest'),
  latest: itemAt(LOW, 'earliest'),
  newest: itemAt(LOW, 'oldest'),
  'most recent': itemAt(LOW, 'oldest'),
  longest: itemAt(LOW, 'shortest'),
}
/** People say `end` for `ends` and `expiry date` for `expires`: fields of a row by words that need not be their names. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  end: ['ends', 'end'],
  start: ['start', 'starts'],
  departure: ['departs'],
  arrival: ['arrives'],
  'expiry date': ['expires'],
  'closing time': ['closes'],
  'opening time': ['opens'],
  'due date': ['due'],
  'end date': ['until', 'ends', 'end'],
  'next date': ['next_date'],
  date: ['date', 'since'],
  'amount left': ['left'],
  'amount available': ['available'],
  'number free': ['free'],
  spending: ['spent'],
  savings: ['saved'],
  debt: ['owes'],
  discount: ['off', 'discount'],
  'asking price': ['ask'],
  percentage: ['percent'],
  'pieces in the warehouse': ['warehouse'],
  'pieces in stock': ['stock'],
  'pieces on hand': ['on_hand'],
  pieces: ['quantity'],
  'people waiting': ['waiting'],
  'pending notices': ['pending'],
  'people invited': ['invited'],
}

/** Which of some rows stand out in what the words compare, by their places; more than one where several are level. */
export type Measure = (rows: readonly JsonObject[]) => number[]

/**
 * Understands a superlative.
 * @returns `undefined` when the words compare nothing
 */
export function compared(words: string, noun: string): Measure | undefined {
  const spelled = /\bwith (?:the )?(lowest|highest|earliest|latest|fewest|most) (.+)$/.exec(words)
  if (spelled) {
    const low = /lowest|earliest|fewest/.test(itemAt(spelled, 1))
    const said = itemAt(spelled, 2)
    const names = FIELDS[said] ?? [said.replaceAll(' ', '_')]
    return (rows) => extremes(rows, (field) => names.includes(field), low)
  }
  const bare = words.replace(new RegExp(`^the | (?:one|${noun})$`, 'g'), '')
  const low = LOW[bare]
  const fields = low ?? HIGH[bare]
  const isMeant = (field: string): boolean => field.split('_').some((part) => fields!.includes(part))
  return fields && ((rows) => extremes(rows, isMeant, low !== undefined))
}

/** Rows that lead in every field that can be meant. Where fields disagree, no row does. */
function extremes(rows: readonly JsonObject[], isMeant: (field: string) => boolean, low: boolean): number[] {
  const meant = Object.keys(rows[0] ?? {}).filter((field) => isMeant(field) && isOrdered(rows, field))
  // Of days and times of day, the days decide, whether they are what is compared or stand beside it.
  const isDay = (field: string): boolean => rows.every((row) => /^\d{4}-/.test(String(row[field])))
  const isTime = (field: string): boolean => /^\d{2}:/.test(String(itemAt(rows, 0)[field]))
  const differ = Object.keys(rows[0] ?? {}).some(
    (field) => isDay(field) && rows.some((row) => row[field] !== itemAt(rows, 0)[field]),
  )
  const days = meant.filter(isDay)
  const fields = days.length > 0 ? days : meant.filter((field) => !(differ && isTime(field)))
  if (fields.length === 0) return []
  const leading = fields.map((field) => {
    const values = rows.map((row) => row[field] as number | string)
    const best = values.reduce((a, b) => ((low ? b < a : b > a) ? b : a))
    return values.flatMap((value, i) => (value === best ? [i] : []))
  })
  return leading.reduce((all, places) => all.filter((place) => places.includes(place)))
}

const isOrdered = (rows: readonly JsonObject[], field: string): boolean => {
  const kind = typeof itemAt(rows, 0)[field]
  return rows.every((row) => typeof row[field] === kind && isComparable(row[field]))
}

const isComparable = (value: Json | undefined): boolean =>
  typeof value === 'number' || (typeof value === 'string' && /^\d{4}-\d{2}-\d{2}|^\d{2}:\d{2}$/.test(value))
