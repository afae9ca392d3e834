import type { JsonObject } from '../../reward/index.js'
import type { Dialect, ParsedCall, Piece, Span } from '../dialect.js'
import { readJsonCall } from './json-call.js'

const CALL_OPEN = '<tool_call>'
const CALL_CLOSE = '</tool_call>'
const RESULT_OPEN = '<tool_response>'
const RESULT_CLOSE = '</tool_response>'

const USER_HEADER: Piece = { markup: '\n<|im_start|>user\n' }
const ASSISTANT_HEADER: Piece = { markup: '<|im_end|>\n<|im_start|>assistant\n' }
const RESULT_START: Piece = { markup: `${RESULT_OPEN}\n` }
const RESULT_END: Piece = { markup: `\n${RESULT_CLOSE}` }
const NEWLINE: Piece = { markup: '\n' }

/** Hermes' tool calls, JSON between tags that the vocabulary holds as single tokens, in Qwen's ChatML: results come as a user's turn. */
export const HERMES: Dialect = {
  name: 'hermes',
  tags: [CALL_OPEN, CALL_CLOSE, RESULT_OPEN, RESULT_CLOSE],
  turnEnd: '<|im_end|>',
  templateInput: ({ tools, system, userTurn }) => ({
    messages: [
      ...(system === undefined ? [] : [{ role: 'system', content: system }]),
      { role: 'user', content: userTurn },
    ],
    tools: tools.map(({ name, description, inputSchema }) => ({
      type: 'function',
      function: { name, description, parameters: inputSchema },
    })),
    add_generation_prompt: true,
  }),
  parseCalls,
  argumentSpans,
  prose,
  writeCall,
  writeBrokenCall(name, args) {
    const text = writeCall(name, args)
    const brace = text.lastIndexOf('}')
    return text.slice(0, brace) + text.slice(brace + 1)
  },
  toolResults(payloads) {
    const blocks = payloads.flatMap((payload, i): Piece[] => [
      ...(i === 0 ? [] : [NEWLINE]),
      RESULT_START,
      { text: escaped(payload) },
      RESULT_END,
    ])
    return [USER_HEADER, ...blocks, ASSISTANT_HEADER]
  },
  userTurn: (text) => [USER_HEADER, { text }, ASSISTANT_HEADER],
}

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

/** In each block, readable or not, everything after the key `arguments`. */
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

function writeCall(name: string, args: JsonObject): string {
  const json = JSON.stringify({ name, arguments: args })
  const spellsTag = json.includes(CALL_OPEN) || json.includes(CALL_CLOSE)
  return `${CALL_OPEN}\n${spellsTag ? escaped(json) : json}\n${CALL_CLOSE}`
}

/** The same JSON value in other bytes: with every `<` escaped, it can spell no tag. */
const escaped = (json: string): string => json.replaceAll('<', '\\u003c')
