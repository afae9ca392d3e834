import { z } from 'zod'
import type { OfferedTool } from '../../../servers/kernel/index.js'
import { MAX_SEED, MAX_TEMPERATURE } from '../../engine/index.js'
import type { JsonObject } from '../../reward/index.js'
import type { SamplingOptions } from '../completion.js'
import type { Conversation, PastCall } from '../conversation.js'
import { SERVE_LIMITS } from '../limits.js'
import { ApiError, unsupported } from './errors.js'
import { plainParameters } from './tool-schema.js'

/** Fields that requests of chat completions and of responses share, after parsing. */
export interface ApiRequest {
  readonly model: string
  readonly conversation: Conversation
  readonly sampling: SamplingOptions & { readonly choices: number }
  readonly stream: boolean
}

/** Values for requests that do not set them. */
export interface RequestDefaults {
  readonly maxTokens: number
  readonly seed: number
  /** Maximal answers to one request. */
  readonly slots: number
}

export const nameField = z.string().min(1).max(128)
export const toolsField = <T extends z.ZodType>(tool: T) => z.array(tool).max(SERVE_LIMITS.tools).nullish()

/** Fields of the same meaning in both requests. All fields that are not read are ignored. */
export const samplingFields = {
  model: z.string(),
  tool_choice: z.unknown().optional(),
  parallel_tool_calls: z.boolean().nullish(),
  temperature: z.number().min(0).max(MAX_TEMPERATURE).nullish(),
  top_p: z.number().nullish(),
  top_logprobs: z.int().min(0).nullish(),
  stream: z.boolean().nullish(),
  /** Not a field of responses, but as useful there. */
  seed: z.int().nullish(),
}
const samplingShape = z.object(samplingFields)

/** @throws ApiError naming the first wrong field */
export function parseRequest<T extends z.ZodType>(shape: T, body: unknown): z.output<T> {
  const parsed = shape.safeParse(body)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const param = issue!.path.join('.') || null
  throw new ApiError(400, 'invalid_value', `${param ?? 'the body'}: ${issue!.message}`, param)
}

/** A field with an unsupported value: whether the request has it, its name, and the reason. */
export type Refusal = readonly [isWrong: boolean, param: string, detail: string]

export const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || Object.keys(value).length === 0

/** Refuses settings that would change the answer and are not supported. @throws ApiError `unsupported_value` */
export function refuseUnsupported(
  wire: z.output<typeof samplingShape> & { readonly tools?: readonly unknown[] | null | undefined },
  more: readonly Refusal[],
): void {
  const choice = wire.tool_choice ?? 'auto'
  const refused: readonly Refusal[] = [
    [(wire.top_p ?? 1) !== 1, 'top_p', 'only 1 is supported: the policy samples from the whole distribution'],
    [
      (wire.top_logprobs ?? 0) > 0,
      'top_logprobs',
      'only the log-probability of the sampled token is available: set it to 0',
    ],
    [
      choice !== 'auto' && choice !== 'none',
      'tool_choice',
      'only "auto" and "none" are supported: calls cannot be forced',
    ],
    [wire.parallel_tool_calls === false && !isEmpty(wire.tools), 'parallel_tool_calls', 'only true is supported'],
    ...more,
  ]
  const wrong = refused.find(([isWrong]) => isWrong)
  if (wrong) throw unsupported(wrong[1], wrong[2])
}

/** A tool of a request, described by OpenAI's fields. */
export interface WireTool {
  readonly name: string
  readonly description?: string | null | undefined
  readonly parameters?: Readonly<Record<string, unknown>> | null | undefined
}

export const readTool = ({ name, description, parameters }: WireTool): OfferedTool => ({
  name,
  description: description ?? '',
  inputSchema: plainParameters(parameters),
  readOnly: false,
})

export const notAFunction = (type: string): ApiError =>
  unsupported('tools', `only functions are supported, not ${type.slice(0, 40)}`)

interface WirePart {
  readonly type: string
  readonly text?: string | undefined
  readonly refusal?: string | undefined
}
export const partShape = z.object({ type: z.string(), text: z.string().optional(), refusal: z.string().optional() })
export const contentField = z.union([z.string(), z.array(partShape)]).nullish()

const TEXT_PARTS = new Set(['text', 'input_text', 'output_text'])

/** Returns the text of a content. @throws ApiError `unsupported_value` for anything but text */
export function readContent(found: string | readonly WirePart[] | null | undefined, param: string): string {
  if (found === null || found === undefined) return ''
  if (typeof found === 'string') return found
  return found
    .map(({ type, text, refusal }) => {
      const said = TEXT_PARTS.has(type) ? text : type === 'refusal' ? refusal : undefined
      if (said === undefined) throw unsupported(param, `only text is supported, not ${type.slice(0, 40)}`)
      return said
    })
    .join('')
}

/** Reads an earlier call of the assistant. No arguments at all are an empty object, as for every client of this API. */
export function readCall(id: string, name: string, json: string): PastCall {
  try {
    const value: unknown = JSON.parse(json.trim() === '' ? '{}' : json)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { id, name, arguments: value as JsonObject }
  } catch {
    // Not JSON, as models write it now and then. The conversation has to go on.
  }
  return { id, name, rawArguments: json }
}

/** Returns a random seed, for requests without one. */
export const newSeed = (): number => Math.floor(Math.random() * MAX_SEED)
