import type { JsonObject } from '../../reward/index.js'
import type { Opening, ParsedCall, Piece, Span, ToolCallFormat } from '../tool-call-format.js'
import { readJsonCall } from './json-call.js'

const CALL_OPEN = '<tool_call>'
const CALL_CLOSE = '</tool_call>'
const RESULT_OPEN = '<tool_response>'
const RESULT_CLOSE = '</tool_response>'

const RESULT_START: Piece = { markup: `${RESULT_OPEN}\n` }
const RESULT_END: Piece = { markup: `\n${RESULT_CLOSE}` }
const NEWLINE: Piece = { markup: '\n' }

const THOUGHT_OPEN = '<think>'
const THOUGHT_CLOSE = '</think>'

/** The differences between formats that write a call as JSON between tags and its result as a turn of the user. */
export interface Marks {
  readonly name: string
  /** The control token that ends every turn. */
  readonly turnEnd: string
  /** Beginning of a user's turn. */
  readonly user: string
  /** Beginning of a user's turn with results; default: `user`. */
  readonly results?: string
  /** Beginning of an assistant's turn. */
  readonly assistant: string
  /** See `ToolCallFormat`; default: null. */
  readonly thinking?: ToolCallFormat['thinking']
  /** Writes the JSON of a call in the form of the model's template. */
  callText(name: string, args: JsonObject): string
}

/** Creates a format with Hermes' tool calls: JSON between `<tool_call>` and `</tool_call>`. Turns end with a control token and a line break. */
export function taggedCalls(marks: Marks): ToolCallFormat {
  const { name, turnEnd, user, results = user, assistant, thinking = null, callText } = marks
  const thinks = thinking === 'on'
  const tags = [CALL_OPEN, CALL_CLOSE, RESULT_OPEN, RESULT_CLOSE, ...(thinks ? [THOUGHT_OPEN, THOUGHT_CLOSE] : [])]
  const spoken = (message: string): string => (thinks ? message.slice(thoughtsEnd(message)) : message)
  const next: Piece = { markup: `${turnEnd}\n${assistant}` }

  return {
    name,
    tags,
    turnEnd,
    thinking,
    opening: assistant,
    templateInput: (opening) => ({
      ...templateInput(opening),
      ...(thinking === null ? {} : { enable_thinking: thinks }),
    }),
    parseCalls: (message) => parseCalls(spoken(message)),
    argumentSpans(message) {
      const from = message.length - spoken(message).length
      return argumentSpans(message.slice(from)).map(([start, end]) => [from + start, from + end])
    },
    prose: (message) => prose(spoken(message)),
    writeCall(called, args) {
      const json = callText(called, args)
      const spellsTag = tags.some((tag) => json.includes(tag))
      return `${CALL_OPEN}\n${spellsTag ? escaped(json) : json}\n${CALL_CLOSE}`
    },
    toolResults(payloads) {
      const blocks = payloads.flatMap((payload, i): Piece[] => [
        ...(i === 0 ? [] : [NEWLINE]),
        RESULT_START,
        { text: escaped(payload) },
        RESULT_END,
      ])
      return [{ markup: `\n${results}` }, ...blocks, next]
    },
    userTurn: (text) => [{ markup: `\n${user}` }, { text }, next],
  }
}

/** Returns the end of a message's thoughts and the white space after them. Thoughts without an end fill the whole message. */
function thoughtsEnd(message: string): number {
  const close = message.indexOf(THOUGHT_CLOSE)
  if (close < 0) return message.trimStart().startsWith(THOUGHT_OPEN) ? message.length : 0
  const after = close + THOUGHT_CLOSE.length
  return message.length - message.slice(after).trimStart().length
}

const templateInput = ({ tools, system, userTurn }: Opening): Readonly<Record<string, unknown>> => ({
  messages: [
    ...(system === undefined ? [] : [{ role: 'system', content: system }]),
    { role: 'user', content: userTurn },
  ],
  tools: tools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, description, parameters: inputSchema },
  })),
  add_generation_prompt: true,
})

function parseCalls(message: string): ParsedCall[] {
  const [, ...blocks] = message.split(CALL_OPEN)
  return blocks.map((block) => {
    const end = block.indexOf(CALL_CLOSE)
    const raw = end < 0 ? block : block.slice(0, end)
    return (end < 0 ? undefined : readJsonCall(raw, 'arguments')) ?? { malformed: true, raw: CALL_OPEN + raw }
  })
}

function prose(message: string): string {
  const [before, ...blocks] = message.split(CALL_OPEN)
  const rest = blocks.map((block) => {
    const end = block.indexOf(CALL_CLOSE)
    const isCall = end >= 0 && readJsonCall(block.slice(0, end), 'arguments') !== undefined
    return isCall ? block.slice(end + CALL_CLOSE.length) : CALL_OPEN + block
  })
  return [before, ...rest].join('')
}

const ARGUMENTS = /"arguments"\s*:/

/** Returns the range after the key `arguments` in each block, readable or not. */
function argumentSpans(message: string): Span[] {
  const spans: Span[] = []
  for (let open = message.indexOf(CALL_OPEN); open >= 0; open = message.indexOf(CALL_OPEN, open + 1)) {
    const next = message.indexOf(CALL_OPEN, open + 1)
    const rest = message.slice(0, next < 0 ? undefined : next)
    const close = rest.indexOf(CALL_CLOSE, open)
    const end = close < 0 ? rest.length : close
    const key = ARGUMENTS.exec(message.slice(open, end))
    if (key) spans.push([open + key.index + key[0].length, end])
  }
  return spans
}

/** Escapes every `<` of a JSON text, which then contains no tag. */
const escaped = (json: string): string => json.replaceAll('<', '\\u003c')
