import type { Json } from '../../../rollout/reward/index.js'
import { itemAt } from '../item-at.js'

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

const MONTH_STEMS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const DAY_STEMS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const MONTH_NAME =
  '(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)'
const DAY_NAME = '(sunday|monday|tuesday|wednesday|thursday|friday|saturday)'
const pad = (n: number): string => String(n).padStart(2, '0')

function shifted(today: string, days: number): string {
  const [year, month, day] = today.split('-').map(Number) as [number, number, number]
  return new Date(Date.UTC(year, month - 1, day + days)).toISOString().slice(0, 10)
}

const dayOfWeek = (date: string): number => new Date(`${date}T00:00:00Z`).getUTCDay()

const FIXED_OFFSETS: Readonly<Record<string, number>> = {
  today: 0,
  tomorrow: 1,
  yesterday: -1,
  'the day after tomorrow': 2,
  'a week from today': 7,
}

function readDate(phrase: string, today: string): string | undefined {
  const offset = Object.hasOwn(FIXED_OFFSETS, phrase) ? FIXED_OFFSETS[phrase] : undefined
  if (offset !== undefined) return shifted(today, offset)
  return readWeekday(phrase, today) ?? readDayAndMonth(phrase, today)
}

function readWeekday(phrase: string, today: string): string | undefined {
  const match =
    new RegExp(`^(this |next )?${DAY_NAME}$`).exec(phrase) ??
    new RegExp(`^(next week) ${DAY_NAME}$`).exec(phrase) ??
    new RegExp(`^${DAY_NAME} (next week)$`).exec(phrase)
  if (!match) return undefined
  const parts = match.slice(1).filter((part) => part !== undefined)
  const name = parts.find((part) => DAY_STEMS.includes(part.slice(0, 3))) ?? ''
  const rule = parts.find((part) => part !== name)?.trim()
  const wanted = DAY_STEMS.indexOf(name.slice(0, 3))
  // Weeks begin on Monday. A bare weekday is the next one to come, and must lie in the same week.
  const sinceMonday = (day: number): number => (day + 6) % 7
  const step = sinceMonday(wanted) - sinceMonday(dayOfWeek(today))
  if (rule === undefined || rule === 'this') return step > 0 ? shifted(today, step) : undefined
  // "Next Friday", said on a Monday, can be this week's or next week's: only the same weekday is beyond doubt.
  if (rule === 'next' && step !== 0) return undefined
  return shifted(today, step + 7)
}

function readDayAndMonth(phrase: string, today: string): string | undefined {
  const weekday = `(?:${DAY_NAME},? )?`
  const nth = '(\\d{1,2})(?:st|nd|rd|th)?'
  const dayFirst = new RegExp(`^${weekday}${nth} (?:of )?${MONTH_NAME}(?:,? (\\d{4}))?$`).exec(phrase)
  const monthFirst = new RegExp(`^${weekday}${MONTH_NAME} ${nth}(?:,? (\\d{4}))?$`).exec(phrase)
  const match = dayFirst ?? monthFirst
  if (!match) return undefined
  const [, name, a = '', b = '', year = today.slice(0, 4)] = match
  const [day, month] = dayFirst ? [a, b] : [b, a]
  const date = `${year}-${pad(MONTH_STEMS.indexOf(month.slice(0, 3)) + 1)}-${pad(Number(day))}`
  if (name !== undefined && DAY_STEMS[dayOfWeek(date)] !== name.slice(0, 3)) return undefined
  return date
}

function readMonth(phrase: string, today: string): string | undefined {
  const moved = { 'this month': 0, 'last month': -1, 'next month': 1 }[phrase]
  if (moved !== undefined) {
    const index = Number(today.slice(0, 4)) * 12 + Number(today.slice(5, 7)) - 1 + moved
    return `${Math.floor(index / 12)}-${pad((index % 12) + 1)}`
  }
  const match = new RegExp(`^${MONTH_NAME}(?: (\\d{4}))?$`).exec(phrase)
  if (!match) return undefined
  return `${match[2] ?? today.slice(0, 4)}-${pad(MONTH_STEMS.indexOf(itemAt(match, 1).slice(0, 3)) + 1)}`
}

function readTime(phrase: string): string | undefined {
  if (phrase === 'noon') return '12:00'
  const match = /^(\d{1,2})(?::(\d{2}))? ?(am|pm)$/.exec(phrase)
  if (!match) return undefined
  const hour = Number(match[1])
  if (hour < 1 || hour > 12) return undefined
  return `${pad((hour % 12) + (match[3] === 'pm' ? 12 : 0))}:${match[2] ?? '00'}`
}
