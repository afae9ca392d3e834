import { z } from 'zod'
import type { AssistantMessage, ParsedCall } from '../../../rollout/episode/index.js'
import { unreadableCall } from '../message.js'
import { messageOfCall } from '../reply-tool.js'

/** Items of OpenAI's Responses API. Each is read further by its type. */
const item = z.looseObject({ type: z.string() })

/** Schema of a finished response: all that a model wrote in a conversation, and the results of its calls. */
export const finishedResponse = z.looseObject({ output: z.array(item) })

const saying = z.union([z.string().transform((text) => [{ text }]), z.array(z.unknown())])
const part = z.union([z.looseObject({ text: z.string() }), z.looseObject({ refusal: z.string() })])

/**
 * Returns the assistant's messages in a response. Results of calls and messages of others end a message, and so does a call of the reply
 * tool.
 */
export function messagesIn({ output }: z.output<typeof finishedResponse>): AssistantMessage[] {
  const messages: AssistantMessage[] = []
  let [texts, calls]: [string[], ParsedCall[]] = [[], []]
  const finish = (): void => {
    if (texts.length > 0 || calls.length > 0) messages.push({ text: texts.join('\n'), calls })
    ;[texts, calls] = [[], []]
  }
  const add = (call: AssistantMessage): void => {
    if (call.calls.length > 0) {
      calls.push(...call.calls)
      return
    }
    if (calls.length > 0) finish()
    texts.push(call.text)
    finish()
  }
  for (const { type, ...fields } of output) {
    if (type === 'message' && fields.role === 'assistant') texts.push(...textsOf(fields.content))
    else if (type === 'function_call') add(messageOfCall(fields.name, fields.arguments))
    else if (type === 'custom_tool_call') calls.push(unreadableCall({ name: fields.name, input: fields.input }))
    else if (type !== 'reasoning') finish()
  }
  finish()
  return messages
}

/** Returns the texts of a message's content; a part that is no text counts as an empty one. */
function textsOf(content: unknown): string[] {
  const { data = [] } = saying.safeParse(content)
  return data.map((written) => {
    const { data: read } = part.safeParse(written)
    return read === undefined ? '' : String(read.text ?? read.refusal)
  })
}
