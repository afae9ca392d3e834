import OpenAI, { APIConnectionTimeoutError, APIError } from 'openai'
import { z } from 'zod'
import { ChatError, type ChatErrorCode, ChatFailure, type Failure } from './errors.js'
import { READ_LIMITS } from './limits.js'

export interface OpenAiOptions {
  /** The base URL before `/chat/completions`, such as `http://127.0.0.1:8080/v1`. */
  readonly url: string
  /** Default: the first model that the server lists. */
  readonly model?: string
  readonly timeoutMs: number
  /** The API key, from OPENAI_API_KEY; undefined: no key is sent. */
  readonly apiKey: string | undefined
}

const modelsShape = z.object({ data: z.array(z.object({ id: z.string().min(1).max(300) })).max(READ_LIMITS.models) })

/** Parameters that some servers refuse. They are then left out. */
const OPTIONAL = ['response_format', 'seed', 'temperature', 'max_tokens'] as const
export type OptionalParameter = (typeof OPTIONAL)[number]

export interface Completion {
  readonly messages: readonly object[]
  readonly tools?: readonly object[]
  readonly optional: Readonly<Partial<Record<OptionalParameter, unknown>>>
  /** Optional parameters that must not be left out. */
  readonly required?: readonly OptionalParameter[]
}

/** A model on a server with OpenAI's chat completions API. */
export interface OpenAiClient {
  readonly model: string
  /** Parameters that the server refused and that are left out since then. */
  readonly omitted: ReadonlySet<OptionalParameter>
  /** Requests a completion. @returns  the unparsed answer @throws ChatFailure; the signal's reason when it aborts */
  complete(request: Completion, signal: AbortSignal): Promise<unknown>
}

/**
 * Connects to a language model on a server. Without a model name, requests the list of models.
 * @throws ChatError `bad_options`, `unreachable`, `unauthorised`, `no_model`
 */
export async function openOpenAiClient(options: OpenAiOptions, signal: AbortSignal): Promise<OpenAiClient> {
  const { timeoutMs, apiKey } = options
  const client = new OpenAI({
    baseURL: checkedUrl(options.url),
    // The client requires a key. Its header is removed below if there is none.
    apiKey: apiKey ?? 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    timeout: timeoutMs,
    // Retries cost budget, so the caller makes them.
    maxRetries: 0,
    logLevel: 'off',
    fetch: boundedFetch,
    fetchOptions: { redirect: 'error' },
    defaultHeaders: { ...OMITTED_HEADERS, ...(apiKey === undefined ? { Authorization: null } : {}) },
  })
  const within = { ms: timeoutMs, signal }
  const model = options.model ?? (await firstModel((inner) => client.models.list({ signal: inner }), within))
  const omitted = new Set<OptionalParameter>()
  return {
    model,
    omitted,
    async complete({ messages, tools, optional, required = [] }, outer) {
      for (;;) {
        const body = { model, messages, ...(tools ? { tools } : {}), stream: false, ...given(optional, omitted) }
        try {
          return await guarded((inner) => client.chat.completions.create(body as never, { signal: inner }), {
            ms: timeoutMs,
            signal: outer,
          })
        } catch (error) {
          const named = OPTIONAL.find(
            (name) => !omitted.has(name) && !required.includes(name) && isComplaintAbout(error, name),
          )
          if (named === undefined) throw error
          omitted.add(named)
        }
      }
    },
  }
}

function given(optional: Completion['optional'], omitted: ReadonlySet<OptionalParameter>): Record<string, unknown> {
  const kept = Object.entries(optional).filter(([name]) => !omitted.has(name as OptionalParameter))
  // Newer models of OpenAI accept the limit only under this name.
  const renamed = omitted.has('max_tokens') ? { max_completion_tokens: optional.max_tokens } : {}
  return { ...Object.fromEntries(kept), ...renamed }
}

/** Whether a server refused a request because the conversation does not fit the model's context. */
export function isContextFull({ kind, cause }: ChatFailure): boolean {
  if (kind !== 'rejected' && kind !== 'server_error') return false
  const { code, message } = (cause ?? {}) as { readonly code?: unknown; readonly message?: unknown }
  if (code === 'context_length_exceeded' || code === 'exceed_context_size_error') return true
  return typeof message === 'string' && /context (length|size|window)/i.test(message)
}

/** Most characters of a server's explanation in a message. */
const EXPLANATION_CHARS = 300

/** Returns a failure with the server's own words, without control characters. */
export function explainFailure({ message, cause }: ChatFailure): string {
  const said = cause instanceof APIError ? cause.message : ''
  return (said.length > message.length ? said : message).replaceAll(/\p{C}+/gu, ' ').slice(0, EXPLANATION_CHARS)
}

/** Headers with which the client would describe this machine. */
const OMITTED_HEADERS = Object.fromEntries(
  ['Lang', 'Package-Version', 'OS', 'Arch', 'Runtime', 'Runtime-Version', 'Retry-Count', 'Timeout'].map((name) => [
    `X-Stainless-${name}`,
    null,
  ]),
)

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    throw new ChatError(
      'bad_options',
      `${text} is not a language model’s address: use one such as http://127.0.0.1:8080/v1`,
    )
  if (url.username || url.password || url.search || url.hash)
    throw new ChatError('bad_options', 'a language model’s address must not contain a password, query or fragment')
  return url.href.replace(/\/+$/, '')
}

/** Fetches a response, and cuts it off beyond the limit of bytes. */
async function boundedFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init)
  if (!response.body) return response
  let left: number = READ_LIMITS.responseBytes
  const bound = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      left -= chunk.byteLength
      if (left < 0)
        controller.error(
          new ChatFailure('bad_protocol', `the response has more than ${READ_LIMITS.responseBytes} bytes`),
        )
      else controller.enqueue(chunk)
    },
  })
  const { status, statusText, headers } = response
  return new Response(response.body.pipeThrough(bound), { status, statusText, headers })
}

interface Within {
  readonly ms: number
  readonly signal: AbortSignal
}

/** Sends a request with a time limit, and converts its failure to a `ChatFailure`. */
async function guarded<T>(request: (signal: AbortSignal) => Promise<T>, { ms, signal }: Within): Promise<T> {
  signal.throwIfAborted()
  const timeout = AbortSignal.timeout(ms)
  try {
    return await request(AbortSignal.any([signal, timeout]))
  } catch (error) {
    signal.throwIfAborted()
    if (timeout.aborted || error instanceof APIConnectionTimeoutError)
      throw new ChatFailure('timeout', `no reply within ${ms} ms`)
    throw failureOf(error)
  }
}

function failureOf(error: unknown): ChatFailure {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof ChatFailure) return cause
  if (error instanceof SyntaxError)
    return new ChatFailure('bad_protocol', 'the answer is not JSON', undefined, { cause: error })
  const status = error instanceof APIError ? (error.status as number | undefined) : undefined
  if (status === undefined) {
    // All other errors of the client are connection errors.
    const [message] = causesOf(error).slice(-1)
    return new ChatFailure('connection', `no connection: ${message}`, undefined, { cause: error })
  }
  const headers = (error as APIError).headers as Headers | undefined
  return new ChatFailure(kindOf(status), `HTTP ${status}`, retryAfter(headers?.get('retry-after')), { cause: error })
}

function causesOf(error: unknown): string[] {
  const messages: string[] = []
  for (let cause = error; cause instanceof Error && messages.length < 8; cause = cause.cause)
    messages.push(((cause as NodeJS.ErrnoException).code ?? cause.message).slice(0, 200))
  return messages
}

function kindOf(status: number): Failure {
  if (status === 429) return 'rate_limited'
  if (status >= 500 || [408, 409, 425].includes(status)) return 'server_error'
  return [401, 403, 404].includes(status) ? 'forbidden' : 'rejected'
}

/** Returns the milliseconds of a `Retry-After` header: seconds, or a date (RFC 9110, section 10.2.3). */
function retryAfter(header: string | null | undefined): number | undefined {
  if (!header) return undefined
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}

function isComplaintAbout(error: unknown, name: OptionalParameter): boolean {
  if (!(error instanceof ChatFailure) || error.kind !== 'rejected') return false
  const { param, message } = error.cause as Partial<APIError>
  return param === name || (typeof message === 'string' && message.includes(name))
}

async function firstModel(list: (signal: AbortSignal) => Promise<unknown>, within: Within): Promise<string> {
  let page: unknown
  try {
    page = await guarded(list, within)
  } catch (error) {
    if (!(error instanceof ChatFailure)) throw error
    const { status } = (error.cause ?? {}) as { status?: unknown }
    const code: ChatErrorCode = status === 401 || status === 403 ? 'unauthorised' : 'unreachable'
    throw new ChatError(code, `the language model's server does not list its models: ${error.message}`, {
      cause: error,
    })
  }
  const parsed = modelsShape.safeParse(page)
  if (!parsed.success) throw new ChatError('unreachable', 'the server’s list of models violates the protocol')
  const [first] = parsed.data.data
  if (!first) throw new ChatError('no_model', 'the server lists no model: load one')
  return first.id
}
