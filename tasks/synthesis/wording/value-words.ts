import type { z } from 'zod'
import type { Json } from '../../../rollout/reward/index.js'
import type { SeededRandom } from '../../../servers/kernel/index.js'
import { itemAt } from '../item-at.js'
import { listed } from './english.js'
import { isChoice } from './field-words.js'
import { type Manner, mannerOf } from './persona.js'
import type { Moment } from './speech.js'

export const MONTHS = 'January February March April May June July August September October November December'.split(' ')
/** From Monday, as the week goes. */
export const WEEKDAYS = 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(' ')

const DAY_MS = 86_400_000
const midnight = (date: string): number => Date.parse(`${date}T00:00:00Z`)
/** Index into `WEEKDAYS`. */
export const weekdayOf = (date: string): number => (new Date(midnight(date)).getUTCDay() + 6) % 7

export const isDate = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(midnight(value))
export const isMonth = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-(0[1-9]|1[0-2])$/.test(value)
export const isTime = (value: unknown): value is string =>
  typeof value === 'string' && /^([01]\d|2[0-3]):[0-5]\d$/.test(value)

/** The words just before and just after a value. */
export interface Slot {
  readonly before: string
  readonly after: string
}

export interface SaidValue {
  readonly phrase: string
  /** The words before it, where they had to change: people do not say "on tomorrow". */
  readonly before: string
}

/** A value in a person's words, from which exactly that value can be understood; see `denotes`. */
export function sayValue(value: Json, schema: z.ZodType | undefined, slot: Slot, moment: Moment): SaidValue {
  const asIs = { phrase: plainly(value), before: slot.before }
  if (slot.before.endsWith('"') || typeof value !== 'string') return asIs
  const set = /(^|[ (])$/.test(slot.before) && /^($|[ ,.;:?!)])/.test(slot.after)
  if (set && (isDate(value) || isMonth(value))) {
    const manner = mannerOf(moment.persona)
    const said = isDate(value) ? sayDate(value, slot, manner, moment) : sayMonth(value, slot, moment)
    return manner.lower ? { ...said, phrase: said.phrase.toLowerCase() } : said
  }
  if (set && isTime(value)) return { ...asIs, phrase: sayTime(value, mannerOf(moment.persona), moment.random) }
  return isChoice(schema) ? { ...asIs, phrase: value.replaceAll('_', ' ') } : asIs
}

/** A value as it is, and a list with commas and "and". */
export function plainly(value: Json): string {
  if (Array.isArray(value)) return listed(value.map(plainly))
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
/** Prepositions that a relative date can follow. */
const BEFORE_RELATIVE = /(?:^|[ (])(on|for|until|by|from|to|before) $/

function sayDate(date: string, slot: Slot, manner: Manner, { today, dated, random }: Moment): SaidValue {
  const { before } = slot
  if (dated && BEFORE_RELATIVE.test(before) && random.chance(0.45)) {
    const relative = relativeDate(date, today, random)
    if (relative) {
      const bare = !WEEKDAYS.includes(relative)
      return { phrase: relative, before: bare ? before.replace(/(^|[ (])on $/, '$1') : before }
    }
  }
  if (random.chance(manner.dates === 'iso' ? 0.8 : 0.15)) return { phrase: date, before }
  const [year, month, day] = date.split('-').map(Number) as [number, number, number]
  const yearNeeded = !dated || date.slice(0, 4) !== today.slice(0, 4)
  const full = itemAt(MONTHS, month - 1)
  const name = random.chance(0.2) && full.length > 4 ? full.slice(0, 3) : full
  const nth = random.chance(0.3) ? `${day}${ordinalEnding(day)}` : String(day)
  const weekday = !yearNeeded && random.chance(0.12) ? itemAt(WEEKDAYS, weekdayOf(date)) : ''
  const [dayAndMonth, comma] = manner.dates === 'month-first' ? [`${name} ${nth}`, ','] : [`${nth} ${name}`, '']
  const phrase = (weekday && `${weekday}${comma} `) + dayAndMonth + (yearNeeded ? `${comma} ${year}` : '')
  return { phrase, before }
}

/** `today`, `tomorrow`, `Friday`, `Wednesday next week`: only where no other day can be meant. */
function relativeDate(date: string, today: string, random: SeededRandom): string | undefined {
  const ahead = Math.round((midnight(date) - midnight(today)) / DAY_MS)
  const weekday = itemAt(WEEKDAYS, weekdayOf(date))
  if (ahead === 0) return 'today'
  if (ahead === 1) return 'tomorrow'
  if (ahead === -1) return 'yesterday'
  if (ahead === 2 && random.chance(0.3)) return 'the day after tomorrow'
  const week = Math.floor((ahead + weekdayOf(today)) / 7)
  if (ahead > 0 && week === 0) return random.pick([weekday, `this ${weekday}`])
  if (ahead === 7) return random.pick([`next ${weekday}`, `${weekday} next week`, 'a week from today'])
  if (ahead > 0 && week === 1) return random.pick([`${weekday} next week`, `next week ${weekday}`])
  return undefined
}

function sayMonth(month: string, { before }: Slot, { today, dated, random }: Moment): SaidValue {
  const sameYear = month.slice(0, 4) === today.slice(0, 4)
  const index = (text: string): number => Number(text.slice(0, 4)) * 12 + Number(text.slice(5, 7)) - 1
  const ahead = index(month) - index(today)
  if (dated && /(?:^|[ (])(in|for|of|during) $/.test(before) && Math.abs(ahead) <= 1 && random.chance(0.35)) {
    const phrase = ahead === 0 ? 'this month' : ahead < 0 ? 'last month' : 'next month'
    return { phrase, before: before.replace(/(^|[ (])(in|during) $/, '$1') }
  }
  const name = itemAt(MONTHS, Number(month.slice(5)) - 1)
  return { phrase: dated && sameYear && random.chance(0.6) ? name : `${name} ${month.slice(0, 4)}`, before }
}

function sayTime(time: string, { clock }: Manner, random: SeededRandom): string {
  const [hour, minute] = time.split(':').map(Number) as [number, number]
  if (clock === '24' || hour === 0) return time
  if (hour === 12 && minute === 0) return random.pick(['noon', '12 pm', '12:00'])
  const half = hour < 12 ? 'am' : 'pm'
  const shown = `${((hour + 11) % 12) + 1}${minute === 0 && random.chance(0.8) ? '' : `:${time.slice(3)}`}`
  return random.chance(0.5) ? `${shown} ${half}` : `${shown}${half}`
}

function ordinalEnding(n: number): string {
  if (n >= 11 && n <= 13) return 'th'
  return ['th', 'st', 'nd', 'rd'][n % 10] ?? 'th'
}
