import { QUESTION_LIMITS } from '../../../rollout/episode/index.js'
import {
  descriptionOf,
  type Environment,
  isOptional,
  meaningOf,
  type ToolDefinition,
} from '../../../servers/kernel/index.js'
import { itemAt } from '../item-at.js'
import { askedFor, choicesOf } from './field-words.js'

/** Words that say nothing of what is asked for; those of general questions among them. */
const EMPTY = new Set(
  (
    'a about after all an and any are as at be been before by can could do does each either every for from given has have how if in into is it its ' +
    'just like may me more most must need no none not of off on one only or other ours out over please say see should so some tell than that the ' +
    'their them then there these they this to too under until up use used want was were what when where whether which who will with would you your ' +
    'yours default optional required value values given left empty same new such first last page list shows show key keys tool tools'
  ).split(' '),
)

/** How else people ask for what a word names. */
const ALSO: readonly (readonly [RegExp, readonly string[]])[] = [
  [/\b(date|day|until|deadline|expiry)\b/, ['date', 'when', 'day']],
  [/\b(time|start|end|hour)\b/, ['time', 'when', 'hour']],
  [/\b(amount|price|cost|limit|budget|total)\b/, ['amount', 'how much', 'price', 'sum']],
  [/\b(number|quantity|count|times|how many)\b/, ['how many', 'number', 'quantity']],
  [/\b(minutes|duration|length|nights|days)\b/, ['how long', 'duration', 'length', 'minutes']],
  [/\b(address|place|destination|stop|city|road|street)\b/, ['where', 'address', 'place', 'location']],
  [/\b(person|contact|payee|customer|recipient|attendee|assignee|member|guest|user|friend)\b/, ['who', 'whom', 'name']],
  [/\b(text|body|message|note|comment|description|content)\b/, ['text', 'say', 'message', 'content', 'wording']],
  [/\b(search|query|words|term|phrase)\b/, ['search', 'look for', 'term', 'keyword']],
  [/\b(name|title|subject|label)\b/, ['name', 'title', 'call it', 'called']],
  [/\b(why|reason)\b/, ['why', 'reason']],
  [/\b(pin|password|code)\b/, ['pin', 'code', 'password']],
]

/** What asks for details without naming one. */
const OPEN = [
  'detail',
  'exactly',
  'precisely',
  'specific',
  'specifically',
  'bit more',
  'which one',
  'more information',
  'what kind',
] as const

/** The words in which an assistant can ask whether to go on. */
export const CONFIRMING = [
  'go ahead',
  'proceed',
  'confirm',
  'continue',
  'shall i',
  'should i',
  'may i',
  'want me to',
  'like me to',
  'are you sure',
  'you really',
  'do you want',
  'is that right',
  'is this right',
  'is that correct',
  'is this correct',
  'agree',
  'approve',
  'okay',
  'ok',
] as const

/** The words in which an assistant can ask for a field, the plainest first. */
export function wordsFor(environment: Environment, tool: ToolDefinition, field: string): string[] {
  const schema = itemAt(tool.input.shape, field)
  const asked = itemAt(askedFor(environment, tool, field).split(','), 0)
  const { entity } = meaningOf(schema)
  const noun = entity === undefined ? undefined : environment.entities[entity]?.noun
  const names = [asked, noun ?? '', field.replaceAll('_', ' ')].map(plain).filter((text) => text !== '')
  // What a description gives as an example names nothing.
  const described = (descriptionOf(schema) ?? '').split(/[;:("`]|such as|for example|e\.g\./)[0]!
  const about = plain(`${names.join(' ')} ${described}`)
  // What names another field asks for that one.
  const others = Object.keys(tool.input.shape).flatMap((other) =>
    other === field ? [] : plain(`${other.replaceAll('_', ' ')} ${askedFor(environment, tool, other)}`).split(' '),
  )
  const own = names.flatMap((name) => name.split(' '))
  const telling = about
    .split(' ')
    .filter((word) => word.length > 2 && !EMPTY.has(word) && (own.includes(word) || !others.includes(word)))
  // Its values name a choice only where they are few; a yes or no among them would be in every answer.
  const choices = choicesOf(tool, field)
    .map(plain)
    .filter((choice) => choice.length > 2 && !EMPTY.has(choice))
  const also = ALSO.flatMap(([meant, others]) => (meant.test(names.join(' ')) ? others : []))
  return bounded([...names, ...also, ...telling, ...choices])
}

/** The words in which an assistant can ask what a request is about that names no detail. */
export function wordsForAll(environment: Environment, tool: ToolDefinition): string[] {
  const required = Object.entries(tool.input.shape).flatMap(([field, schema]) => (isOptional(schema) ? [] : [field]))
  return bounded([...OPEN, ...required.flatMap((field) => wordsFor(environment, tool, field).slice(0, 8))])
}

const plain = (text: string): string => (text.toLowerCase().match(/[a-z0-9]+/g) ?? []).join(' ')

const bounded = (words: readonly string[]): string[] =>
  [...new Set(words)]
    .filter(({ length }) => length > 0 && length <= QUESTION_LIMITS.wordChars)
    .slice(0, QUESTION_LIMITS.words)
