import { LRUCache } from 'lru-cache'
import type { OfferedTool } from '../../servers/kernel/index.js'
import type { Token, Tokenizer } from '../engine/types.js'
import { createChatTemplate } from './chat-template.js'
import { EpisodeError } from './errors.js'
import { checkPrompt, checkThinking } from './template-check.js'
import type { Piece, ToolCallFormat } from './tool-call-format.js'

/** Renders the texts of a conversation in a tool-call format to token ids, and prevents injected markup in foreign text. */
export interface PromptRenderer {
  /**
   * Renders the first prompt: the model's chat template over the toolset, the optional system message, and the first user
   * turn.
   * @throws EpisodeError `reserved_tag`, `bad_template`
   */
  firstPrompt(tools: readonly OfferedTool[], userTurn: string, system?: string): Token[]
  /** Renders the tokens after a sampled turn with calls: their results, then the assistant's header. */
  toolResults(payloads: readonly string[]): Token[]
  /**
   * Renders the tokens after a sampled turn without calls: the next user turn, then the assistant's header.
   * @throws EpisodeError `reserved_tag`
   */
  userTurn(text: string): Token[]
  /**
   * Renders an earlier turn of the assistant, with the token that ends it. Its markup of calls is kept.
   * @throws EpisodeError `reserved_tag` for a control token
   */
  assistantTurn(message: string): Token[]
}

/** Capacity of the token caches, in characters of all texts. */
const KEPT_CHARS = 2 ** 18

/** Creates a renderer. @throws EpisodeError `bad_template` if the model's chat template cannot be parsed */
export function createPromptRenderer(tokenizer: Tokenizer, toolCallFormat: ToolCallFormat): PromptRenderer {
  const template = createChatTemplate(tokenizer.chatTemplate)
  const reserved = new Set([...tokenizer.reservedTags, ...toolCallFormat.tags])
  /** Tools without markup: checking them is the most expensive part of a prompt, and a run has a few dozen. */
  const checked = new LRUCache<string, true>({ maxSize: KEPT_CHARS, sizeCalculation: (_, json) => json.length })

  /** Rollouts of one group repeat the same results and user turns. */
  const markup = keptTokens(tokenizer, true)
  const text = keptTokens(tokenizer, false)
  const tokensOf = (pieces: readonly Piece[]): Token[] =>
    pieces.flatMap((piece) => ('markup' in piece ? markup(piece.markup) : text(piece.text)))

  const refuseTags = (foreign: string): string => {
    for (const tag of reserved) {
      if (foreign.includes(tag))
        throw new EpisodeError('reserved_tag', `the text contains ${tag}: ${foreign.slice(0, 80)}`)
    }
    return foreign
  }

  /** The template's output is tokenised with control tokens recognised, so foreign text in it must not contain one. */
  const refuseControls = (foreign: string): string => {
    const unrecognised = tokenizer.tokenize(foreign, false)
    const recognised = tokenizer.tokenize(foreign, true)
    if (unrecognised.length !== recognised.length || unrecognised.some((token, i) => token !== recognised[i])) {
      throw new EpisodeError('reserved_tag', `the text contains a control token: ${foreign.slice(0, 80)}`)
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
      checkThinking(tokenizer.chatTemplate, toolCallFormat)
      const prompt = template.render(toolCallFormat.templateInput({ tools, system, userTurn }))
      checkPrompt(prompt, { tools }, toolCallFormat)
      return tokenizer.tokenize(prompt, true)
    },
    toolResults: (payloads) => tokensOf(toolCallFormat.toolResults(payloads)),
    assistantTurn(message) {
      refuseControls(message)
      return tokensOf([{ text: message }, { markup: toolCallFormat.turnEnd }])
    },
    userTurn: (foreign) => tokensOf(toolCallFormat.userTurn(refuseTags(foreign))),
  }
}

/** Creates a tokenisation with a cache. @param special  whether control tokens are recognised */
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
