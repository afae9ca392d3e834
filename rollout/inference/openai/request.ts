import { z } from 'zod'
import type { OfferedTool } from '../../../servers/kernel/index.js'
import { MAX_SEED, MAX_TEMPERATURE } from '../../engine/index.js'
import type { JsonObject } from '../../reward/index.js'
import type { SamplingOptions } from '../completion.js'
import type { Conversation, Message } from '../conversation.js'
import { SERVE_LIMITS } from '../limits.js'
import { ApiError, unsupported } from './errors.js'
import { plainParameters } from './tool-schema.js'

export interface ChatRequest {
  readonly model: string
  readonly conversation: Conversation
  readonly sampling: SamplingOptions & { readonly choices: number }
  readonly stream: boolean
  readonly includeUsage: boolean
  readonly logprobs: boolean
}

const textPart = z.object({ type: z.string(), text: z.string().optional() })
const content = z.union([z.string(), z.array(textPart)]).nullish()
const name = z.string().min(1).max(128)
const call = z.object({
  id: z.string().min(1).max(128),
  type: z.string().optional(),
  function: z.object({ name, arguments: z.string() }),
})
const message = z.object({
  role: z.string(),
  content,
  tool_calls: z.array(call).nullish(),
  tool_call_id: z.string().nullish(),
})
const tool = z.object({
  type: z.string(),
  function: z
    .object({ name, description: z.string().nullish(), parameters: z.record(z.string(), z.unknown()).nullish() })
    .optional(),
})

/** The fields of a request that are read; all other fields are ignored. */
const requestShape = z.object({
  model: z.string(),
  messages: z.array(message).min(1).max(SERVE_LIMITS.messages),
  tools: z.array(tool).max(SERVE_LIMITS.tools).nullish(),
  tool_choice: z.unknown().optional(),
  parallel_tool_calls: z.boolean().nullish(),
  temperature: z.number().min(0).max(MAX_TEMPERATURE).nullish(),
  seed: z.int().nullish(),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  n: z.int().min(1).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).nullish(),
  top_p: z.number().nullish(),
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
 * @param randomSeed  for a request without one
 * @throws ApiError
 */
export function readChatRequest(body: unknown, slots: number, randomSeed: number): ChatRequest {
  const parsed = requestShape.safeParse(body)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const param = issue!.path.join('.') || null
    throw new ApiError(400, 'invalid_value', `${param ?? 'the body'}: ${issue!.message}`, param)
  }
  const wire = parsed.data
  refuseUnsupported(wire, slots)
  const tools = wire.tool_choice === 'none' ? [] : (wire.tools ?? []).map(readTool)
  return {
    model: wire.model,
    conversation: { tools, messages: wire.messages.map(readMessage) },
    sampling: {
      temperature: wire.temperature ?? 1,
      seed: wire.seed ?? randomSeed,
      maxTokens: wire.max_completion_tokens ?? wire.max_tokens ?? Number.MAX_SAFE_INTEGER,
      choices: wire.n ?? 1,
    },
    stream: wire.stream ?? false,
    includeUsage: wire.stream_options?.include_usage ?? false,
    logprobs: wire.logprobs ?? false,
  }
}

function refuseUnsupported(wire: Wire, slots: number): void {
  const most = Math.min(slots, SERVE_LIMITS.choices)
  const choice = wire.tool_choice ?? 'auto'
  const isEmpty = (value: object | string | null | undefined): boolean =>
    value === null || value === undefined || Object.keys(value).length === 0
  const refused: readonly (readonly [boolean, string, string])[] = [
    [(wire.n ?? 1) > most, 'n', `this server returns at most ${most} answers to one request`],
    [(wire.n ?? 1) > 1 && wire.stream === true, 'n', 'only one answer can be streamed: set n to 1'],
    [(wire.top_p ?? 1) !== 1, 'top_p', 'only 1 is supported: the policy samples from the whole distribution'],
    [(wire.frequency_penalty ?? 0) !== 0, 'frequency_penalty', 'only 0 is supported'],
    [(wire.presence_penalty ?? 0) !== 0, 'presence_penalty', 'only 0 is supported'],
    [!isEmpty(wire.logit_bias), 'logit_bias', 'not supported'],
    [!isEmpty(wire.stop), 'stop', 'not supported: a turn ends at the policy’s end token or at max_tokens'],
    [
      (wire.top_logprobs ?? 0) > 0,
      'top_logprobs',
      'only the log-probability of the sampled token is available: set it to 0',
    ],
    [(wire.response_format?.type ?? 'text') !== 'text', 'response_format', 'only text is supported'],
    [
      choice !== 'auto' && choice !== 'none',
      'tool_choice',
      'only "auto" and "none" are supported: calls cannot be forced',
    ],
    [wire.parallel_tool_calls === false && !isEmpty(wire.tools), 'parallel_tool_calls', 'only true is supported'],
    [!isEmpty(wire.functions), 'functions', 'not supported: use tools'],
    [
      wire.function_call !== undefined && wire.function_call !== null,
      'function_call',
      'not supported: use tool_choice',
    ],
  ]
  const wrong = refused.find(([isWrong]) => isWrong)
  if (wrong) throw unsupported(wrong[1], wrong[2])
}

function readTool({ type, function: described }: NonNullable<Wire['tools']>[number]): OfferedTool {
  if (type !== 'function' || !described) throw unsupported('tools', `only functions are supported, not ${type}`)
  const { name: tool, description, parameters } = described
  return { name: tool, description: description ?? '', inputSchema: plainParameters(parameters), readOnly: false }
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
        calls: (wire.tool_calls ?? []).map(({ id, function: made }) => ({
          id,
          name: made.name,
          arguments: readArguments(made.arguments, param),
        })),
      }
    default:
      throw unsupported(
        param,
        `the role ${wire.role.slice(0, 40)} is not supported: use system, developer, user, assistant or tool`,
      )
  }
}

function readContent(found: Wire['messages'][number]['content'], param: string): string {
  if (found === null || found === undefined) return ''
  if (typeof found === 'string') return found
  return found
    .map(({ type, text }) => {
      if (type !== 'text' || text === undefined)
        throw unsupported(param, `only text is supported, not ${type.slice(0, 40)}`)
      return text
    })
    .join('')
}

function readArguments(json: string, param: string): JsonObject {
  try {
    const value: unknown = JSON.parse(json === '' ? '{}' : json)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject
  } catch {
    // Reported below, like any other text that is not an object.
  }
  throw new ApiError(400, 'invalid_value', `${param}: the arguments of a call must be a JSON object`, param)
}

/** Returns a random seed, for requests without one. */
export const newSeed = (): number => Math.floor(Math.random() * MAX_SEED)
