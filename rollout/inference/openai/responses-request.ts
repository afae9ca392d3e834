import { z } from 'zod'
import type { Message, PastCall } from '../conversation.js'
import { SERVE_LIMITS } from '../limits.js'
import { unsupported } from './errors.js'
import {
  type ApiRequest,
  contentField,
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

/** Settings of a request that its response repeats. */
export interface ResponseEcho {
  readonly instructions: string | null
  readonly max_output_tokens: number | null
  readonly metadata: Readonly<Record<string, string>>
  readonly temperature: number
  readonly tool_choice: 'auto' | 'none'
  readonly tools: readonly unknown[]
}

export interface ResponsesRequest extends ApiRequest {
  readonly echo: ResponseEcho
}

const tool = z.looseObject({
  type: z.string(),
  name: nameField.optional(),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
})
const item = z.object({
  /** Without a type, an item is a message. */
  type: z.string().nullish(),
  role: z.string().optional(),
  content: contentField,
  call_id: z.string().min(1).max(128).optional(),
  name: nameField.optional(),
  arguments: z.string().optional(),
  output: contentField,
})
type Item = z.output<typeof item>

/** The fields of a request that are read; all other fields are ignored. */
const requestShape = z.object({
  ...samplingFields,
  input: z.union([z.string(), z.array(item).min(1).max(SERVE_LIMITS.messages)]),
  instructions: z.string().nullish(),
  tools: toolsField(tool),
  max_output_tokens: z.int().min(1).nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  previous_response_id: z.string().nullish(),
  conversation: z.unknown().optional(),
  prompt: z.unknown().optional(),
  background: z.boolean().nullish(),
  truncation: z.string().nullish(),
  include: z.array(z.string()).nullish(),
  text: z.object({ format: z.object({ type: z.string() }).nullish() }).nullish(),
})

const isSet = (value: unknown): boolean => value !== undefined && value !== null

/**
 * Parses the body of `POST /v1/responses` (OpenAI API reference, "Create a model response"). The server stores no responses: a request has
 * the whole conversation in `input`.
 * @throws ApiError
 */
export function readResponsesRequest(body: unknown, defaults: RequestDefaults): ResponsesRequest {
  const wire = parseRequest(requestShape, body)
  const unstored = 'not supported: this server stores no responses, so send the whole conversation in input'
  refuseUnsupported(wire, [
    [isSet(wire.previous_response_id), 'previous_response_id', unstored],
    [isSet(wire.conversation), 'conversation', unstored],
    [isSet(wire.prompt), 'prompt', 'not supported: send its text in instructions and input'],
    [wire.background === true, 'background', 'only false is supported'],
    [(wire.truncation ?? 'disabled') !== 'disabled', 'truncation', 'only "disabled" is supported'],
    [(wire.text?.format?.type ?? 'text') !== 'text', 'text.format', 'only text is supported'],
    [
      wire.include?.includes('message.output_text.logprobs') === true,
      'include',
      'log-probabilities are not supported here: use /v1/chat/completions',
    ],
  ])
  const offered = (wire.tools ?? []).map((wired) => {
    if (wired.type !== 'function' || wired.name === undefined) throw notAFunction(wired.type)
    return readTool({ ...wired, name: wired.name })
  })
  const choice = wire.tool_choice === 'none' ? 'none' : 'auto'
  const instructions = wire.instructions ?? null
  const temperature = wire.temperature ?? 1
  return {
    model: wire.model,
    conversation: {
      tools: choice === 'none' ? [] : offered,
      messages: [
        ...(instructions === null ? [] : [{ role: 'system' as const, text: instructions }]),
        ...(typeof wire.input === 'string' ? [{ role: 'user' as const, text: wire.input }] : messagesOf(wire.input)),
      ],
    },
    sampling: {
      temperature,
      seed: wire.seed ?? defaults.seed,
      maxTokens: wire.max_output_tokens ?? defaults.maxTokens,
      choices: 1,
    },
    stream: wire.stream ?? false,
    echo: {
      ...{ instructions, temperature, tool_choice: choice },
      max_output_tokens: wire.max_output_tokens ?? null,
      metadata: wire.metadata ?? {},
      tools: wire.tools ?? [],
    },
  }
}

/** Joins the items of one turn of the assistant, which are separate here, to one message. */
function messagesOf(items: readonly Item[]): Message[] {
  const messages: Message[] = []
  const assistant = (text: string, calls: readonly PastCall[]): void => {
    const last = messages.at(-1)
    if (last?.role !== 'assistant') {
      messages.push({ role: 'assistant', text, calls })
      return
    }
    const texts = [last.text, text].filter((one) => one !== '')
    messages[messages.length - 1] = { role: 'assistant', text: texts.join('\n'), calls: [...last.calls, ...calls] }
  }
  for (const [place, wire] of items.entries()) {
    const param = `input.${place}`
    const kind = wire.type ?? 'message'
    const { call_id: callId, name } = wire
    if (kind === 'message') {
      const text = readContent(wire.content, param)
      if (wire.role === 'assistant') assistant(text, [])
      else messages.push({ role: plainRole(wire.role, param), text })
    } else if (kind === 'function_call' && callId !== undefined && name !== undefined) {
      assistant('', [readCall(callId, name, wire.arguments ?? '')])
    } else if (kind === 'function_call_output' && callId !== undefined) {
      messages.push({ role: 'tool', callId, text: readContent(wire.output, param) })
    } else if (kind !== 'reasoning') {
      // Reasoning comes from other servers, and is hidden from the model that reads a conversation.
      throw unsupported(param, `an item ${kind.slice(0, 40)} is not supported, or lacks call_id or name`)
    }
  }
  return messages
}

function plainRole(role: string | undefined, param: string): 'system' | 'user' {
  if (role === 'user') return 'user'
  if (role === 'system' || role === 'developer') return 'system'
  throw unsupported(
    param,
    `the role ${(role ?? 'undefined').slice(0, 40)} is not supported: use system, developer, user or assistant`,
  )
}
