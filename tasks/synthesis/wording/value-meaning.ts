import type { Json } from '../../../rollout/reward/index.js'
import { addDays } from '../../../servers/kernel/dates.js'
import { itemAt } from '../item-at.js'
import { MONTHS, WEEKDAYS, weekdayOf } from './value-words.js'

/**
 * Whether a listener who knows the date of today can only understand `value` by `phrase`. It parses the phrase and knows
 * nothing of how phrases are made, so that it can judge words of any author.
 * @param today  YYYY-MM-DD
 */
export function denotes(phrase: string, value: Json, today: string): boolean {
  if (phrase === '') return false
  if (Array.isArray(value)) return listDenotes(phrase, value, today)
  switch (typeof value) {
    case 'number':
      return /^-?\d+(\.\d+)?$/.test(phrase) && Number(phrase) === value
    case 'boolean':
      return (value ? ['yes', 'true', 'on'] : ['no', 'false', 'off']).includes(phrase.toLowerCase())
    case 'string':
      return textDenotes(phrase, value, today)
    default:
      return false
  }
}

/** Items between commas and a last "and". An item that has one of those itself could be two, so it is not understood. */
function listDenotes(phrase: string, values: readonly Json[], today: string): boolean {
  const items = phrase.split(/, and |, | and /)
  return items.length === values.length && values.every((value, i) => denotes(itemAt(items, i), value, today))
}

function textDenotes(phrase: string, value: string, today: string): boolean {
  if (phrase === value) return true
  if (/^\d{4}-\d{2}-\d{2}$/.test(value)) return readDate(phrase.toLowerCase(), today) === value
  if (/^\d{4}-\d{2}$/.test(value)) return readMonth(phrase.toLowerCase(), today) === value
  if (/^\d{2}:\d{2}$/.test(value)) return readTime(phrase.toLowerCase()) === value
  return /^[a-z]+([_-][a-z]+)+$/.test(value) && phrase === value.replaceAll(/[_-]/g, ' ')
}

/** Returns the number, from 1, of a month that is named in full or by three letters; 0 for other words. */
const monthNamed = (name: string): number =>
  MONTHS.findIndex((month) => [month, month.slice(0, 3)].some((form) => form.toLowerCase() === name)) + 1

const pad = (n: number): string => String(n).padStart(2, '0')

const FIXED_OFFSETS: ReadonlyMap<string, number> = new Map([
  ['today', 0],
  ['tomorrow', 1],
  ['yesterday', -1],
  ['the day after tomorrow', 2],
  ['a week from today', 7],
])

function readDate(phrase: string, today: string): string | undefined {
  const offset = FIXED_OFFSETS.get(phrase)
  if (offset !== undefined) return addDays(today, offset)
  return readWeekday(phrase, today) ?? readDayAndMonth(phrase, today)
}

function readWeekday(phrase: string, today: string): string | undefined {
  const [, rule = '', name = ''] = /^(this|next|next week) ([a-z]+)$/.exec(phrase) ?? /^()([a-z]+)$/.exec(phrase) ?? []
  const [, after] = /^([a-z]+) next week$/.exec(phrase) ?? []
  const wanted = WEEKDAYS.findIndex((day) => day.toLowerCase() === (after ?? name))
  if (wanted < 0) return undefined
  // Weeks begin on Monday. A bare weekday is the next one to come, and must lie in the same week.
  const step = wanted - weekdayOf(today)
  if (after !== undefined || rule === 'next week') return addDays(today, step + 7)
  // "Next Friday", said on a Monday, can be this week's or next week's: only the same weekday is beyond doubt.
  if (rule === 'next') return step === 0 ? addDays(today, 7) : undefined
  return step > 0 ? addDays(today, step) : undefined
}

function readDayAndMonth(phrase: string, today: string): string | undefined {
  const nth = '(\\d{1,2})(?:st|nd|rd|th)?'
  const end = '(?:,? (\\d{4}))?$'
  const dayFirst = new RegExp(`^(?:([a-z]+day),? )?${nth} (?:of )?([a-z]+)${end}`).exec(phrase)
  const match = dayFirst ?? new RegExp(`^(?:([a-z]+day),? )?([a-z]+) ${nth}${end}`).exec(phrase)
  if (!match) return undefined
  const [, weekday, a = '', b = '', year = today.slice(0, 4)] = match
  const [day, name] = dayFirst ? [a, b] : [b, a]
  const month = monthNamed(name)
  if (month === 0) return undefined
  const date = `${year}-${pad(month)}-${pad(Number(day))}`
  return weekday === undefined || WEEKDAYS[weekdayOf(date)]?.toLowerCase() === weekday ? date : undefined
}

function readMonth(phrase: string, today: string): string | undefined {
  const moved = ['last month', 'this month', 'next month'].indexOf(phrase)
  if (moved >= 0) {
    const index = Number(today.slice(0, 4)) * 12 + Number(today.slice(5, 7)) - 2 + moved
    return `${Math.floor(index / 12)}-${pad((index % 12) + 1)}`
  }
  const [, name = '', year = today.slice(0, 4)] = /^([a-z]+)(?: (\d{4}))?$/.exec(phrase) ?? []
  const month = monthNamed(name)
  return month === 0 ? undefined : `${year}-${pad(month)}`
}

function readTime(phrase: string): string | undefined {
  if (phrase === 'noon') return '12:00'
  const [, hours, minutes = '00', half] = /^(\d{1,2})(?::(\d{2}))? ?(am|pm)$/.exec(phrase) ?? []
  const hour = Number(hours)
  return hour >= 1 && hour <= 12 ? `${pad((hour % 12) + (half === 'pm' ? 12 : 0))}:${minutes}` : undefined
}
