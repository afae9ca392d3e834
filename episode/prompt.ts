import { LRUCache } from 'lru-cache'
import type { Token, Tokenizer } from '../engine/types.js'
import type { OfferedTool } from '../servers/kernel/index.js'
import { createChatTemplate } from './chat-template.js'
import { escapePayload } from './dialect.js'
import { EpisodeError } from './errors.js'

/** Turns text of the conversation into token ids. The one place that knows the framing between messages. */
export interface PromptRenderer {
  /**
   * The first prompt: the model's own chat template over the toolset, the system message if there is one, and the first
   * user turn.
   * @throws EpisodeError `reserved_tag`, `bad_template`
   */
  firstPrompt(tools: readonly OfferedTool[], userTurn: string, system?: string): Token[]
  /** What the environment writes after a sampled turn: the tool responses, then the assistant's header. */
  toolResponses(payloads: readonly string[]): Token[]
  /** What the environment writes after a sampled turn: the next user turn, then the assistant's header. */
  userTurn(text: string): Token[]
}

/** Tool results and user turns whose tokens are kept, in characters of them all. */
const KEPT_CHARS = 2 ** 18

const USER_HEADER = '\n<|im_start|>user\n'
const TURN_END = '<|im_end|>\n<|im_start|>assistant\n'

/** @throws EpisodeError `bad_template` when the model's chat template cannot be read */
export function createPromptRenderer(tokenizer: Tokenizer): PromptRenderer {
  const template = createChatTemplate(tokenizer.chatTemplate)
  const glue = (text: string): Token[] => tokenizer.tokenize(text, true)
  const userHeader = glue(USER_HEADER)
  const turnEnd = glue(TURN_END)
  const responseStart = glue('<tool_response>\n')
  const responseEnd = glue('\n</tool_response>')
  const newline = glue('\n')
  /** Tools that were found clean: checking them is the dearest part of a prompt, and a run has a few dozen. */
  const checked = new Set<string>()

  /** Rollouts of one group hear the same results and the same user again and again. */
  const heard = new LRUCache<string, readonly Token[]>({
    maxSize: KEPT_CHARS,
    sizeCalculation: (_, text) => text.length + 1,
  })
  /** Tokens of text in which no control token is recognised. */
  const plain = (text: string): readonly Token[] => {
    let tokens = heard.get(text)
    if (!tokens) {
      tokens = tokenizer.tokenize(text, false)
      heard.set(text, tokens)
    }
    return tokens
  }

  const refuseTags = (text: string): string => {
    const tag = tokenizer.reservedTags.find((reserved) => text.includes(reserved))
    if (tag !== undefined) throw new EpisodeError('reserved_tag', `the text holds ${tag}: ${text.slice(0, 80)}`)
    return text
  }

  /** What goes through the template is tokenised with control tokens recognised, so it must not spell one either. */
  const refuseControls = (text: string): string => {
    const unrecognised = tokenizer.tokenize(text, false)
    const recognised = glue(text)
    if (unrecognised.length !== recognised.length || unrecognised.some((token, i) => token !== recognised[i])) {
      throw new EpisodeError('reserved_tag', `the text holds a control token: ${text.slice(0, 80)}`)
    }
    return refuseTags(text)
  }

  return {
    firstPrompt(tools, userTurn, system) {
      for (const text of tools.map((tool) => JSON.stringify(tool))) {
        if (checked.has(text)) continue
        refuseControls(text)
        checked.add(text)
      }
      const input = {
        messages: [
          ...(system === undefined ? [] : [{ role: 'system', content: refuseControls(system) }]),
          { role: 'user', content: refuseControls(userTurn) },
        ],
        tools: tools.map(({ name, description, inputSchema }) => ({
          type: 'function',
          function: { name, description, parameters: inputSchema },
        })),
        add_generation_prompt: true,
      }
      return glue(template.render(input))
    },
    toolResponses(payloads) {
      const blocks = payloads.flatMap((payload, i) => [
        ...(i === 0 ? [] : newline),
        ...responseStart,
        ...plain(escapePayload(payload)),
        ...responseEnd,
      ])
      return [...userHeader, ...blocks, ...turnEnd]
    },
    userTurn(text) {
      return [...userHeader, ...plain(refuseTags(text)), ...turnEnd]
    },
  }
}
