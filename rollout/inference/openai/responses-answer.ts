import { randomBytes } from 'node:crypto'
import type { Completion, Piece } from '../completion.js'
import type { MadeCall } from '../conversation.js'
import type { ApiError } from './errors.js'
import type { ResponseEcho } from './responses-request.js'

/** The parts of a response that are known before it is sampled. */
export interface ResponseHead {
  readonly id: string
  /** Seconds since 1970. */
  readonly createdAt: number
  readonly model: string
  readonly promptTokens: number
  readonly echo: ResponseEcho
}

export interface ResponseEvent {
  readonly type: string
}

const newId = (kind: string): string => `${kind}_${randomBytes(12).toString('hex')}`

const textPart = (text: string): object => ({ type: 'output_text', text, annotations: [], logprobs: [] })

const messageItem = (id: string, status: string, text: string | null): object => ({
  ...{ type: 'message', id, status, role: 'assistant' },
  content: text === null ? [] : [textPart(text)],
})

const callItem = (id: string, status: string, { id: callId, name }: MadeCall, json: string): object => ({
  ...{ type: 'function_call', id, status, call_id: callId, name, arguments: json },
})

const reply = ({ id, createdAt, model, echo }: ResponseHead, status: string, output: readonly object[]): object => ({
  ...{ id, object: 'response', created_at: createdAt, status, model, output },
  ...echo,
  ...{ error: null, incomplete_details: null, usage: null },
  ...{ background: false, parallel_tool_calls: true, previous_response_id: null, store: false },
  ...{ reasoning: { effort: null, summary: null }, text: { format: { type: 'text' } } },
  ...{ top_p: 1, truncation: 'disabled', user: null },
})

/** Returns a finished response: completed, or incomplete if it was cut. */
function finished(head: ResponseHead, { stop, ids }: Completion, output: readonly object[]): object {
  const isCut = stop === 'length'
  return {
    ...reply(head, isCut ? 'incomplete' : 'completed', output),
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    usage: {
      input_tokens: head.promptTokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: ids.length,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: head.promptTokens + ids.length,
    },
  }
}

/** Returns a `response` (OpenAI API reference, "The response object"). */
export function responseOf(head: ResponseHead, completion: Completion): object {
  const status = completion.stop === 'length' ? 'incomplete' : 'completed'
  const hasText = completion.text !== '' || completion.calls.length === 0
  const output = [
    ...(hasText ? [messageItem(newId('msg'), status, completion.text)] : []),
    ...completion.calls.map((call) => callItem(newId('fc'), 'completed', call, JSON.stringify(call.arguments))),
  ]
  return finished(head, completion, output)
}

/**
 * Creates the events of one streamed response, in order and numbered (OpenAI API reference, "Streaming events").
 * @param send  receives each event
 */
export function createResponseEvents(head: ResponseHead, send: (event: ResponseEvent) => void) {
  let [number, text] = [0, '']
  let message: string | null = null
  const output: object[] = []
  const event = (type: string, fields: object): void =>
    send({ type, sequence_number: number++, ...fields } as ResponseEvent)

  const openMessage = (): string => {
    if (message !== null) return message
    message = newId('msg')
    const at = { item_id: message, output_index: 0 }
    event('response.output_item.added', { output_index: 0, item: messageItem(message, 'in_progress', null) })
    event('response.content_part.added', { ...at, content_index: 0, part: textPart('') })
    return message
  }
  const closeMessage = (status: string): void => {
    const id = openMessage()
    const at = { item_id: id, output_index: 0, content_index: 0 }
    const item = messageItem(id, status, text)
    event('response.output_text.done', { ...at, text, logprobs: [] })
    event('response.content_part.done', { ...at, part: textPart(text) })
    event('response.output_item.done', { output_index: 0, item })
    output.push(item)
  }
  const sendCall = (call: MadeCall): void => {
    const [id, index, json] = [newId('fc'), output.length, JSON.stringify(call.arguments)]
    const at = { item_id: id, output_index: index }
    const item = callItem(id, 'completed', call, json)
    event('response.output_item.added', { output_index: index, item: callItem(id, 'in_progress', call, '') })
    event('response.function_call_arguments.delta', { ...at, delta: json })
    event('response.function_call_arguments.done', { ...at, name: call.name, arguments: json })
    event('response.output_item.done', { output_index: index, item })
    output.push(item)
  }

  return {
    begin(): void {
      event('response.created', { response: reply(head, 'in_progress', []) })
      event('response.in_progress', { response: reply(head, 'in_progress', []) })
    },
    piece({ text: delta }: Piece): void {
      if (delta === '') return
      const id = openMessage()
      text += delta
      event('response.output_text.delta', { item_id: id, output_index: 0, content_index: 0, delta, logprobs: [] })
    },
    end(completion: Completion): void {
      const isCut = completion.stop === 'length'
      if (message !== null || completion.calls.length === 0) closeMessage(isCut ? 'incomplete' : 'completed')
      for (const call of completion.calls) sendCall(call)
      const response = finished(head, completion, output)
      event(isCut ? 'response.incomplete' : 'response.completed', { response })
    },
    fail({ code, message: why, param }: ApiError): void {
      event('error', { code, message: why, param })
      const response = { ...reply(head, 'failed', output), error: { code: 'server_error', message: why } }
      event('response.failed', { response })
    },
  }
}
