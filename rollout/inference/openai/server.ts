import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { areSameToken, bearerToken } from '../../../common/http/bearer-token.js'
import { accessRefusal, hostsOf, isLoopback, listen } from '../../../common/http/index.js'
import { SERVE_LIMITS } from '../limits.js'
import type { ServedPolicy } from '../policy.js'
import { checkModel, createAnswerer } from './answering.js'
import { ApiError, toApiError } from './errors.js'
import { CHAT_COMPLETIONS, RESPONSES } from './protocols.js'

export interface ApiOptions {
  /** Default 127.0.0.1, to which other machines cannot connect. */
  readonly host?: string
  /** 0 takes any free port. */
  readonly port: number
  /** The API key of clients; null: no key, which only loopback allows. */
  readonly token: string | null
  /** Maximal tokens of an answer to a request that sets no limit. Default: `SERVE_LIMITS.defaultMaxTokens`. */
  readonly maxTokens?: number
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
 * Serves a policy with OpenAI's API: `/v1/models`, `/v1/chat/completions` and `/v1/responses`. The engine answers one request after the
 * other.
 * @throws TypeError for a host that other machines can reach, without a token; the system's error if listening fails
 */
export async function serveOpenAi(policy: ServedPolicy, options: ApiOptions): Promise<ApiServer> {
  const { host = '127.0.0.1', port, token, onError = () => undefined } = options
  const { maxTokens = SERVE_LIMITS.defaultMaxTokens } = options
  if (token === null && !isLoopback(host)) throw new TypeError(`other machines can reach ${host}: set a token`)
  const closing = new AbortController()
  const created = Math.floor(Date.now() / 1000)
  const model = { id: policy.name, object: 'model', created, owned_by: 'prove' }
  const access = { hosts: hostsOf(host), origins: new Set<string>() }

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
  const answer = createAnswerer(policy, { maxTokens, onError, closing: closing.signal })
  for (const protocol of [CHAT_COMPLETIONS, RESPONSES]) app.post(protocol.path, limitBody, answer(protocol))
  app.notFound((context) => {
    const { method, path } = context.req
    return context.json(new ApiError(404, 'unknown_url', `This server has no ${method} ${path}.`).body, 404)
  })
  app.onError((error, context) => {
    // Answers report their own failures, which are in the form of the API already.
    const reported = toApiError(error, 'messages')
    if (!(error instanceof ApiError)) onError(error)
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

const limitBody = bodyLimit({
  maxSize: SERVE_LIMITS.requestBytes,
  onError: () => {
    throw new ApiError(413, 'request_too_large', `A request has at most ${SERVE_LIMITS.requestBytes} bytes.`)
  },
})

const hasToken = (context: Context, token: string): boolean =>
  areSameToken(bearerToken(context.req.header('authorization')) ?? '', token)
