import { type SeededRandom, withChoices } from '../../../servers/kernel/index.js'
import { itemAt } from '../item-at.js'
import { goingOn, greeting } from './connectives.js'
import { drawFrame } from './frames.js'
import { type OutsideRequest, type OutsideTopic, outsideWords } from './outside-topics.js'
import { tradeAndTown } from './personas.js'
import type { Moment } from './speech.js'
import { joined, textOf, word } from './text-span.js'
import { mannerOf, typed } from './typing-manner.js'

/** A topic among those that belong to one of these environments or to none. */
export const drawOutsideTopic = (environments: ReadonlySet<string>, random: SeededRandom): OutsideTopic =>
  random.pick(
    outsideWords().topics.filter(({ environment }) => environment === undefined || environments.has(environment)),
  )

/**
 * Returns the topic to which a refused user turns: another one of the same environment, or of none if the first had none. A user who hears
 * that something is out of reach does not ask for more of it. Where all other topics came before, the result is the first topic again.
 * @param isOpen  whether a topic may be asked about here
 */
export function nextOutsideTopic(
  earlier: readonly OutsideTopic[],
  isOpen: (topic: OutsideTopic) => boolean,
  random: SeededRandom,
): OutsideTopic {
  const [first] = earlier as readonly [OutsideTopic, ...OutsideTopic[]]
  const others = outsideWords().topics.filter(
    (topic) => topic.environment === first.environment && !earlier.includes(topic) && isOpen(topic),
  )
  return others.length === 0 ? first : random.pick(others)
}

/** Of the turns that ask for what no tool serves, those that ask for two things that go together, as turns with calls do. */
const TWO_AT_ONCE = 0.5

/**
 * One thing or two on the topic that no tool serves, in this person's manner. The city is theirs for the whole conversation.
 * @param earlier  what was asked for before and does not come again
 * @returns the words and what they ask for; `undefined` when all came before
 */
export function outsideRequest(
  { requests }: OutsideTopic,
  earlier: ReadonlySet<OutsideRequest>,
  moment: Moment,
): { readonly request: OutsideRequest; readonly text: string } | undefined {
  const { persona, random, turn } = moment
  const { places } = outsideWords()
  const left = requests.filter((request) => !earlier.has(request))
  if (left.length === 0) return undefined
  const isPair = random.chance(TWO_AT_ONCE)
  const fitting = left.filter((request) => (typeof request !== 'string') === isPair)
  const request = random.pick(fitting.length > 0 ? fitting : left)
  const [first, second] = (typeof request === 'string' ? [request] : request).map((template) =>
    withChoices(template, (words) => random.pick(words))
      .replace('<city>', () => (random.chance(0.6) ? 'here' : `in ${tradeAndTown(persona).town}`))
      .replace('<place>', () => itemAt(places, persona.name.length % places.length)),
  ) as [string, string?]
  const manner = mannerOf(persona)
  const isOrder = (said: string): boolean => /\.$/.test(said) && !/^I need/.test(said)
  const bare = (said: string): string => lowered(said.replace(/(?:, please)?[.?]$/, ''))
  // Two orders are one sentence; what follows a question is a sentence of its own.
  const isOne = second !== undefined && isOrder(first) && isOrder(second)
  const clause = isOne ? `${bare(first)} and ${bare(second)}` : bare(first)
  const frame = isOrder(first)
    ? drawFrame(
        persona.register,
        ({ self, ing, once, after }) => !self && !ing && !(once && turn > 0) && !(isOne && after),
        random,
      )
    : undefined
  const sentence = frame ? `${frame.before}${clause}${frame.after ?? ''}${frame.asks ? '?' : '.'}` : first
  const opening =
    turn === 0 ? greeting(persona.register, random) : random.chance(0.6) ? goingOn(persona.register, random) : ''
  const start = /[a-z,] $/.test(opening) ? opening + lowered(sentence) : `${opening}${capital(sentence)}`
  const more = second === undefined || isOne ? '' : random.chance(0.6) ? ` And ${lowered(second)}` : ` ${second}`
  const said = textOf(typed(joined([word(start + more)]), manner))
  return { request, text: manner.unstopped ? said.replace(/[.]$/, '') : said }
}

const lowered = (text: string): string => (/^I\b/.test(text) ? text : itemAt(text, 0).toLowerCase() + text.slice(1))
const capital = (text: string): string => itemAt(text, 0).toUpperCase() + text.slice(1)
