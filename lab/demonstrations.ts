import type { Tokenizer } from '../rollout/engine/types.js'
import {
  createEpisodeRuntime,
  type EpisodeLimits,
  type EpisodeRuntime,
  playReference,
  type Rollout,
  type Task,
} from '../rollout/episode/index.js'
import { PAPER } from '../rollout/reward/index.js'
import type { Environment, SeedStateCache } from '../servers/kernel/index.js'

/** Limits for demonstrations. The limits of training rollouts would truncate some demonstrations. */
const LIMITS: EpisodeLimits = { maxTurnTokens: 4096, maxRolloutTokens: 16_384, maxAssistantTurns: 40, maxCalls: 40 }

/** Plays the reference solutions of tasks as episodes, so that supervised data has the exact form of rollouts. */
export async function* demonstrations(
  tasks: Iterable<Task>,
  environments: readonly Environment[],
  seedStates: SeedStateCache,
  { tokenizer, toolCallFormat }: Pick<EpisodeRuntime, 'tokenizer' | 'toolCallFormat'>,
): AsyncGenerator<Rollout> {
  const runtime = createEpisodeRuntime(environments, tokenizer, { toolCallFormat, reward: PAPER }, seedStates)
  for (const task of tasks) yield await playReference(task, runtime, LIMITS, new AbortController().signal)
}

/**
 * Returns a tokenizer whose tokens are Unicode code points, to write the corpus for the training of a real tokenizer.
 */
export function codePointTokenizer(chatTemplate: string): Tokenizer {
  return {
    vocabularySize: 0x110000,
    chatTemplate,
    reservedTags: [],
    tokenize: (text) => Array.from(text.normalize('NFC'), (character) => character.codePointAt(0)!),
    detokenize: (tokens) => tokens.map((token) => String.fromCodePoint(token)).join(''),
    isEndOfGeneration: () => false,
    async close() {},
  }
}
