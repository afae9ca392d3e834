import { z } from 'zod'
import type { ChatModel, ChatReply } from './chat.js'
import { ChatFailure } from './errors.js'
import { type OpenAiOptions, openOpenAiClient } from './openai-client.js'

const count = z.int().min(0).max(100_000_000)

const completionShape = z.object({
  choices: z
    .array(
      z.object({
        finish_reason: z.string().nullish(),
        message: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }),
      }),
    )
    .min(1)
    .max(16),
  usage: z.object({ prompt_tokens: count, completion_tokens: count }).nullish().catch(null),
})

/**
 * Opens a language model on a server with OpenAI's chat completions API.
 * @throws ChatError `bad_options`, `unreachable`, `unauthorised`, `no_model`
 */
export async function openOpenAiChat(options: OpenAiOptions, signal: AbortSignal): Promise<ChatModel> {
  const client = await openOpenAiClient(options, signal)
  return {
    name: client.model,
    async complete({ system, user, maxTokens, seed, temperature, form }, outer) {
      const messages = [
        { role: 'system', content: system },
        { role: 'user', content: user },
      ]
      const optional = {
        ...(form && { response_format: { type: 'json_schema', json_schema: { ...form, strict: true } } }),
        seed,
        ...(temperature === undefined ? {} : { temperature }),
        max_tokens: maxTokens,
      }
      const parsed = completionShape.safeParse(await client.complete({ messages, optional }, outer))
      if (!parsed.success) throw new ChatFailure('bad_protocol', 'the answer is not a chat completion')
      return replyOf(parsed.data)
    },
    close: async () => {},
  }
}

function replyOf({ choices, usage }: z.output<typeof completionShape>): ChatReply {
  const [{ message, finish_reason: reason }] = choices as [(typeof choices)[number]]
  const refused = Boolean(message.refusal) || reason === 'content_filter'
  return {
    text: message.content ?? '',
    stop: refused ? 'refused' : reason === 'length' ? 'length' : 'end',
    usage: usage ? { promptTokens: usage.prompt_tokens, completionTokens: usage.completion_tokens } : null,
  }
}
