import type { Tokenizer } from '../rollout/engine/types.js'
import {
  createEpisodeRuntime,
  createReferenceSource,
  type EpisodeLimits,
  type EpisodeRuntime,
  type Rollout,
  referenceScript,
  runEpisode,
  type Task,
} from '../rollout/episode/index.js'
import { PAPER } from '../rollout/reward/index.js'
import { deriveSeed, type Environment, type SeedStateCache, seededRandom } from '../servers/kernel/index.js'
import { demonstrate, type Flaws } from './demonstrate.js'

/** Demonstrators of a supervised data set: a share without errors, the others with errors. */
export interface Demonstrators {
  readonly expertShare: number
  readonly flaws: Flaws
}

/** Limits for demonstrations. The limits of training rollouts would truncate some demonstrations. */
const LIMITS: EpisodeLimits = { maxTurnTokens: 4096, maxRolloutTokens: 16_384, maxAssistantTurns: 40, maxCalls: 40 }

/**
 * Plays demonstrations of tasks as episodes, so that supervised data has the exact form of rollouts. A task and the seed determine its
 * demonstration.
 */
export async function* demonstrations(
  tasks: Iterable<Task>,
  environments: readonly Environment[],
  seedStates: SeedStateCache,
  { tokenizer, toolCallFormat }: Pick<EpisodeRuntime, 'tokenizer' | 'toolCallFormat'>,
  { expertShare, flaws }: Demonstrators,
  seed: number,
): AsyncGenerator<Rollout> {
  const runtime = createEpisodeRuntime(environments, tokenizer, { toolCallFormat, reward: PAPER }, seedStates)
  for (const task of tasks) {
    const random = seededRandom(deriveSeed('prove/demonstration/1', seed, task.id))
    const script = random.chance(expertShare)
      ? referenceScript(task, runtime, LIMITS)
      : demonstrate(task, runtime.toolCallFormat, flaws, environments, random)
    const source = createReferenceSource(script, runtime)
    yield await runEpisode(task, source, runtime, LIMITS, new AbortController().signal)
  }
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
