import type { SeededRandom } from '../../../servers/kernel/index.js'
import { OUTSIDE_REQUESTS } from './small-talk-requests.js'
import { SLOTS } from './small-talk-slots.js'

export interface SmallTalk {
  readonly topic: string
  readonly text: string
}

const LEADS = [
  'Hi! ',
  'Hello, ',
  'Hey, ',
  'Quick question: ',
  'Something else: ',
  "I'm curious: ",
  'Out of curiosity, ',
  'Just wondering, ',
  'Hey there! ',
  'A friend asked me this: ',
  'Random question, but ',
  'Sorry to bother you. ',
  'So, ',
  'Can I ask you something? ',
  'My kids want to know: ',
] as const
const TAILS = [
  ' Thanks!',
  ' Thank you.',
  ' Thanks in advance.',
  ' No rush.',
  ' Keep it short, please.',
  ' I was just thinking about it.',
  ' My daughter asked me that.',
  ' I could not sleep over it.',
] as const

/** A request that no tool of any world can serve: for knowledge, writing, sums, an opinion or code. */
export function smallTalk(random: SeededRandom): SmallTalk {
  const { topic, requests } = random.pick(OUTSIDE_REQUESTS)
  const text = capital(filled(random.pick(requests), random))
  const lead = random.chance(0.3) ? random.pick(LEADS) : ''
  const tail = random.chance(0.2) ? random.pick(TAILS) : ''
  const said = (/[,:] $|but $/.test(lead) ? lead + lowered(text) : lead + text) + tail
  if (!random.chance(0.15)) return { topic, text: said }
  return { topic, text: said.toLowerCase().replace(/[.?!]$/, '') }
}

/** Fills each `<slot>` with one of its words, never the same twice. */
function filled(request: string, random: SeededRandom): string {
  const used = new Set<string>()
  return request.replaceAll(/<([a-z]+)>/g, (_, slot: keyof typeof SLOTS) => {
    const word = random.pick(SLOTS[slot].filter((candidate) => !used.has(candidate)))
    used.add(word)
    return word
  })
}

const capital = (text: string): string => text[0]!.toUpperCase() + text.slice(1)
const lowered = (text: string): string => (/^(I\b|I')/.test(text) ? text : text[0]!.toLowerCase() + text.slice(1))
