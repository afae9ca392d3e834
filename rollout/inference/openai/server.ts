import { randomBytes } from 'node:crypto'
import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { streamSSE } from 'hono/streaming'
import { areSameToken, bearerToken } from '../../../common/http/bearer-token.js'
import { accessRefusal, hostsOf, isLoopback, listen } from '../../../common/http/index.js'
import { complete } from '../completion.js'
import { promptOf } from '../conversation.js'
import { SERVE_LIMITS } from '../limits.js'
import type { ServedPolicy } from '../policy.js'
import { type AnswerHead, chunks, completionOf, usageOf } from './answer.js'
import { ApiError, toApiError } from './errors.js'
import { type ChatRequest, newSeed, readChatRequest } from './request.js'

export interface ApiOptions {
  /** Default 127.0.0.1, to which other machines cannot connect. */
  readonly host?: string
  /** 0 takes any free port. */
  readonly port: number
  /** The API key of clients; null: no key, which only loopback allows. */
  readonly token: string | null
  /** Called with failures of the server. */
  readonly onError?: (error: unknown) => void
}

export interface ApiServer {
  /** The base URL for clients, such as `http://127.0.0.1:8000/v1`. */
  readonly url: string
  /** Aborts answers in progress and stops listening. */
  close(): Promise<void>
}

/**
 * Serves a policy with OpenAI's chat completions API (API reference, "Chat"): `/v1/models` and `/v1/chat/completions`. The engine
 * answers one request after the other.
 * @throws TypeError for a host that other machines can reach, without a token; the system's error if listening fails
 */
export async function serveOpenAi(policy: ServedPolicy, options: ApiOptions): Promise<ApiServer> {
  const { host = '127.0.0.1', port, token, onError = () => undefined } = options
  if (token === null && !isLoopback(host)) throw new TypeError(`other machines can reach ${host}: set a token`)
  const closing = new AbortController()
  const created = Math.floor(Date.now() / 1000)
  const model = { id: policy.name, object: 'model', created, owned_by: 'prove' }
  const access = { hosts: hostsOf(host), origins: new Set<string>() }
  let requests = 0

  const app = new Hono()
  app.use(async (context, next) => {
    // Without a token, any page in this machine's browser could send requests.
    const refusal = token === null ? accessRefusal(context.req.raw, access) : null
    if (refusal) throw new ApiError(403, refusal.code, refusal.message)
    if (token !== null && !hasToken(context, token))
      throw new ApiError(401, 'invalid_api_key', 'The API key is missing or wrong.')
    await next()
  })
  app.get('/v1/models', (context) => context.json({ object: 'list', data: [model] }))
  app.get('/v1/models/:id{.+}', (context) => {
    checkModel(context.req.param('id'), policy)
    return context.json(model)
  })
  app.post(
    '/v1/chat/completions',
    bodyLimit({
      maxSize: SERVE_LIMITS.requestBytes,
      onError: () => {
        throw new ApiError(413, 'request_too_large', `A request has at most ${SERVE_LIMITS.requestBytes} bytes.`)
      },
    }),
    async (context) => {
      const body: unknown = await context.req.json().catch(() => {
        throw new ApiError(400, 'invalid_json', 'The body is not JSON.')
      })
      const request = readChatRequest(body, policy.slots, newSeed())
      checkModel(request.model, policy)
      if (requests >= SERVE_LIMITS.requests) {
        context.header('retry-after', '5')
        throw new ApiError(
          429,
          'too_many_requests',
          `${requests} requests are in progress or waiting: try again later.`,
        )
      }
      requests += 1
      const left = new AbortController()
      const leave = (): void => left.abort(new Error('the client has disconnected'))
      context.req.raw.signal.addEventListener('abort', leave, { once: true })
      const signal = AbortSignal.any([left.signal, closing.signal, AbortSignal.timeout(SERVE_LIMITS.answerMs)])
      let streams = false
      try {
        const prompt = promptOf(request.conversation, policy)
        const head = {
          id: `chatcmpl-${randomBytes(12).toString('hex')}`,
          created: Math.floor(Date.now() / 1000),
          model: policy.name,
        }
        if (!request.stream) {
          const completions = await complete(prompt, policy, request.sampling, signal)
          return context.json(
            completionOf(head, completions, { promptTokens: prompt.length, logprobs: request.logprobs }),
          )
        }
        streams = true
        return streamSSE(context, async (stream) => {
          stream.onAbort(leave)
          try {
            await streamAnswer(head, prompt, request, { policy, signal, onError }, (data) => stream.writeSSE({ data }))
          } finally {
            requests -= 1
          }
        })
      } finally {
        if (!streams) requests -= 1
      }
    },
  )
  app.notFound((context) => {
    const { method, path } = context.req
    return context.json(new ApiError(404, 'unknown_url', `This server has no ${method} ${path}.`).body, 404)
  })
  app.onError((error, context) => {
    const reported = toApiError(error)
    if (reported.status === 500 && !closing.signal.aborted) onError(error)
    return context.json(reported.body, reported.status)
  })

  const listening = await listen(app, { host, port, requestTimeoutMs: SERVE_LIMITS.requestMs })
  return {
    url: `${listening.origin}/v1`,
    close() {
      closing.abort(new Error('the server is closing'))
      return listening.close()
    },
  }
}

/** Writes an answer as server-sent events, in the order in which its parts were sampled. */
async function streamAnswer(
  head: AnswerHead,
  prompt: readonly number[],
  request: ChatRequest,
  { policy, signal, onError }: StreamParts,
  write: (data: string) => Promise<void>,
): Promise<void> {
  let writing: Promise<void> = Promise.resolve()
  const send = (part: object): void => {
    writing = writing.then(() => write(JSON.stringify(part)))
  }
  try {
    send(chunks.first(head))
    const completions = await complete(prompt, policy, request.sampling, signal, (_, piece) =>
      send(chunks.piece(head, piece, request.logprobs)),
    )
    for (const part of chunks.last(head, completions[0]!)) send(part)
    if (request.includeUsage) send(chunks.usage(head, usageOf(prompt.length, completions)))
  } catch (error) {
    const reported = toApiError(error)
    if (reported.status === 500 && !signal.aborted) onError(error)
    // The status line was sent already: clients find the error in the stream.
    send(reported.body)
  }
  await writing
  await write('[DONE]')
}

interface StreamParts {
  readonly policy: ServedPolicy
  readonly signal: AbortSignal
  readonly onError: (error: unknown) => void
}

function checkModel(model: string, { name }: ServedPolicy): void {
  if (model === name) return
  throw new ApiError(404, 'model_not_found', `This server has no model ${model.slice(0, 100)}, only ${name}.`, 'model')
}

const hasToken = (context: Context, token: string): boolean =>
  areSameToken(bearerToken(context.req.header('authorization')) ?? '', token)
