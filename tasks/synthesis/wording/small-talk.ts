import { z } from 'zod'
import type { SeededRandom } from '../../../servers/kernel/index.js'
import { itemAt } from '../item-at.js'
import { texts, wordList } from './word-list.js'

/** A request of the demo profile that no tool can serve. */
export interface SmallTalk {
  readonly topic: string
  readonly text: string
}

const words = wordList(
  'small-talk',
  z.strictObject({
    leads: texts,
    tails: texts,
    topics: z.array(z.strictObject({ topic: z.string(), requests: texts })),
    slots: z.record(z.string(), texts),
  }),
)

/** Draws a request that no tool of any environment can serve: for knowledge, writing, sums, an opinion or code. */
export function smallTalk(random: SeededRandom): SmallTalk {
  const { leads, tails, topics } = words()
  const { topic, requests } = random.pick(topics)
  const text = capital(filled(random.pick(requests), random))
  const lead = random.chance(0.3) ? random.pick(leads) : ''
  const tail = random.chance(0.2) ? random.pick(tails) : ''
  const said = (/[,:] $|but $/.test(lead) ? lead + lowered(text) : lead + text) + tail
  if (!random.chance(0.15)) return { topic, text: said }
  return { topic, text: said.toLowerCase().replace(/[.?!]$/, '') }
}

/** Fills each `<slot>` with one of its words, never the same twice. */
function filled(request: string, random: SeededRandom): string {
  const used = new Set<string>()
  return request.replaceAll(/<([a-z]+)>/g, (_, slot: string) => {
    const word = random.pick(itemAt(words().slots, slot).filter((candidate) => !used.has(candidate)))
    used.add(word)
    return word
  })
}

const capital = (text: string): string => itemAt(text, 0).toUpperCase() + text.slice(1)
const lowered = (text: string): string =>
  /^(I\b|I')/.test(text) ? text : itemAt(text, 0).toLowerCase() + text.slice(1)
