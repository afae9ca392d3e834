import { z } from 'zod'
import type { Message } from '../conversation.js'
import { SERVE_LIMITS } from '../limits.js'
import { ApiError, unsupported } from './errors.js'
import {
  type ApiRequest,
  contentField,
  isEmpty,
  nameField,
  notAFunction,
  parseRequest,
  type RequestDefaults,
  readCall,
  readContent,
  readTool,
  refuseUnsupported,
  samplingFields,
  toolsField,
} from './fields.js'

export interface ChatRequest extends ApiRequest {
  readonly includeUsage: boolean
  readonly logprobs: boolean
}

const call = z.object({
  id: z.string().min(1).max(128),
  type: z.string().optional(),
  function: z.object({ name: nameField, arguments: z.string() }),
})
const message = z.object({
  role: z.string(),
  content: contentField,
  tool_calls: z.array(call).nullish(),
  tool_call_id: z.string().nullish(),
})
const tool = z.object({
  type: z.string(),
  function: z
    .object({
      name: nameField,
      description: z.string().nullish(),
      parameters: z.record(z.string(), z.unknown()).nullish(),
    })
    .optional(),
})

/** The fields of a request that are read; all other fields are ignored. */
const requestShape = z.object({
  ...samplingFields,
  messages: z.array(message).min(1).max(SERVE_LIMITS.messages),
  tools: toolsField(tool),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  n: z.int().min(1).nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  logprobs: z.boolean().nullish(),
  frequency_penalty: z.number().nullish(),
  presence_penalty: z.number().nullish(),
  logit_bias: z.record(z.string(), z.number()).nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  response_format: z.object({ type: z.string() }).nullish(),
  functions: z.array(z.unknown()).nullish(),
  function_call: z.unknown().optional(),
})
type Wire = z.output<typeof requestShape>

/**
 * Parses the body of `POST /v1/chat/completions` (OpenAI API reference, "Create chat completion"). Unsupported settings that would change
 * the answer are refused, and unknown fields are ignored.
 * @throws ApiError
 */
export function readChatRequest(body: unknown, defaults: RequestDefaults): ChatRequest {
  const wire = parseRequest(requestShape, body)
  refuseFields(wire, defaults.slots)
  const tools = (wire.tools ?? []).map(({ type, function: described }) => {
    if (type !== 'function' || !described) throw notAFunction(type)
    return readTool(described)
  })
  return {
    model: wire.model,
    conversation: { tools: wire.tool_choice === 'none' ? [] : tools, messages: wire.messages.map(readMessage) },
    sampling: {
      temperature: wire.temperature ?? 1,
      seed: wire.seed ?? defaults.seed,
      maxTokens: wire.max_completion_tokens ?? wire.max_tokens ?? defaults.maxTokens,
      choices: wire.n ?? 1,
    },
    stream: wire.stream ?? false,
    includeUsage: wire.stream_options?.include_usage ?? false,
    logprobs: wire.logprobs ?? false,
  }
}

function refuseFields(wire: Wire, slots: number): void {
  const most = Math.min(slots, SERVE_LIMITS.choices)
  refuseUnsupported(wire, [
    [(wire.n ?? 1) > most, 'n', `this server returns at most ${most} answers to one request`],
    [(wire.n ?? 1) > 1 && wire.stream === true, 'n', 'only one answer can be streamed: set n to 1'],
    [(wire.frequency_penalty ?? 0) !== 0, 'frequency_penalty', 'only 0 is supported'],
    [(wire.presence_penalty ?? 0) !== 0, 'presence_penalty', 'only 0 is supported'],
    [!isEmpty(wire.logit_bias), 'logit_bias', 'not supported'],
    [!isEmpty(wire.stop), 'stop', 'not supported: a turn ends at the policy’s end token or at max_tokens'],
    [(wire.response_format?.type ?? 'text') !== 'text', 'response_format', 'only text is supported'],
    [!isEmpty(wire.functions), 'functions', 'not supported: use tools'],
    [
      wire.function_call !== undefined && wire.function_call !== null,
      'function_call',
      'not supported: use tool_choice',
    ],
  ])
}

function readMessage(wire: Wire['messages'][number], place: number): Message {
  const param = `messages.${place}`
  const text = readContent(wire.content, param)
  switch (wire.role) {
    case 'system':
    case 'developer':
      return { role: 'system', text }
    case 'user':
      return { role: 'user', text }
    case 'tool':
      if (!wire.tool_call_id)
        throw new ApiError(400, 'invalid_value', `${param}: a tool message needs tool_call_id`, param)
      return { role: 'tool', callId: wire.tool_call_id, text }
    case 'assistant':
      return {
        role: 'assistant',
        text,
        calls: (wire.tool_calls ?? []).map(({ id, function: made }) => readCall(id, made.name, made.arguments)),
      }
    default:
      throw unsupported(
        param,
        `the role ${wire.role.slice(0, 40)} is not supported: use system, developer, user, assistant or tool`,
      )
  }
}
