import { LRUCache } from 'lru-cache'
import type { OfferedTool } from '../../servers/kernel/index.js'
import type { Token, Tokenizer } from '../engine/types.js'
import { createChatTemplate } from './chat-template.js'
import { EpisodeError } from './errors.js'
import type { Piece, ToolCallFormat } from './tool-call-format.js'

/** Turns what a dialect says into token ids, and keeps foreign text from saying anything in it. */
export interface PromptRenderer {
  /**
   * The first prompt: the model's own chat template over the toolset, the system message if there is one, and the first
   * user turn.
   * @throws EpisodeError `reserved_tag`, `bad_template`
   */
  firstPrompt(tools: readonly OfferedTool[], userTurn: string, system?: string): Token[]
  /** What the environment writes after a sampled turn: the results of its calls, then the assistant's header. */
  toolResults(payloads: readonly string[]): Token[]
  /**
   * What the environment writes after a sampled turn: the next user turn, then the assistant's header.
   * @throws EpisodeError `reserved_tag`
   */
  userTurn(text: string): Token[]
  /**
   * A turn that an assistant has taken, with the token that ends it: what a model has said is its own, so markup of calls in it counts.
   * @throws EpisodeError `reserved_tag` for a control token
   */
  assistantTurn(message: string): Token[]
}

/** Pieces of text whose tokens are kept, in characters of them all. */
const KEPT_CHARS = 2 ** 18

/** @throws EpisodeError `bad_template` when the model's chat template cannot be read */
export function createPromptRenderer(tokenizer: Tokenizer, toolCallFormat: ToolCallFormat): PromptRenderer {
  const template = createChatTemplate(tokenizer.chatTemplate)
  const fitting = fittingPrompts(tokenizer.chatTemplate, toolCallFormat)
  const reserved = new Set([...tokenizer.reservedTags, ...toolCallFormat.tags])
  /** Tools that were found clean: checking them is the dearest part of a prompt, and a run has a few dozen. */
  const checked = new LRUCache<string, true>({ maxSize: KEPT_CHARS, sizeCalculation: (_, json) => json.length })

  /** Rollouts of one group hear the same results and the same user again and again. */
  const markup = keptTokens(tokenizer, true)
  const text = keptTokens(tokenizer, false)
  const tokensOf = (pieces: readonly Piece[]): Token[] =>
    pieces.flatMap((piece) => ('markup' in piece ? markup(piece.markup) : text(piece.text)))

  const refuseTags = (foreign: string): string => {
    for (const tag of reserved) {
      if (foreign.includes(tag))
        throw new EpisodeError('reserved_tag', `the text holds ${tag}: ${foreign.slice(0, 80)}`)
    }
    return foreign
  }

  /** What goes through the template is tokenised with control tokens recognised, so it must not spell one either. */
  const refuseControls = (foreign: string): string => {
    const unrecognised = tokenizer.tokenize(foreign, false)
    const recognised = tokenizer.tokenize(foreign, true)
    if (unrecognised.length !== recognised.length || unrecognised.some((token, i) => token !== recognised[i])) {
      throw new EpisodeError('reserved_tag', `the text holds a control token: ${foreign.slice(0, 80)}`)
    }
    return foreign
  }

  return {
    firstPrompt(tools, userTurn, system) {
      for (const json of tools.map((tool) => JSON.stringify(tool))) {
        if (checked.has(json)) continue
        refuseControls(refuseTags(json))
        checked.set(json, true)
      }
      for (const foreign of [system ?? '', userTurn]) refuseControls(refuseTags(foreign))
      return tokenizer.tokenize(
        fitting(template.render(toolCallFormat.templateInput({ tools, system, userTurn }))),
        true,
      )
    },
    toolResults: (payloads) => tokensOf(toolCallFormat.toolResults(payloads)),
    assistantTurn(message) {
      refuseControls(message)
      return tokensOf([{ text: message }, { markup: toolCallFormat.turnEnd }])
    },
    userTurn: (foreign) => tokensOf(toolCallFormat.userTurn(refuseTags(foreign))),
  }
}

/** Prompts of a template and a dialect that are of the same model: a conversation would begin in one way and go on in another. */
function fittingPrompts(source: string, { name, opening, thinking }: ToolCallFormat): (prompt: string) => string {
  const hasSwitch = source.includes('enable_thinking')
  return (prompt) => {
    if (thinking !== null && !hasSwitch)
      throw new EpisodeError('bad_template', `it cannot be told whether to think, and the dialect ${name} does so`)
    if (!prompt.endsWith(opening)) {
      const [its, ours] = [prompt.slice(-opening.length), opening].map((text) => JSON.stringify(text))
      throw new EpisodeError('bad_template', `its prompts end with ${its}, those of the dialect ${name} with ${ours}`)
    }
    return prompt
  }
}

/** @param special  whether control tokens are recognised */
function keptTokens(tokenizer: Tokenizer, special: boolean): (text: string) => readonly Token[] {
  const kept = new LRUCache<string, readonly Token[]>({
    maxSize: KEPT_CHARS,
    sizeCalculation: (_, text) => text.length + 1,
  })
  return (text) => {
    let tokens = kept.get(text)
    if (!tokens) {
      tokens = tokenizer.tokenize(text, special)
      kept.set(text, tokens)
    }
    return tokens
  }
}
