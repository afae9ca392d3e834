import { z } from 'zod'
import { ChatFailure } from './errors.js'
import { TOOL_CHAT_LIMITS } from './limits.js'
import { type OpenAiOptions, openOpenAiClient } from './openai-client.js'

export { explainFailure, isContextFull, type OpenAiOptions } from './openai-client.js'

/** A call as the model made it. */
export interface ToolCall {
  readonly id: string
  readonly name: string
  /** JSON text, which may be invalid. */
  readonly arguments: string
}

export type ToolChatMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string; readonly calls: readonly ToolCall[] }
  | { readonly role: 'tool'; readonly callId: string; readonly content: string }

/** A tool that the model may call. */
export interface ChatTool {
  readonly name: string
  readonly description: string
  /** JSON schema of the arguments. */
  readonly inputSchema: object
}

/** A request to continue a conversation with tools. */
export interface ToolChatRequest {
  readonly messages: readonly ToolChatMessage[]
  readonly tools: readonly ChatTool[]
  readonly maxTokens: number
  /** Sampler seed, 0 .. 2^31 - 1, for servers that support one. */
  readonly seed: number
  readonly temperature: number
}

export interface ToolChatReply {
  readonly text: string
  readonly calls: readonly ToolCall[]
  /** `length`: cut off at `maxTokens`. */
  readonly stop: 'end' | 'length'
}

/** A language model on a server, to which tools are passed natively. Requests may run concurrently. */
export interface ToolChatModel {
  /** Name of the model, without address or secret. */
  readonly name: string
  /**
   * Sends a request, once.
   * @throws ChatFailure if it gets no reply, also `rejected` if the server does not accept a temperature other than 1
   */
  complete(request: ToolChatRequest, signal: AbortSignal): Promise<ToolChatReply>
}

const { calls: mostCalls, idChars, nameChars, argumentChars } = TOOL_CHAT_LIMITS

const toolCall = z.object({
  id: z.string().min(1).max(idChars),
  function: z.object({ name: z.string().max(nameChars), arguments: z.string().max(argumentChars) }),
})

const completionShape = z.object({
  choices: z
    .array(
      z.object({
        finish_reason: z.string().nullish(),
        message: z.object({
          content: z.string().nullish(),
          refusal: z.string().nullish(),
          tool_calls: z.array(toolCall).max(mostCalls).nullish(),
        }),
      }),
    )
    .min(1)
    .max(16),
})

/**
 * Opens a model with tools on a server with OpenAI's chat completions API.
 * @throws ChatError `bad_options`, `unreachable`, `unauthorised`, `no_model`
 */
export async function openToolChat(options: OpenAiOptions, signal: AbortSignal): Promise<ToolChatModel> {
  const client = await openOpenAiClient(options, signal)
  return {
    name: client.model,
    async complete({ messages, tools, maxTokens, seed, temperature }, outer) {
      const answer = await client.complete(
        {
          messages: messages.map(wireMessage),
          // Servers refuse an empty list.
          ...(tools.length > 0 ? { tools: tools.map(wireTool) } : {}),
          optional: { seed, temperature, max_tokens: maxTokens },
          // Models without this parameter sample at 1. Another temperature cannot be measured then.
          required: temperature === 1 ? [] : ['temperature'],
        },
        outer,
      )
      const parsed = completionShape.safeParse(answer)
      if (!parsed.success)
        throw new ChatFailure('bad_protocol', `the answer is not a chat completion within the limits of a reply`)
      const [{ message, finish_reason: reason }] = parsed.data.choices as [(typeof parsed.data.choices)[number]]
      return {
        text: message.content ?? message.refusal ?? '',
        calls: (message.tool_calls ?? []).map(({ id, function: made }) => ({ id, ...made })),
        stop: reason === 'length' ? 'length' : 'end',
      }
    },
  }
}

function wireMessage(message: ToolChatMessage): object {
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.callId, content: message.content }
  if (message.role !== 'assistant') return message
  const { content, calls } = message
  if (calls.length === 0) return { role: 'assistant', content }
  return {
    role: 'assistant',
    content: content === '' ? null : content,
    tool_calls: calls.map(({ id, name, arguments: args }) => ({
      id,
      type: 'function',
      function: { name, arguments: args },
    })),
  }
}

const wireTool = ({ name, description, inputSchema }: ChatTool): object => ({
  type: 'function',
  function: { name, description, parameters: inputSchema },
})
