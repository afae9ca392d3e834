import type { OfferedTool } from '../../servers/kernel/index.js'
import type { Token } from '../engine/index.js'
import { EpisodeError, type ToolCallFormat } from '../episode/index.js'
import type { JsonObject } from '../reward/index.js'
import { ConversationError } from './errors.js'
import type { ServedPolicy } from './policy.js'

export interface MadeCall {
  readonly id: string
  readonly name: string
  readonly arguments: JsonObject
}

/** An earlier call whose arguments are not a JSON object. The policy reads them as the model wrote them. */
export interface BrokenCall {
  readonly id: string
  readonly name: string
  readonly rawArguments: string
}

export type PastCall = MadeCall | BrokenCall

export type Message =
  | { readonly role: 'system'; readonly text: string }
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly PastCall[] }
  /** The result of a call, any text. */
  | { readonly role: 'tool'; readonly callId: string; readonly text: string }

export interface Conversation {
  readonly tools: readonly OfferedTool[]
  readonly messages: readonly Message[]
}

/**
 * Renders a conversation to token ids, up to the beginning of the assistant's turn. The form is that of an episode: the model's template
 * over tools, system message and first user turn, and then the tool-call format. Earlier answers of the assistant are tokenised from their
 * text, which may differ from the sampled tokens.
 *
 * Successive texts of one role become one turn, with an empty line between them. A tool result that is not JSON becomes a JSON string.
 * @throws ConversationError
 */
export function promptOf({ tools, messages }: Conversation, { toolCallFormat, renderer }: ServedPolicy): Token[] {
  const systems = messages.filter((message) => message.role === 'system')
  const turns = messages.filter((message) => message.role !== 'system')
  if (turns.length === 0) throw new ConversationError('bad_order', 'the conversation has no user message')
  try {
    let at = 0
    const users = (): string => {
      const texts: string[] = []
      for (let turn = turns[at]; turn?.role === 'user'; turn = turns[++at]) texts.push(turn.text)
      return texts.join('\n\n')
    }
    if (turns[0]!.role !== 'user')
      throw new ConversationError('bad_order', `the first message must be a user's, not ${turns[0]!.role}`)
    const system = systems.length === 0 ? undefined : systems.map(({ text }) => text).join('\n\n')
    const tokens = renderer.firstPrompt(tools, users(), system)
    while (at < turns.length) {
      const said = turns[at++]!
      if (said.role !== 'assistant')
        throw new ConversationError('bad_order', `after a user message, ${said.role} is not allowed`)
      if (at === turns.length) throw new ConversationError('bad_order', 'the last message must not be the assistant’s')
      const parts = [said.text, ...writtenCalls(said.calls, toolCallFormat)]
      tokens.push(...renderer.assistantTurn(parts.filter((part) => part !== '').join('\n')))
      if (said.calls.length > 0) {
        const results: ToolMessage[] = []
        for (let turn = turns[at]; turn?.role === 'tool'; turn = turns[++at]) results.push(turn)
        tokens.push(...renderer.toolResults(resultsOf(said.calls, results)))
        // The tool-call format has no turn for results and a user message together.
        if (turns[at]?.role === 'user')
          throw new ConversationError(
            'bad_order',
            'between tool results and the next user message there must be an answer of the assistant',
          )
      } else {
        const text = users()
        if (text === '' && turns[at - 1]?.role !== 'user')
          throw new ConversationError(
            'bad_order',
            `after an assistant message without calls, ${turns[at]!.role} is not allowed`,
          )
        tokens.push(...renderer.userTurn(text))
      }
    }
    return tokens
  } catch (cause) {
    if (!(cause instanceof EpisodeError)) throw cause
    if (cause.code === 'reserved_tag') throw new ConversationError('reserved_tag', cause.detail, { cause })
    if (cause.code === 'bad_template')
      throw new ConversationError(
        'not_written',
        `the model's chat template cannot write these tools or messages: ${cause.detail}`,
        { cause },
      )
    throw cause
  }
}

type ToolMessage = Extract<Message, { readonly role: 'tool' }>

/**
 * Writes the calls of a message in the form of the policy: together, if the format has a form for several calls and all of them can be
 * read.
 */
function writtenCalls(calls: readonly PastCall[], toolCallFormat: ToolCallFormat): string[] {
  const readable = calls.filter((call) => 'arguments' in call)
  if (!toolCallFormat.writeCalls || readable.length < calls.length || calls.length === 0)
    return calls.map((call) => textOfCall(call, toolCallFormat))
  return [toolCallFormat.writeCalls(readable.map(({ name, arguments: args }) => ({ name, arguments: args })))]
}

/** Returns the results in the order of the calls. Some servers give two calls of one turn the same id: their results are in order. */
function resultsOf(calls: readonly PastCall[], results: readonly ToolMessage[]): string[] {
  const left = new Map<string, string[]>()
  for (const { callId, text } of results) left.set(callId, [...(left.get(callId) ?? []), text])
  const texts = calls.map(({ id, name }) => {
    const text = left.get(id)?.shift()
    if (text === undefined) throw new ConversationError('bad_tool_result', `the call ${id} of ${name} has no result`)
    return asJson(text)
  })
  const surplus = [...left].find(([, more]) => more.length > 0)?.[0]
  if (surplus === undefined) return texts
  const isKnown = calls.some(({ id }) => id === surplus)
  const why = isKnown ? `the call ${surplus} has more than one result` : `there is no call ${surplus}`
  throw new ConversationError('bad_tool_result', why)
}

/** Writes a call in the tool-call format. Arguments that are no JSON object stay as they are, apart from tags of the format. */
function textOfCall(call: PastCall, format: ToolCallFormat): string {
  if ('arguments' in call) return format.writeCall(call.name, call.arguments)
  const raw = format.tags.some((tag) => call.rawArguments.includes(tag))
    ? call.rawArguments.replaceAll('<', '\\u003c')
    : call.rawArguments
  const text = format.writeCall(call.name, {})
  const [start, end] = format.argumentSpans(text)[0] ?? [0, 0]
  const at = text.slice(start, end).indexOf('{}')
  return at < 0 ? `${text}\n${raw}` : `${text.slice(0, start + at)}${raw}${text.slice(start + at + 2)}`
}

function asJson(text: string): string {
  try {
    JSON.parse(text)
    return text
  } catch {
    return JSON.stringify(text)
  }
}
