import { type Catalogue, offeredAt, statedTurns, toolsetOf } from '../../rollout/episode/index.js'
import type { JsonSchema } from '../../servers/kernel/index.js'
import type { Example } from './example.js'

/** Call in OpenAI's chat format. */
export interface ToolCallPart {
  readonly id: string
  readonly type: 'function'
  /** `arguments` is a JSON object as text. */
  readonly function: { readonly name: string; readonly arguments: string }
}

/** Message in OpenAI's chat format. An assistant message contains either one call or text. */
export type ChatMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: null; readonly tool_calls: readonly [ToolCallPart] }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string }

/** Returns the id of the n-th call of a conversation, from 0. */
export const callId = (n: number): string => `call_${n}`

/**
 * Returns the conversation of an example. A user turn that adds tools describes them.
 * @throws EpisodeError `bad_task` if the catalogue lacks a tool
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

/** Tool in OpenAI's chat format. */
export interface ToolSchema {
  readonly type: 'function'
  readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonSchema }
}

/**
 * Returns the tools that an example offers at first, without enum values if the task omits them.
 * @throws EpisodeError `bad_task` if the catalogue lacks a tool
 */
export function toolSchemasOf({ task }: Pick<Example, 'task'>, catalogue: Catalogue): ToolSchema[] {
  return offeredAt(toolsetOf(task, catalogue), 0).map(({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, description, parameters: inputSchema },
  }))
}
