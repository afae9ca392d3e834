import type { JsonObject } from '../../reward/index.js'
import type { Opening, ParsedCall, Piece, ReadableCall, Span, ToolCallFormat } from '../tool-call-format.js'

const RESULT_OPEN = '<tool_response>'
const RESULT_CLOSE = '</tool_response>'

const RESULT_START: Piece = { markup: `${RESULT_OPEN}\n` }
const RESULT_END: Piece = { markup: `\n${RESULT_CLOSE}` }
const NEWLINE: Piece = { markup: '\n' }

const THOUGHT_OPEN = '<think>'
const THOUGHT_CLOSE = '</think>'

/** How calls are written between two tags. */
export interface CallNotation {
  readonly open: string
  readonly close: string
  /** Returns the calls between the tags; undefined if the text cannot be parsed. */
  read(text: string): readonly ParsedCall[] | undefined
  /** Returns the ranges of the calls' arguments between the tags, also of malformed calls. */
  spans(text: string): Span[]
  /** Writes a call, without the tags. Outside JSON strings it contains no `<`. */
  write(name: string, args: JsonObject): string
  /** Writes several calls; undefined: the notation has one call between tags. */
  writeAll?(calls: readonly ReadableCall[]): string
}

/** The differences between formats that write calls between tags and their results as a turn of the user. */
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
  readonly notation: CallNotation
}

/** Creates a format with calls between tags. Turns end with a control token and a line break. */
export function taggedCalls(marks: Marks): ToolCallFormat {
  const { name, turnEnd, user, results = user, assistant, thinking = null, notation } = marks
  const { open, close } = notation
  const thinks = thinking === 'on'
  const tags = [open, close, RESULT_OPEN, RESULT_CLOSE, ...(thinks ? [THOUGHT_OPEN, THOUGHT_CLOSE] : [])]
  const spoken = (message: string): string => (thinks ? message.slice(thoughtsEnd(message)) : message)
  const next: Piece = { markup: `${turnEnd}\n${assistant}` }

  const between = (text: string): string => {
    const spellsTag = tags.some((tag) => text.includes(tag))
    return `${open}\n${spellsTag ? escaped(text) : text}\n${close}`
  }
  const writeCall = (called: string, args: JsonObject): string => between(notation.write(called, args))
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
    parseCalls: (message) => parseCalls(spoken(message), notation),
    argumentSpans(message) {
      const from = message.length - spoken(message).length
      return argumentSpans(message.slice(from), notation).map(([start, end]) => [from + start, from + end])
    },
    prose: (message) => prose(spoken(message), notation),
    writeCall,
    writeCalls: notation.writeAll ? (calls) => between(notation.writeAll!(calls)) : null,
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

function parseCalls(message: string, { open, close, read }: CallNotation): ParsedCall[] {
  const [, ...blocks] = message.split(open)
  return blocks.flatMap((block): readonly ParsedCall[] => {
    const end = block.indexOf(close)
    const raw = end < 0 ? block : block.slice(0, end)
    return (end < 0 ? undefined : read(raw)) ?? [{ malformed: true, raw: open + raw }]
  })
}

function prose(message: string, { open, close, read }: CallNotation): string {
  const [before, ...blocks] = message.split(open)
  const rest = blocks.map((block) => {
    const end = block.indexOf(close)
    const isReadable = end >= 0 && read(block.slice(0, end)) !== undefined
    return isReadable ? block.slice(end + close.length) : open + block
  })
  return [before, ...rest].join('')
}

/** Returns the ranges of arguments in each block, readable or not. */
function argumentSpans(message: string, { open, close, spans }: CallNotation): Span[] {
  const [before, ...blocks] = message.split(open)
  let from = before!.length
  return blocks.flatMap((block) => {
    const start = from + open.length
    from = start + block.length
    const end = block.indexOf(close)
    return spans(end < 0 ? block : block.slice(0, end)).map(([low, high]): Span => [start + low, start + high])
  })
}

/** Escapes every `<` of a JSON text, which then contains no tag. */
const escaped = (json: string): string => json.replaceAll('<', '\\u003c')
