import type { Example } from '../../dataset/example.js'
import type { Brief } from './brief.js'
import type { Problem } from './errors.js'

const SYSTEM = `You write the words of conversations between a person and an assistant that uses tools.
You get a draft: what is said in each turn. Put it into your own words, so that it sounds like a real person who types a request, and like a helpful assistant. Change sentences, order of words and tone as you like, but not the meaning.

Rules:
- Each turn of the draft stays one turn, with the same requests in the same order. Nothing is added and nothing is left out.
- The texts listed under "keep" stay in that turn exactly as they are, letter by letter, with the same role in the sentence. Relations such as from and to, under and over, before and after stay as well.
- The texts listed under "not yet" are not said in that turn, in no wording: the person says them later.
- No new facts: no names, numbers, dates, places, identifiers, tool names or technical terms that the draft does not have.
- The assistant's words say what the draft says. If it asks a question, ask it. If it cannot do something, say so.
- Plain text in the language of the draft: no lists, no markup, no labels such as "User:".
- Answer with JSON alone: {"turns":[{"user":"...","assistant":"..."}]}, one object per turn.`

/**
 * Returns the prompt for an example. It omits keys that the conversation never mentions, so that the model cannot repeat them.
 * @param complaints  objections to the previous reply, empty at first
 */
export function promptFor(
  { persona }: Example,
  brief: Brief,
  complaints: readonly Problem[],
): { system: string; user: string } {
  const turns = brief.turns.map((turn, i) => ({
    turn: i + 1,
    user: {
      draft: turn.user,
      ...texts('keep', turn.frozen ? [turn.user] : phrasesOf(turn.needs)),
      ...texts('not yet', phrasesOf(turn.withheld)),
    },
    assistant: { draft: turn.assistant, ...texts('keep', turn.reports) },
  }))
  const lines = [`Today is ${brief.today}. The person is ${persona}.`, 'The draft:', JSON.stringify({ turns }, null, 1)]
  if (complaints.length > 0) {
    lines.push('Your last answer could not be used:', ...complaints.map(({ detail }) => `- ${detail}`), 'Try again.')
  }
  return { system: SYSTEM, user: lines.join('\n') }
}

const phrasesOf = (items: readonly { readonly phrase: string }[]): string[] => items.map(({ phrase }) => phrase)

/** The texts under a name, each once; nothing where there are none. */
const texts = (name: string, phrases: readonly string[]): Readonly<Record<string, readonly string[]>> =>
  phrases.length > 0 ? { [name]: [...new Set(phrases)] } : {}
