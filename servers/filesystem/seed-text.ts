import type { SeededRandom } from '../kernel/random.js'
import * as words from './words.js'

const text = (lines: readonly string[]): string => `${lines.join('\n')}\n`
const capital = (word: string): string => word[0]!.toUpperCase() + word.slice(1)
const two = (number: number): string => String(number).padStart(2, '0')
const someone = (random: SeededRandom): string => capital(random.pick(words.USERS))

export function minutes(random: SeededRandom, topic: string, date: string): string {
  return text([
    `Meeting about ${topic}, ${date}`,
    `Present: ${random.sample(words.USERS, 3).map(capital).join(', ')}`,
    ...random
      .sample(words.TOPICS, random.int(2, 3))
      .map((item) => `- ${capital(item)}: ${random.pick(words.OUTCOMES)}`),
    `Next meeting: 2026-03-${two(random.int(4, 30))}`,
  ])
}

export function tasks(random: SeededRandom): string {
  return text(
    random
      .sample(words.TASKS, random.int(4, 6))
      .map((task) => `[${random.chance(0.35) ? 'x' : ' '}] ${task} (${someone(random)})`),
  )
}

export function plan(random: SeededRandom, project: string): string {
  return text([
    `Plan for ${capital(project)}`,
    ...random.sample(words.TASKS, 3).map((task, i) => `${i + 1}. ${task} by 2026-0${3 + i}-${two(random.int(3, 28))}`),
    `Lead: ${someone(random)}`,
  ])
}

export function readme(random: SeededRandom, project: string): string {
  return text([
    `${capital(project)} is our project on ${random.pick(words.TOPICS)}.`,
    `Contact: ${someone(random)}, room ${random.int(101, 420)}`,
    `Status: ${random.pick(words.OUTCOMES)}`,
  ])
}

export function budget(random: SeededRandom): string {
  const rows = random.sample(words.COSTS, random.int(4, 6)).map((cost) => [cost, random.int(4, 180) * 10] as const)
  return text([
    'item,amount',
    ...rows.map((row) => row.join(',')),
    `total,${rows.reduce((sum, [, amount]) => sum + amount, 0)}`,
  ])
}

export function log(random: SeededRandom, date: string): string {
  const events = random.sample(words.LOG_EVENTS, random.int(3, 4))
  let minute = random.int(0, 120)
  return text(
    Array.from({ length: random.int(6, 9) }, () => {
      minute += random.int(1, 110)
      // Some lines say no time, as status lines do: they repeat.
      const time = random.chance(0.6) ? `${date} ${two(Math.floor(minute / 60))}:${two(minute % 60)} ` : ''
      return time + random.pick(events)
    }),
  )
}

export function settings(random: SeededRandom, section: string): string {
  return text([`[${section}]`, ...settingsIn(random, section)])
}

/** Three to five settings of the section, each once. */
function settingsIn(random: SeededRandom, section: string): string[] {
  const byKey = new Map(random.shuffle(words.SETTINGS[section]!).map((setting) => [setting.split(' = ')[0]!, setting]))
  return [...byKey.values()].slice(0, random.int(3, 5))
}

export function invoice(random: SeededRandom, number: number, company: string, date: string): string {
  const net = random.int(8, 260) * 10
  return text([
    `Invoice ${number}`,
    `Customer: ${capital(company)} Ltd`,
    `Date: ${date}`,
    `For: ${random.sample(words.COSTS, 2).join(' and ')}`,
    `Amount: ${net} EUR`,
    `Status: ${random.pick(['paid', 'paid', 'open', 'overdue', 'reminded'])}`,
  ])
}

export function recipe(random: SeededRandom, name: string): string {
  return text([
    capital(name.replaceAll('-', ' ')),
    `Serves ${random.int(2, 8)}, takes ${random.int(3, 18) * 5} minutes`,
    ...words.RECIPES[name]!.map((item) => `- ${random.int(1, 9) * 50} g ${item}`),
  ])
}

export function list(random: SeededRandom, items: readonly string[]): string {
  return text(random.sample(items, random.int(4, 7)).map((item) => `- ${item}`))
}

/** A shopping list on which some things stand twice. */
export function shoppingList(random: SeededRandom): string {
  const items = random.sample(words.GROCERIES, random.int(4, 6))
  return text(random.shuffle([...items, ...random.sample(items, 2)]))
}

export function script(random: SeededRandom): string {
  return text([...random.pick(words.PROGRAMS), `# written by ${someone(random)}`])
}

export function domainRules(random: SeededRandom, subject: string): string {
  return text([
    `Policy: ${subject}`,
    ...random.sample(words.RULES, 3).map((rule, i) => `${i + 1}. ${rule}.`),
    `In force since 202${random.int(2, 5)}-0${random.int(1, 9)}-01`,
  ])
}
