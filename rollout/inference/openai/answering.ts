import type { Context } from 'hono'
import { streamSSE } from 'hono/streaming'
import { capacityAfter, complete } from '../completion.js'
import { promptOf } from '../conversation.js'
import { SERVE_LIMITS } from '../limits.js'
import type { ServedPolicy } from '../policy.js'
import { ApiError, toApiError } from './errors.js'
import { newSeed } from './fields.js'
import type { Exchange, Protocol, ServerEvent } from './protocols.js'

export interface AnswererOptions {
  /** Maximal tokens of an answer to a request that sets no limit. */
  readonly maxTokens: number
  /** Called with failures of the server. */
  readonly onError: (error: unknown) => void
  /** Aborts all answers. */
  readonly closing: AbortSignal
}

/** @throws ApiError `model_not_found` */
export function checkModel(model: string, { name }: ServedPolicy): void {
  if (model === name) return
  throw new ApiError(404, 'model_not_found', `This server has no model ${model.slice(0, 100)}, only ${name}.`, 'model')
}

/** Creates handlers of requests, which share one limit of requests in progress. */
export function createAnswerer(policy: ServedPolicy, { maxTokens, onError, closing }: AnswererOptions) {
  let requests = 0

  /** Counts a request. @returns uncounts it @throws ApiError `too_many_requests` */
  const begin = (context: Context): (() => void) => {
    if (requests >= SERVE_LIMITS.requests) {
      context.header('retry-after', '5')
      throw new ApiError(429, 'too_many_requests', `${requests} requests are in progress or waiting: try again later.`)
    }
    requests += 1
    return () => {
      requests -= 1
    }
  }

  /** Converts a failure. A client that has disconnected, and the end of the server, are not failures. */
  const reported = (error: unknown, { param }: Protocol, signal: AbortSignal): ApiError => {
    const converted = toApiError(error, param)
    if (converted.status === 500 && !signal.aborted) onError(error)
    return converted
  }

  return (protocol: Protocol) => async (context: Context) => {
    const body: unknown = await context.req.json().catch(() => {
      throw new ApiError(400, 'invalid_json', 'The body is not JSON.')
    })
    const exchange = protocol.read(body, { maxTokens, seed: newSeed(), slots: policy.slots }, policy.name)
    checkModel(exchange.model, policy)
    const end = begin(context)
    const left = new AbortController()
    const leave = (): void => left.abort(new Error('the client has disconnected'))
    context.req.raw.signal.addEventListener('abort', leave, { once: true })
    const ended = AbortSignal.any([left.signal, closing])
    const signal = AbortSignal.any([ended, AbortSignal.timeout(SERVE_LIMITS.answerMs)])
    let streams = false
    try {
      const prompt = promptOf(exchange.conversation, policy)
      // Checked before the status line, so that a streamed request fails like any other.
      capacityAfter(prompt, policy)
      if (!exchange.stream)
        return context.json(exchange.whole(prompt.length, await complete(prompt, policy, exchange.sampling, signal)))
      streams = true
      return streamSSE(context, async (stream) => {
        stream.onAbort(leave)
        try {
          await streamAnswer(exchange, prompt, {
            ...{ policy, signal },
            report: (error) => reported(error, protocol, ended),
            write: (event) => stream.writeSSE(event),
          })
        } finally {
          end()
        }
      })
    } catch (error) {
      throw reported(error, protocol, ended)
    } finally {
      if (!streams) end()
    }
  }
}

interface StreamParts {
  readonly policy: ServedPolicy
  readonly signal: AbortSignal
  report(error: unknown): ApiError
  write(event: ServerEvent): Promise<void>
}

/** Writes an answer as server-sent events, in the order in which its parts were sampled. */
async function streamAnswer(
  exchange: Exchange,
  prompt: readonly number[],
  { policy, signal, report, write }: StreamParts,
): Promise<void> {
  let writing: Promise<void> = Promise.resolve()
  const answer = exchange.streamed(prompt.length, (event) => {
    writing = writing.then(() => write(event))
  })
  try {
    answer.begin()
    const [completion] = await complete(prompt, policy, exchange.sampling, signal, (_, piece) => answer.piece(piece))
    answer.end(completion!)
  } catch (error) {
    // The status line was sent already: clients find the error in the stream.
    answer.fail(report(error))
  }
  answer.close()
  await writing
}
