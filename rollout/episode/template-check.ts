import { isDeepStrictEqual } from 'node:util'
import type { OfferedTool } from '../../servers/kernel/index.js'
import type { Tokenizer } from '../engine/types.js'
import type { JsonObject } from '../reward/index.js'
import { type ChatTemplate, createChatTemplate } from './chat-template.js'
import { EpisodeError } from './errors.js'
import type { Opening, ToolCallFormat } from './tool-call-format.js'
import { HERMES } from './tool-call-formats/hermes.js'
import { TOOL_CALL_FORMATS } from './tool-call-formats/index.js'

/** The conversation that every template has to write. Its words occur in no template. */
const TOOLS: readonly OfferedTool[] = [
  {
    name: 'reserve_seat',
    description: 'Reserve a seat of a flight.',
    inputSchema: {
      type: 'object',
      properties: {
        flight_code: { type: 'string', description: 'Code of the flight.' },
        row_number: { type: 'integer' },
        cabin_class: { type: 'string', enum: ['economy', 'business'] },
      },
      required: ['flight_code', 'row_number'],
    },
    readOnly: false,
  },
  {
    name: 'list_airports',
    description: 'List the airports of a country.',
    inputSchema: { type: 'object', properties: { country_name: { type: 'string' } }, required: ['country_name'] },
    readOnly: true,
  },
]
const OPENING: Opening = { tools: TOOLS, system: 'Today is Monday the 3rd.', userTurn: 'Reserve 12 in SK-4711 for me.' }
const CALL: { readonly name: string; readonly arguments: JsonObject } = {
  name: 'reserve_seat',
  arguments: { flight_code: 'SK-4711', row_number: 12 },
}
const RESULT = '{"reservation": "R-0815"}'

/** How a model's chat template writes a conversation with tools. */
export interface TemplateFindings {
  /** A difference from the format that makes no call unreadable; null: none. */
  readonly note: string | null
}

/**
 * Checks that a model's chat template writes conversations in a tool-call format. It renders a conversation with tools, a call and its
 * result. The prompt must name every tool with its parameters, and the format must read the call back.
 * @throws EpisodeError `bad_template` with the reason
 */
export function checkTemplate(source: string, format: ToolCallFormat): TemplateFindings {
  if (source.trim() === '') throw refused('there is none')
  const template = createChatTemplate(source)
  checkThinking(source, format)
  const input = format.templateInput(OPENING)
  const prompt = template.render(input)
  checkPrompt(prompt, OPENING, format)
  for (const { name, inputSchema } of TOOLS) {
    const hidden = Object.keys(inputSchema.properties as object).find((parameter) => !prompt.includes(parameter))
    if (hidden !== undefined) throw refused(`its prompts do not name the parameter ${hidden} of the tool ${name}`)
  }
  for (const [whose, text] of [
    ['system message', OPENING.system!],
    ['user message', OPENING.userTurn],
  ] as const)
    if (!prompt.includes(text)) throw refused(`its prompts do not contain the ${whose}`)
  const rest = continuation(template, input)
  const end = rest.indexOf(format.turnEnd)
  if (end < 0)
    throw refused(`its turns do not end with ${format.turnEnd}, which the tool-call format ${format.name} needs`)
  const message = rest.slice(0, end)
  if (!isDeepStrictEqual(plain(format.parseCalls(message)), [CALL])) {
    const written = message.includes(CALL.name) ? `writes a call as ${shown(message)}` : 'does not write calls of tools'
    throw refused(
      `it ${written}, and the tool-call format ${format.name} as ${shown(format.writeCall(CALL.name, CALL.arguments))}`,
    )
  }
  const after = rest.slice(end + format.turnEnd.length)
  if (!after.includes(RESULT)) throw refused('it does not write the results of calls')
  const ours = format
    .toolResults([RESULT])
    .map((piece) => ('markup' in piece ? piece.markup : piece.text))
    .join('')
  const note =
    after === ours
      ? null
      : `it writes a result as ${shown(after)}, and the tool-call format ${format.name} as ${shown(ours)}: the model has to learn this`
  return { note }
}

/** Checks a first prompt: it must name every tool, and end with the beginning of an assistant's turn. @throws EpisodeError `bad_template` */
export function checkPrompt(prompt: string, { tools }: Pick<Opening, 'tools'>, format: ToolCallFormat): void {
  const { name, opening } = format
  if (!prompt.endsWith(opening)) {
    const [its, ours] = [prompt.slice(-opening.length), opening].map((text) => JSON.stringify(text))
    throw refused(`its prompts end with ${its}, and those of the tool-call format ${name} with ${ours}`)
  }
  const hidden = tools.find((tool) => !prompt.includes(tool.name))
  if (hidden) throw refused(`its prompts do not name the tool ${hidden.name}`)
}

/** Checks that the template can turn thoughts on or off, if the format needs it. @throws EpisodeError `bad_template` */
export function checkThinking(source: string, { name, thinking }: ToolCallFormat): void {
  if (thinking !== null && !source.includes('enable_thinking'))
    throw refused(`it has no enable_thinking, which the tool-call format ${name} needs`)
}

/**
 * Checks that a model can write in a tool-call format: its chat template, and the token that ends a turn, which its vocabulary must have.
 * @throws EpisodeError `bad_template` with the reason
 */
export function checkModel(
  tokenizer: Pick<Tokenizer, 'chatTemplate' | 'tokenize' | 'isEndOfGeneration'>,
  format: ToolCallFormat,
): TemplateFindings {
  const findings = checkTemplate(tokenizer.chatTemplate, format)
  const end = tokenizer.tokenize(format.turnEnd, true)
  if (end.length !== 1 || !tokenizer.isEndOfGeneration(end[0]!))
    throw refused(`${format.turnEnd}, with which its turns end, is not a token of the vocabulary that ends a turn`)
  return findings
}

/** One tool-call format, and whether a model can write in it. */
export interface FormatFit {
  readonly name: string
  /** Null: the model can write in this format. */
  readonly problem: string | null
  readonly note: string | null
}

/** A model without a setting for thoughts has one fit. Thoughts need more tokens than a turn usually has, so "off" comes first. */
const PREFERRED = ['hermes-no-thinking', 'hermes', 'granite', 'hermes-thinking', 'code-block']

/** Returns all tool-call formats with their fit, the recommended one first. */
export function formatFits(tokenizer: Parameters<typeof checkModel>[0]): FormatFit[] {
  const rank = ({ name, problem }: FormatFit): number =>
    (problem === null ? 0 : 100) + (PREFERRED.includes(name) ? PREFERRED.indexOf(name) : PREFERRED.length)
  return [...TOOL_CALL_FORMATS.values()]
    .map((format): FormatFit => {
      try {
        return { name: format.name, problem: null, note: checkModel(tokenizer, format).note }
      } catch (error) {
        if (error instanceof EpisodeError) return { name: format.name, problem: error.detail, note: null }
        throw error
      }
    })
    .sort((a, b) => rank(a) - rank(b))
}

/**
 * Checks that a model can write in a tool-call format, for a program that is about to use both.
 * @throws EpisodeError `bad_template` with the reason, and what to do
 */
export function requireFormat(
  tokenizer: Parameters<typeof checkModel>[0],
  format: ToolCallFormat,
  modelPath: string,
): TemplateFindings {
  try {
    return checkModel(tokenizer, format)
  } catch (cause) {
    if (!(cause instanceof EpisodeError)) throw cause
    const others = formatFits(tokenizer).filter(({ problem }) => problem === null)
    const advice =
      others.length > 0
        ? `Choose a format that it fits: ${others.map(({ name }) => name).join(', ')}`
        : adviceFor(tokenizer, modelPath)
    throw new EpisodeError(
      'bad_template',
      `the chat template of ${modelPath} does not fit the tool-call format ${format.name}: ${cause.detail}. ${advice}`,
      { cause },
    )
  }
}

/** Returns the command that gives a model a chat template, for a model whose own fits no format. */
export function adviceFor(tokenizer: Parameters<typeof checkModel>[0], modelPath: string): string {
  const end = tokenizer.tokenize(HERMES.turnEnd, true)
  const hasChatMl = end.length === 1 && tokenizer.isEndOfGeneration(end[0]!)
  const template = hasChatMl ? 'compact' : 'TEMPLATE.jinja'
  const which = hasChatMl ? 'one of this project' : 'one that writes its tools and calls in such a format'
  return `Give it another chat template, ${which}: prove-coordinator base ${modelPath} --chat-template ${template} --out prepared.gguf`
}

/** Renders the call with its result, and returns the text after the first user turn. */
function continuation(template: ChatTemplate, input: Readonly<Record<string, unknown>>): string {
  const messages = input.messages as readonly object[]
  const opening = template.render({ ...input, add_generation_prompt: false })
  const id = 'call00001'
  const whole = template.render({
    ...input,
    messages: [
      ...messages,
      { role: 'assistant', content: '', tool_calls: [{ id, type: 'function', function: CALL }] },
      { role: 'tool', tool_call_id: id, name: CALL.name, content: RESULT },
    ],
  })
  if (!whole.startsWith(opening))
    throw refused('it changes the beginning of a conversation when the conversation continues')
  return whole.slice(opening.length)
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** Quotes a text for a message, shortened. */
const shown = (text: string): string => JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text)

const refused = (why: string): EpisodeError => new EpisodeError('bad_template', why)
