import { type Catalogue, offeredAt, statedTurns, toolsetOf } from '../../rollout/episode/index.js'
import type { JsonSchema } from '../../servers/kernel/index.js'
import type { Example } from './example.js'

/** A call as OpenAI's chat format writes it. */
export interface ToolCallPart {
  readonly id: string
  readonly type: 'function'
  /** `arguments` is a JSON object as text. */
  readonly function: { readonly name: string; readonly arguments: string }
}

/** One message of OpenAI's chat format, in the forms that occur here: an assistant either makes one call or speaks. */
export type ChatMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: null; readonly tool_calls: readonly [ToolCallPart] }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string }

/** The name of the n-th call of a conversation, from 0. */
export const callId = (n: number): string => `call_${n}`

/**
 * The conversation of an example: what the user, the teacher and the worlds said, in order. A user's turn that brings tools tells them.
 * @throws EpisodeError `bad_task` when the catalogue does not have a tool
 */
export function messagesOf({ task, exchanges }: Example, catalogue: Catalogue): ChatMessage[] {
  const messages: ChatMessage[] = task.system === undefined ? [] : [{ role: 'system', content: task.system }]
  const stated = statedTurns({ turns: exchanges.map(({ user }) => user) }, toolsetOf(task, catalogue))
  let calls = 0
  for (const [turn, { calls: made, assistant }] of exchanges.entries()) {
    messages.push({ role: 'user', content: stated[turn]! })
    for (const call of made) {
      const id = callId(calls++)
      const named = { name: call.name, arguments: JSON.stringify(call.arguments) }
      messages.push({ role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: named }] })
      messages.push({ role: 'tool', tool_call_id: id, content: call.response })
    }
    messages.push({ role: 'assistant', content: assistant })
  }
  return messages
}

/** A tool as OpenAI's chat format offers it. */
export interface ToolSchema {
  readonly type: 'function'
  readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonSchema }
}

/**
 * The tools of an example exactly as they are offered at first, without the values of enums where the task leaves them out.
 * @throws EpisodeError `bad_task` when the catalogue does not have a tool
 */
export function toolSchemasOf({ task }: Pick<Example, 'task'>, catalogue: Catalogue): ToolSchema[] {
  return offeredAt(toolsetOf(task, catalogue), 0).map(({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, description, parameters: inputSchema },
  }))
}
