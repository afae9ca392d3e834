import OpenAI, { APIConnectionTimeoutError, APIError } from 'openai'
import { z } from 'zod'
import type { ChatModel, ChatReply, ChatRequest } from './chat.js'
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

const modelsShape = z.object({ data: z.array(z.object({ id: z.string().min(1).max(300) })).max(READ_LIMITS.models) })

/** Parameters that some servers refuse. They are then left out. */
const OPTIONAL = ['response_format', 'seed', 'temperature', 'max_tokens'] as const
type Optional = (typeof OPTIONAL)[number]

/**
 * Opens a language model on a server with OpenAI's chat completions API.
 * @throws ChatError `bad_options`, `unreachable`, `unauthorised`, `no_model`
 */
export async function openOpenAiChat(options: OpenAiOptions, signal: AbortSignal): Promise<ChatModel> {
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
  const unwanted = new Set<Optional>()

  const ask = async (request: ChatRequest, outer: AbortSignal): Promise<ChatReply> => {
    const body = bodyFor(model, request, unwanted)
    const answer = await guarded((inner) => client.chat.completions.create(body, { signal: inner }), {
      ms: timeoutMs,
      signal: outer,
    })
    const parsed = completionShape.safeParse(answer)
    if (!parsed.success) throw new ChatFailure('bad_protocol', 'the answer is not a chat completion')
    return replyOf(parsed.data)
  }
  return {
    name: model,
    async complete(request, outer) {
      for (;;) {
        try {
          return await ask(request, outer)
        } catch (error) {
          const named = OPTIONAL.find((name) => !unwanted.has(name) && isComplaintAbout(error, name))
          if (named === undefined) throw error
          unwanted.add(named)
        }
      }
    },
    close: async () => {},
  }
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

function bodyFor(model: string, request: ChatRequest, unwanted: ReadonlySet<Optional>) {
  const { system, user, maxTokens, seed, temperature, form } = request
  const optional = {
    ...(form && { response_format: { type: 'json_schema' as const, json_schema: { ...form, strict: true } } }),
    seed,
    ...(temperature === undefined ? {} : { temperature }),
    max_tokens: maxTokens,
  }
  const given = Object.fromEntries(Object.entries(optional).filter(([name]) => !unwanted.has(name as Optional)))
  return {
    model,
    messages: [
      { role: 'system' as const, content: system },
      { role: 'user' as const, content: user },
    ],
    stream: false as const,
    ...(given as Partial<typeof optional>),
    // Newer models of OpenAI accept the limit only under this name.
    ...(unwanted.has('max_tokens') ? { max_completion_tokens: maxTokens } : {}),
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

function isComplaintAbout(error: unknown, name: Optional): boolean {
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
