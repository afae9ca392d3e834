import { z } from 'zod'
import type { OfferedTool } from '../kernel/index.js'
import { EPISODE_SERVER_LIMITS } from './limits.js'
import type { Action, Outcome } from './play.js'

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

const reply = z.object({ text: z.string().max(EPISODE_SERVER_LIMITS.sayingChars) })

/** Returns the action for a tool call. A call of the reply tool with wrong arguments counts as a malformed call. */
export function actionOf(name: string, args: Readonly<Record<string, unknown>>): Action {
  if (name !== REPLY_TOOL.name)
    return { type: 'call', name, arguments: args as Extract<Action, { type: 'call' }>['arguments'] }
  const parsed = reply.safeParse(args)
  return parsed.success ? { type: 'say', text: parsed.data.text } : { type: 'unreadable', raw: REPLY_TOOL.name }
}

/** Returns the result of an action as text for an agent that can only call tools. */
export function textOf(outcome: Outcome): string {
  if (outcome.type === 'result') return outcome.text
  return outcome.type === 'user' ? `The user says: ${outcome.text}` : 'The conversation is over.'
}
