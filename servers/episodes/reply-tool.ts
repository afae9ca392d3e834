import { z } from 'zod'
import type { AssistantMessage, Reaction } from '../../rollout/episode/index.js'
import type { OfferedTool, ToolResponse } from '../kernel/index.js'
import { parseAs, readCall, unreadableCall } from './message.js'

/**
 * Tool with which an agent that can only call tools sends a message to the user. It belongs to no task and does not count as a call: it
 * stands for the message without calls that ends an assistant's turn.
 */
export const REPLY_TOOL: OfferedTool = {
  name: 'reply_to_user',
  description:
    'Say something to the user: an answer, a question, or why it cannot be done. Call it when the request is dealt with. The user may then ask for more, or the conversation ends.',
  inputSchema: {
    type: 'object',
    properties: { text: { type: 'string', description: 'What to say.' } },
    required: ['text'],
    additionalProperties: false,
  },
  readOnly: false,
}

const reply = z.object({ text: z.string() })

/** The message to which a single call belongs. */
export interface AroundCall {
  /** The text of the message. It begins a new message. */
  readonly text?: string | undefined
  /** Whether further calls of the message follow. */
  readonly more?: boolean | undefined
}

/** Key under which protocols with single calls pass on an `AroundCall`. */
export const MESSAGE_KEY = 'prove/message'

const around = z.strictObject({ text: z.string().nullish(), more: z.boolean().nullish() }).nullish()

/** Parses the message around a call. @throws EpisodeServerError `bad_request` */
export function aroundCall(value: unknown): AroundCall {
  const parsed = parseAs(around, value)
  return { text: parsed?.text ?? '', more: parsed?.more ?? false }
}

/**
 * Returns the message for a single call. A call of the reply tool is a message without calls, and with wrong arguments an unreadable call.
 * @param name  name that the model wrote
 * @param args  arguments that the model wrote, parsed or as JSON text
 */
export function messageOfCall(
  name: unknown,
  args: unknown,
  { text = '', more = false }: AroundCall = {},
): AssistantMessage {
  let call = readCall(name, args)
  if (!call.malformed && call.name === REPLY_TOOL.name) {
    const { data } = reply.safeParse(call.arguments)
    if (data) return { text: [text, data.text].filter((part) => part !== '').join('\n'), calls: [] }
    call = unreadableCall({ name, arguments: args })
  }
  return { text, calls: [call], ...(more ? { more } : {}) }
}

/**
 * Returns the message for a single call whose arguments the client has parsed. A text is then unreadable: the model wrote a
 * text instead of an object, or a text that the client could not parse.
 */
export const messageOfParsedCall = (name: unknown, args: unknown, around: AroundCall): AssistantMessage =>
  messageOfCall(name, typeof args === 'string' && args.trim() !== '' ? null : args, around)

/** Returns the reaction to a single call in the form of a tool's result, for an agent that can only call tools. */
export function toolResponse({ results, user }: Reaction): ToolResponse {
  const [result] = results
  if (result) return result
  return { ok: true, text: user === null ? 'The conversation is over.' : `The user says: ${user}` }
}
