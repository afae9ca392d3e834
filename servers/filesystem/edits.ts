import type { SeededRandom } from '../kernel/random.js'
import { linesOf } from './contents.js'
import { type Matter, matterOf } from './matter.js'
import type { Node } from './schema.js'
import * as words from './words.js'

const capital = (word: string): string => word[0]!.toUpperCase() + word.slice(1)
const PEOPLE = words.USERS.map(capital)
const WITH_PEOPLE: readonly Matter[] = ['tasks', 'minutes', 'readme', 'plan', 'script']
const SUBJECTS = words.TOPICS.map((topic) => topic.replace(/^the /, ''))

/** What stands in the entries of a list. */
const ENTRIES: Readonly<Partial<Record<Matter, readonly string[]>>> = {
  groceries: words.GROCERIES,
  belongings: words.BELONGINGS,
  books: words.BOOKS,
  topics: words.TOPICS,
  costs: words.COSTS,
  companies: words.COMPANIES,
}

const missing = (entries: readonly string[], text: string): string[] => entries.filter((entry) => !text.includes(entry))
const present = (entries: readonly string[], text: string): string[] => entries.filter((entry) => text.includes(entry))

/**
 * Returns lines that a user would add to the file. The list is empty if users do not write such a file by hand or if one
 * more line would be wrong.
 */
export function linesFor(random: SeededRandom, file: Node): string[] {
  const { text } = file
  const matter = matterOf(file)
  const someone = random.pick(PEOPLE)
  const entries = ENTRIES[matter]
  if (entries) return missing(entries, text).map((entry) => (/^- /m.test(text) ? `- ${entry}` : entry))
  switch (matter) {
    case 'tasks':
      return missing(words.TASKS, text).map((task) => `[ ] ${task} (${someone})`)
    case 'minutes':
      return missing(words.TOPICS, text).map((topic) => `- ${capital(topic)}: ${random.pick(words.OUTCOMES)}`)
    case 'recipe':
      return [
        'Freezes well',
        'Double everything for guests',
        'A pinch of salt',
        'Let it rest before serving',
        'Good for a picnic',
      ]
    case 'plan':
      return [`Reviewed by ${someone}`, `${someone} stands in while the lead is away`, 'Risk: the supplier may be late']
    case 'readme':
      return [`Questions go to ${someone}`, 'The plan is in plan.txt', `${someone} keeps this file up to date`]
    case 'script':
      return [`# ask ${someone} before changing this`, '# tested with the files of last year']
    case 'invoice':
      return /Status: paid/.test(text)
        ? ['Paid by bank transfer', 'Receipt sent']
        : ['Reminder sent by email', 'The customer asked for two more weeks', `${someone} calls the customer`]
    case 'settings':
      return (words.SETTINGS[sectionOf(text)] ?? []).filter((setting) => !text.includes(keyOf(setting)))
    case 'note':
      return missing(words.LINES, text).map((line) => (/^- /m.test(text) ? `- ${line}` : line))
    default:
      return []
  }
}

export interface Edit {
  readonly from: string
  readonly to: string
}

/** Returns the edits that a user might make in the file. The list may be empty. */
export function editsOf(random: SeededRandom, file: Node): Edit[] {
  const { text } = file
  const matter = matterOf(file)
  const swaps = (entries: readonly string[]): Edit[] =>
    present(entries, text).flatMap((from) => {
      const others = missing(entries, text)
      return others.length > 0 ? [{ from, to: random.pick(others) }] : []
    })
  const found = (pairs: readonly (readonly [string, string])[]): Edit[] =>
    pairs.filter(([from]) => text.includes(from)).map(([from, to]) => ({ from, to }))
  const people = WITH_PEOPLE.includes(matter) ? swaps(PEOPLE) : []
  const entries = ENTRIES[matter]
  if (entries) return swaps(entries)
  switch (matter) {
    case 'tasks':
      return [...people, ...found([['[ ]', '[x]']])]
    case 'minutes':
    case 'readme':
      return [...people, ...swaps(words.OUTCOMES)]
    case 'plan':
      return [...people, ...found([['Lead: open', `Lead: ${random.pick(PEOPLE)}`]])]
    case 'recipe':
      return [...text.matchAll(/Serves (\d)/g)].map(([from, n]) => more(from, n!, 2))
    case 'script':
      return [...people, ...found(words.CODE_EDITS)]
    case 'table':
      return swaps(words.COSTS)
    case 'invoice':
      return found([
        ['Status: open', 'Status: paid'],
        ['Status: overdue', 'Status: reminded'],
        ['Status: reminded', 'Status: paid'],
      ])
    case 'settings':
      return linesOf(text).flatMap((line) => {
        const others = (words.SETTINGS[sectionOf(text)] ?? []).filter(
          (setting) => setting !== line && keyOf(setting) === keyOf(line),
        )
        const number = /^(\w+ = )(\d+)$/.exec(line)
        if (others.length > 0) return [{ from: line, to: random.pick(others) }]
        return number ? [{ from: line, to: `${number[1]}${Number(number[2]) * 2}` }] : []
      })
    case 'note':
      return found(words.NOTE_EDITS)
    default:
      return []
  }
}

const more = (from: string, number: string, by: number): Edit => ({
  from,
  to: from.replace(number, String(Number(number) + by)),
})
const sectionOf = (text: string): string => /^\[(\w+)\]/.exec(text)?.[1] ?? ''
const keyOf = (setting: string): string => setting.split(' = ')[0]!

/** What people search for: names, subjects, goods, companies, what went wrong. */
const SOUGHT = [
  ...PEOPLE,
  ...SUBJECTS,
  ...words.COSTS,
  ...words.GROCERIES,
  ...words.BELONGINGS,
  ...words.BOOKS,
  ...words.COMPANIES.map(capital),
  ...words.OUTCOMES,
  ...words.LOG_EVENTS.map((event) => event.replace(/^[A-Z]+ /, '')),
  'ERROR',
  'WARN',
  'overdue',
]

/** The words alone, each between blanks: there is no rice in a price. */
const wordsOf = (text: string): string => ` ${text.replaceAll(/[^\p{L}\d]+/gu, ' ').trim()} `

/** Returns words of a text that a user would search for, or undefined if the text contains no such words. */
export function sought(random: SeededRandom, text: string): string | undefined {
  const said = wordsOf(text)
  const found = SOUGHT.filter((entry) => said.includes(wordsOf(entry)))
  return found.length > 0 ? random.pick(found) : undefined
}
