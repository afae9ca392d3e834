import type { SeededRandom } from '../../servers/kernel/index.js'
import { goingOn, greeting } from './connectives.js'
import { drawFrame } from './frames.js'
import { OUTSIDE_TOPICS, type OutsideTopic } from './outside-topics.js'
import { tradeAndTown } from './personas.js'
import type { Moment } from './speech.js'
import { joined, textOf, word } from './text-span.js'
import { mannerOf, typed } from './typing-manner.js'

/** A topic among those that belong to one of these worlds or to none. */
export const drawOutsideTopic = (worlds: ReadonlySet<string>, random: SeededRandom): OutsideTopic =>
  random.pick(OUTSIDE_TOPICS.filter(({ world }) => world === undefined || worlds.has(world)))

const PLACES = ['Ghent', 'Basel', 'Gdansk', 'York', 'Malmo', 'Bilbao', 'Graz', 'Verona', 'Aarhus', 'Leipzig'] as const

/** Of the turns that ask for what no tool serves, those that ask for two such things, as turns with calls do. */
const TWO_AT_ONCE = 0.5

/**
 * One thing or two on the topic that no tool serves, in this person's manner. The city is theirs for the whole conversation.
 * @param earlier  templates that were asked for before, none of which comes again
 * @returns the words and the templates that they were made of; `undefined` when all came before
 */
export function outsideRequest(
  { requests }: OutsideTopic,
  earlier: ReadonlySet<string>,
  moment: Moment,
): { readonly templates: readonly string[]; readonly text: string } | undefined {
  const { persona, random, turn } = moment
  const left = requests.filter((request) => !earlier.has(request))
  if (left.length === 0) return undefined
  const templates = random.sample(left, random.chance(TWO_AT_ONCE) ? Math.min(2, left.length) : 1)
  const [request, another] = templates.map((template) =>
    template
      .replaceAll(/\(([^)]*\|[^)]*)\)/g, (_, choices: string) => random.pick(choices.split('|')))
      .replace('<city>', () => (random.chance(0.6) ? 'here' : `in ${tradeAndTown(persona).town}`))
      .replace('<place>', () => PLACES[persona.name.length % PLACES.length]!),
  ) as [string, string?]
  const manner = mannerOf(persona)
  const isOrder = /\.$/.test(request) && !/^I need/.test(request)
  const frame = isOrder
    ? drawFrame(persona.register, ({ self, ing, once }) => !self && !ing && !(once && turn > 0), random)
    : undefined
  const bare = request.replace(/(?:, please)?[.?]$/, '')
  const sentence = frame
    ? `${frame.before}${frame.before === '' ? bare : lowered(bare)}${frame.after ?? ''}${frame.asks ? '?' : '.'}`
    : request
  const opening =
    turn === 0 ? greeting(persona.register, random) : random.chance(0.6) ? goingOn(persona.register, random) : ''
  const start = opening.endsWith(', ') ? opening + lowered(sentence) : `${opening}${capital(sentence)}`
  const said = textOf(typed(joined([word(another ? `${start} And ${lowered(another)}` : start)]), manner))
  return { templates, text: manner.unstopped ? said.replace(/[.]$/, '') : said }
}

const lowered = (text: string): string => (/^I\b/.test(text) ? text : text[0]!.toLowerCase() + text.slice(1))
const capital = (text: string): string => text[0]!.toUpperCase() + text.slice(1)
