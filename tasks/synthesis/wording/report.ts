import type { z } from 'zod'
import type { Json, JsonObject } from '../../../rollout/reward/index.js'
import { type Environment, meaningOf, type SeededRandom } from '../../../servers/kernel/index.js'
import { elementOf } from '../../../servers/kernel/tool-graph.js'
import { itemAt } from '../item-at.js'
import { listed, plural, singular } from './field-words.js'
import type { Ask, Moment } from './speech.js'
import { stated } from './stated.js'

interface Done {
  readonly ask: Ask
  readonly output: JsonObject
}

/** Longest text of a result that is repeated in full, in characters. */
const MAX_QUOTE = 160
/** Facts told of one thing, and of each of several. */
const MAX_FACTS = 4
const MAX_FACTS_EACH = 1
/** Lists of one result that are told. */
const MAX_LISTS = 2

const CONFIRMATIONS = ['Done.', 'That is done.', 'All set.', 'Done:', 'All right:', 'OK, done.'] as const

/** Share of the turns that change something whose report begins by saying that it was done. */
const CONFIRMED = 0.25

/** The closing words of a turn: what was done and found, with nothing that the results do not say. */
export function report(done: readonly Done[], { random, today, goesOn }: Moment): string {
  // What was looked up on the way is no answer to anything.
  const asked = done.filter(({ ask }) => !(ask.silent && ask.tool.annotations.readOnly))
  const firstWrite = asked.findIndex(({ ask }) => !ask.tool.annotations.readOnly)
  const answers = asked
    .map((call, i) => {
      const answer = stated(call.ask, call.output, today)
      if (answer === undefined) return { text: summary(call, i === firstWrite, random).join(' '), isNew: false }
      const isConfirmed =
        i === firstWrite && asked.length === 1 && !goesOn && random.chance(CONFIRMED) && !isHeldUp(answer)
      return isConfirmed
        ? { text: confirmed(random.pick(CONFIRMATIONS), answer), isNew: false }
        : { text: answer, isNew: i > 0 && !call.ask.tool.annotations.readOnly }
    })
    .filter(({ text }) => text !== '')
  if (answers.length === 0) return random.pick(['Done.', 'That is done.', 'All done.'])
  const links = random.shuffle(['', '', 'And ', 'Also, ', answers.length > 2 ? 'Finally, ' : ''])
  return answers.slice(1).reduce((before, { text, isNew }, i) => {
    const isLast = i === answers.length - 2
    // What was so before and is otherwise after a change is told in that order.
    if (isNew && isState(text)) return `${before} ${random.pick(NOW)}${small(text)}`
    const at = links.findIndex((link) => isLast || link !== 'Finally, ')
    const [link = ''] = at < 0 ? [] : links.splice(at, 1)
    return `${before} ${linked(text, link, random)}`
  }, itemAt(answers, 0).text)
}

/** Whether what was asked for has not come about, or not yet. */
const isHeldUp = (answer: string): boolean =>
  /\b(declined|refused|rejected|failed|waiting for|pending|still to be|still open)\b/.test(answer)

const NOW = ['Now ', 'Now ', 'And now '] as const

/** Whether an answer tells how things are rather than what was done to them. */
const isState = (text: string): boolean => /^[^.]* (is|are|has|have) /.test(text) && !/ now\b|^(I|You) /.test(text)

/** Words that are written small inside a sentence. */
const FUNCTION_WORD =
  /^(For|The|There|Here|It|You|Your|This|That|These|Those|In|A|An|At|No|On|By|From|To|What|All|None|Nothing|Nobody|Trending) /

const small = (text: string): string =>
  FUNCTION_WORD.test(text) ? itemAt(text, 0).toLowerCase() + text.slice(1) : text
function confirmed(word: string, answer: string): string {
  if (!word.endsWith(':')) return `${word} ${answer}`
  return answer.includes(':') ? answer : `${word} ${small(answer)}`
}

/** One of several answers, joined to what was told before. */
function linked(answer: string, link: string, random: SeededRandom): string {
  if (/^(You have|I [a-z]+ed|I found) /.test(answer) && random.chance(0.6))
    return answer.replace(/^(You have|I [a-z]+) /, (words) => words.replace(' ', ' also '))
  return link === '' ? answer : link + small(answer)
}

/** @param confirms  says that something was done, which one report does once */
function summary({ ask: { environment, tool }, output }: Done, confirms: boolean, random: SeededRandom): string[] {
  const lists = Object.entries(output).filter(([, value]) => Array.isArray(value) && value.every(isObject))
  const filled = lists.filter(([, value]) => (value as Json[]).length > 0)
  const facts = factsOf(environment, tool.output, output, MAX_FACTS)
  const { name, rest } = facts
  // That there is none of something is worth saying where nothing else was asked for.
  const stated = filled.length > 0 || name !== undefined ? filled.slice(0, MAX_LISTS) : lists.slice(0, 1)
  const said: string[] = []
  if (tool.annotations.readOnly) {
    for (const [field, entries] of stated) {
      // What was found in all is counted over every list.
      const total = lists.length === 1 && typeof output.found === 'number' ? output.found : (entries as Json[]).length
      said.push(listing(environment, tool.output, field, entries as JsonObject[], total, random))
    }
    if (name !== undefined && rest.length > 0)
      said.push(`${random.pick(['', '', 'Here is '])}${name}: ${listed(rest)}.`)
    else if (rest.length > 0 && stated.length === 0) said.push(`${capital(listed(rest))}.`)
    else if (name !== undefined && stated.length === 0) said.push(`I found ${name}.`)
  } else {
    const what = name === undefined ? capital(listed(rest)) : rest.length === 0 ? name : `${name}: ${listed(rest)}`
    if (confirms) said.push(random.pick(CONFIRMATIONS))
    if (what !== '') said.push(`${what}.`)
  }
  return said.map((sentence) =>
    sentence.replaceAll(/([.!?])"?\.$/g, (all, stop: string) => (all.includes('"') ? `${stop}"` : stop)),
  )
}

function listing(
  environment: Environment,
  schema: z.ZodObject,
  field: string,
  entries: readonly JsonObject[],
  total: number,
  random: SeededRandom,
): string {
  const element = elementOf(schema.shape[field])
  const noun = element ? nounOfAll(environment, element, entries) : undefined
  const things = (count: number): string =>
    noun === undefined
      ? count === 1
        ? singular(field.replaceAll('_', ' '))
        : field.replaceAll('_', ' ')
      : count === 1
        ? noun
        : plural(noun)
  if (entries.length === 0)
    return random.pick([`I found no ${things(0)}.`, `There are no ${things(0)}.`, `No ${things(0)} came up.`])
  const names = entries.map((entry) => {
    const { name, rest } = element
      ? factsOf(environment, element, entry, MAX_FACTS_EACH)
      : { name: undefined, rest: [] }
    if (name === undefined) return listed(rest)
    return rest.length > 0 ? `${name} (${rest.join(', ')})` : name
  })
  const shown = names.filter((text) => text !== '')
  if (shown.length === 0) return `I found ${total} ${things(total)}.`
  const opening = random.pick([
    `I found ${total} ${things(total)}`,
    `There ${total === 1 ? 'is' : 'are'} ${total} ${things(total)}`,
    `${total} ${things(total)}`,
    `Here ${total === 1 ? 'is' : 'are'} the ${things(entries.length)}`,
  ])
  return `${opening}${total > entries.length ? `, the first ${entries.length} of them` : ''}: ${shown.join(random.chance(0.5) ? ', ' : '; ')}.`
}

/** Fields that name a thing which has no key of its own. */
const NAMES = ['name', 'title', 'subject', 'street', 'road', 'category', 'text', 'path'] as const

/** The name of a thing, and short facts about it: `status active`, `balance 240`. */
function factsOf(
  environment: Environment,
  schema: z.ZodObject,
  values: JsonObject,
  most: number,
): { readonly name: string | undefined; readonly rest: string[] } {
  const fields = Object.entries(schema.shape)
  const key = fields.find(([, field]) => meaningOf(field as z.ZodType).entity !== undefined)
  const entity = key === undefined ? undefined : environment.entities[meaningOf(key[1] as z.ZodType).entity!]
  const labelled = entity?.label !== undefined && typeof values[entity.label] === 'string' ? entity.label : undefined
  const nameField =
    labelled ??
    key?.[0] ??
    NAMES.find((field) => typeof values[field] === 'string') ??
    (most === MAX_FACTS_EACH ? fields.find(([field]) => typeof values[field] === 'string')?.[0] : undefined)
  const name = nameField === undefined ? undefined : textual(values[nameField])
  const rest: string[] = []
  for (const [field, part] of fields) {
    const value = values[field]
    if (rest.length >= most || field === nameField || field === 'found' || field === 'next_page') continue
    const meaning = meaningOf(part as z.ZodType)
    // Keys are for machines, wherever they stand, unless people say them.
    const kind = environment.entities[meaning.entity ?? field]
    if (meaning.sensitive || (kind && !kind.sayable)) continue
    const text = fact(field, value)
    if (text !== undefined) rest.push(text)
  }
  return { name, rest }
}

function fact(field: string, value: Json | undefined): string | undefined {
  const words = field.replaceAll('_', ' ')
  if (typeof value === 'boolean') return value ? words : `not ${words}`
  if (typeof value === 'number' && COUNTS.test(field)) return `${value} ${value === 1 ? singular(words) : words}`
  if (typeof value === 'string' && (value.includes(' ') || value.length > 24) && WRITTEN.test(field)) {
    return value.length > MAX_QUOTE ? undefined : `it says "${value}"`
  }
  const text = textual(value)
  return text === undefined ? undefined : `${words} ${text}`
}

/** Fields that count something, or measure it in a unit: `3 products`, `17 metres`. */
const COUNTS = /^(?!your_)([a-z]+_)*[a-z]+[^s]s$/
/** Fields with somebody's words. */
const WRITTEN = /text|body|note|description|comment|content|instruction/

function textual(value: Json | undefined): string | undefined {
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string' && /^\d{4}-\d{2}-\d{2}T[\d:]+Z$/.test(value))
    return value.slice(0, 16).replace('T', ' ')
  if (typeof value === 'string')
    return value === '' || value.includes('\n') || value.length > MAX_QUOTE
      ? undefined
      : /^[a-z]+(_[a-z]+)+$/.test(value)
        ? value.replaceAll('_', ' ')
        : value
  if (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((item) => typeof item === 'string' || typeof item === 'number')
  )
    return listed(value.map(String))
  return undefined
}

/** What all entries of a list are: lists of devices also carry the keys of the lights among them. */
function nounOfAll(environment: Environment, schema: z.ZodObject, entries: readonly JsonObject[]): string | undefined {
  const kinds = Object.entries(schema.shape).flatMap(([field, part]) => {
    const { entity } = meaningOf(part as z.ZodType)
    return entity !== undefined && entries.every((entry) => entry[field] !== undefined) ? [entity] : []
  })
  const [first] = kinds
  return first === undefined ? undefined : environment.entities[first]?.noun
}

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)
