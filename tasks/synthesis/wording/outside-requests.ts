import { z } from 'zod'
import { type SeededRandom, withChoices } from '../../../servers/kernel/index.js'
import { itemAt } from '../item-at.js'
import { capitalised, uncapitalised } from './english.js'
import { mannerOf, tradeAndTown, typed } from './persona.js'
import { phraseLists, texts } from './phrase-lists.js'
import { drawFrame } from './sentence-frames.js'
import type { Moment } from './speech.js'
import { textOf, word } from './text-span.js'
import { greeting, phrase } from './user-phrases.js'

/** One request, or two requests that a user makes together. `(a|b)` is a choice. */
export type OutsideRequest = string | readonly [first: string, second: string]

const schema = z.strictObject({
  places: texts,
  topics: z.array(
    z.strictObject({
      name: z.string(),
      /** The environment to whose assistant a user would turn; any assistant where it is missing. */
      environment: z.string().optional(),
      requests: z.array(z.union([z.string(), z.tuple([z.string(), z.string()]).readonly()])),
    }),
  ),
})

/** Requests about one topic. No tool of any environment serves them. */
export type OutsideTopic = z.output<typeof schema>['topics'][number]

/**
 * Returns requests that no tool serves and that cannot be answered from memory. They are close to what the tools of an environment are for,
 * or about current events. General knowledge is not among them, because an assistant without tools could answer it.
 */
export const outsideRequests = phraseLists('outside-requests', schema)

/** A topic among those that belong to one of these environments or to none. */
export const drawOutsideTopic = (environments: ReadonlySet<string>, random: SeededRandom): OutsideTopic =>
  random.pick(
    outsideRequests().topics.filter(({ environment }) => environment === undefined || environments.has(environment)),
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
  const others = outsideRequests().topics.filter(
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
  const { places } = outsideRequests()
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
  const bare = (said: string): string => uncapitalised(said.replace(/(?:, please)?[.?]$/, ''))
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
  const opened = turn === 0 ? greeting(moment) : random.chance(0.6) ? phrase('after_refusal', moment) : ''
  const start = opened + (/[a-z,] $/.test(opened) ? uncapitalised(sentence) : capitalised(sentence))
  const more = second === undefined || isOne ? '' : random.chance(0.6) ? ` And ${uncapitalised(second)}` : ` ${second}`
  const said = textOf(typed([word(start + more)], manner))
  return { request, text: manner.unstopped ? said.replace(/[.]$/, '') : said }
}
