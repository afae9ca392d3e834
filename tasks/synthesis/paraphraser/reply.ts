import { z } from 'zod'
import { type ChatReply, type ChatRequest, jsonIn } from '../../../rollout/chat/index.js'
import type { Brief } from './brief.js'
import type { TurnWords } from './check.js'
import type { Problem } from './errors.js'

const replyShape = z.object({ turns: z.array(z.object({ user: z.string(), assistant: z.string() })) })
const { $schema: _, ...schema } = z.toJSONSchema(replyShape)

/** JSON schema of the reply, for servers that enforce schemas. */
export const REPLY_FORM: NonNullable<ChatRequest['form']> = { name: 'conversation', schema }

const REFUSAL = /\b(?:I'?m sorry|I am sorry|I apologi[sz]e|I can(?:'|no)t|I cannot|I am unable|I'm unable|as an ai)\b/i

const REFUSED: Problem = { kind: 'refused', detail: 'the model declined' }

/** Parses the words from a reply with any content. @returns a problem if the reply has none */
export function wordsOf({ text, stop }: ChatReply, brief: Brief): TurnWords[] | Problem {
  if (stop === 'refused') return REFUSED
  const json = jsonIn(text)
  if (json === undefined) {
    if (stop === 'length') return { kind: 'truncated', detail: 'the reply was cut off; be brief' }
    if (REFUSAL.test(text.slice(0, 400).replaceAll('’', "'"))) return REFUSED
    return { kind: 'not_json', detail: 'the reply is not one JSON object' }
  }
  const parsed = replyShape.safeParse(json)
  if (!parsed.success)
    return {
      kind: 'wrong_shape',
      detail: 'the reply must be {"turns":[{"user":"...","assistant":"..."}]} with text in both',
    }
  const typographic = brief.turns.some(({ user, assistant }) => /[‘’“”]/.test(user + assistant))
  return parsed.data.turns.map(({ user, assistant }, i) => ({
    // Where the user's words must stay, the model's version is ignored.
    user: brief.turns[i]?.frozen ? brief.turns[i].user : tidy(user, typographic),
    assistant: tidy(assistant, typographic),
  }))
}

/** Spaces and quotes as the drafts have them, so that phrases can be found again; tokenizers compose characters too. */
function tidy(text: string, typographic: boolean): string {
  const spaced = text
    .normalize('NFC')
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[\u00a0\u2007\u2009\u202f\t]/g, ' ')
    .replaceAll(/ {2,}/g, ' ')
    .trim()
  return typographic ? spaced : spaced.replaceAll(/[‘’]/g, "'").replaceAll(/[“”]/g, '"')
}
