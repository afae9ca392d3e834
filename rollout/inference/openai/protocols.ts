import { randomBytes } from 'node:crypto'
import type { Completion, Piece } from '../completion.js'
import { type AnswerHead, chunks, completionOf, usageOf } from './answer.js'
import type { ApiError } from './errors.js'
import type { ApiRequest, RequestDefaults } from './fields.js'
import { readChatRequest } from './request.js'
import { createResponseEvents, type ResponseHead, responseOf } from './responses-answer.js'
import { readResponsesRequest } from './responses-request.js'

/** A server-sent event. */
export interface ServerEvent {
  readonly event?: string
  readonly data: string
}

/** Writers of a streamed answer, in the order of their calls. Each part of the answer becomes events. */
export interface AnswerStream {
  begin(): void
  piece(piece: Piece): void
  end(completion: Completion): void
  /** Reports an error after the status line was sent. */
  fail(error: ApiError): void
  /** Events after the end or the failure. */
  close(): void
}

/** A request in one of the protocols, and the form of its answer. */
export interface Exchange extends ApiRequest {
  whole(promptTokens: number, completions: readonly Completion[]): object
  streamed(promptTokens: number, send: (event: ServerEvent) => void): AnswerStream
}

/** A protocol in which clients ask for answers. */
export interface Protocol {
  readonly path: string
  /** Field of the request with the conversation, for errors. */
  readonly param: string
  /** @throws ApiError */
  read(body: unknown, defaults: RequestDefaults, model: string): Exchange
}

const now = (): number => Math.floor(Date.now() / 1000)
const newId = (kind: string): string => `${kind}${randomBytes(12).toString('hex')}`

/** OpenAI's chat completions (API reference, "Chat"). */
export const CHAT_COMPLETIONS: Protocol = {
  path: '/v1/chat/completions',
  param: 'messages',
  read(body, defaults, model) {
    const request = readChatRequest(body, defaults)
    const { logprobs, includeUsage } = request
    const head: AnswerHead = { id: newId('chatcmpl-'), created: now(), model }
    return {
      ...request,
      whole: (promptTokens, completions) => completionOf(head, completions, { promptTokens, logprobs }),
      streamed(promptTokens, send) {
        const sendJson = (part: object): void => send({ data: JSON.stringify(part) })
        return {
          begin: () => sendJson(chunks.first(head)),
          piece: (piece) => sendJson(chunks.piece(head, piece, logprobs)),
          end(completion) {
            for (const part of chunks.last(head, completion)) sendJson(part)
            if (includeUsage) sendJson(chunks.usage(head, usageOf(promptTokens, [completion])))
          },
          fail: (error) => sendJson(error.body),
          close: () => send({ data: '[DONE]' }),
        }
      },
    }
  },
}

/** OpenAI's responses (API reference, "Responses"), without storage. */
export const RESPONSES: Protocol = {
  path: '/v1/responses',
  param: 'input',
  read(body, defaults, model) {
    const request = readResponsesRequest(body, defaults)
    const id = newId('resp_')
    const headOf = (promptTokens: number): ResponseHead => ({
      ...{ id, createdAt: now(), model, promptTokens, echo: request.echo },
    })
    return {
      ...request,
      whole: (promptTokens, completions) => responseOf(headOf(promptTokens), completions[0]!),
      streamed: (promptTokens, send) => ({
        ...createResponseEvents(headOf(promptTokens), (event) =>
          send({ event: event.type, data: JSON.stringify(event) }),
        ),
        close: () => undefined,
      }),
    }
  },
}
