import type { z } from 'zod'
import type { JsonObject } from '../../../rollout/reward/index.js'
import { type Environment, meaningOf, type SeededRandom } from '../../../servers/kernel/index.js'
import { elementOf } from '../../../servers/kernel/tool-graph.js'
import { itemAt } from '../item-at.js'
import { answerFromTemplate, isObject, valueInWords } from './answer-from-template.js'
import { assistantPhrase } from './assistant-replies.js'
import { capitalised, listed, plural, singular, uncapitalised } from './english.js'
import type { Done, Moment } from './speech.js'

/** Share of the turns that change something whose report begins by saying that it was done. */
const CONFIRMED = 0.25

/** The closing words of a turn: what was done and found, with nothing that the results do not say. */
export function report(done: readonly Done[], { random, today, goesOn }: Moment): string {
  // What was looked up on the way is no answer to anything.
  const asked = done.filter(({ ask }) => !(ask.silent && ask.tool.annotations.readOnly))
  const firstWrite = asked.findIndex(({ ask }) => !ask.tool.annotations.readOnly)
  const answers = asked
    .map((call, i) => {
      const text = answerFromTemplate(call.ask, call.output, today) ?? answerFromFields(call, today)
      const isOnlyChange = i === firstWrite && asked.length === 1 && !goesOn
      return isOnlyChange && random.chance(CONFIRMED) && !isHeldUp(text)
        ? { text: confirmed(assistantPhrase('confirmations', random), text), isNew: false }
        : { text, isNew: i > 0 && !call.ask.tool.annotations.readOnly }
    })
    .filter(({ text }) => text !== '')
  if (answers.length === 0) return assistantPhrase('done', random)
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

const small = (text: string): string => (FUNCTION_WORD.test(text) ? uncapitalised(text) : text)

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

/** Fields that count the entries of a list, or name the next page. */
const COUNTED = new Set(['found', 'next_page'])

/** Facts that are said of one thing. */
const MOST_FACTS = 4

/** Returns the answer to a call without a template: what was found, or the thing that changed and facts of it. */
function answerFromFields({ ask: { environment, tool }, output }: Done, today: string): string {
  const found = Object.entries(tool.output.shape).flatMap(([field, schema]) => {
    const element = elementOf(schema)
    const entries = output[field]
    if (!element || !Array.isArray(entries)) return []
    const noun = nounOf(environment, element) ?? singular(field.replaceAll('_', ' '))
    const names = entries.flatMap((entry) =>
      isObject(entry) ? (thingIn(environment, element, entry, today).name ?? []) : [],
    )
    const things = entries.length === 1 ? noun : plural(noun)
    return [`I found ${entries.length || 'no'} ${things}${names.length === 0 ? '' : `: ${listed(names)}`}.`]
  })
  const { name, facts } = thingIn(environment, tool.output, output, today)
  const about = listed(facts.slice(0, MOST_FACTS))
  const thing = name === undefined || about === '' ? (name ?? about) : `${name}: ${about}`
  return [...found, ...(thing === '' ? [] : [`${capitalised(thing)}.`])].join(' ')
}

/** Returns the name of a thing, and its facts, such as `status active`. */
function thingIn(
  environment: Environment,
  schema: z.ZodObject,
  values: JsonObject,
  today: string,
): { readonly name: string | undefined; readonly facts: string[] } {
  const labels = Object.values(environment.entities).map(({ label }) => label)
  const said = Object.entries(schema.shape).flatMap(([field, part]) => {
    const { entity, sensitive } = meaningOf(part as z.ZodType)
    const words = valueInWords(values[field] ?? null, today)
    // Keys are for machines, unless people say them.
    const isHidden = sensitive || (entity !== undefined && !environment.entities[entity]?.sayable)
    return words === undefined || isHidden || COUNTED.has(field) ? [] : [{ field, words }]
  })
  const named = said.find(({ field }) => labels.includes(field)) ?? said.find(({ field }) => /name|title/.test(field))
  const facts = said.flatMap((fact) => (fact === named ? [] : [`${fact.field.replaceAll('_', ' ')} ${fact.words}`]))
  return { name: named?.words, facts }
}

/** Returns the noun for the entries of a list. */
function nounOf(environment: Environment, element: z.ZodObject): string | undefined {
  const kinds = Object.values(element.shape).flatMap((part) => meaningOf(part as z.ZodType).entity ?? [])
  return kinds[0] === undefined ? undefined : environment.entities[kinds[0]]?.noun
}
