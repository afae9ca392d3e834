import type { Tokenizer } from '../engine/types.js'
import { createWorldCache, type ServerDefinition, type WorldCache } from '../servers/kernel/index.js'
import { createPromptRenderer, type PromptRenderer } from './prompt.js'
import type { Catalogue } from './toolset.js'

/** What an episode needs beside its task and its source of tokens; shared by all episodes of a process. */
export interface Stage {
  readonly catalogue: Catalogue
  readonly worlds: WorldCache
  readonly tokenizer: Tokenizer
  readonly renderer: PromptRenderer
}

/** A stage on which tasks of these servers can be played by the tokenizer's model. */
export function createStage(
  servers: Iterable<ServerDefinition>,
  tokenizer: Tokenizer,
  worlds: WorldCache = createWorldCache(),
): Stage {
  const catalogue = new Map([...servers].map((server) => [server.name, server]))
  return { catalogue, worlds, tokenizer, renderer: createPromptRenderer(tokenizer) }
}
