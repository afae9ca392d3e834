import { createHash } from 'node:crypto'
import type { Token } from '../../rollout/engine/index.js'

/** Rollouts of several turns, the same for every measured program. */

const PROMPT_TOKENS = 160
/** Tokens that all prompts share, like the descriptions of tools. */
const COMMON_TOKENS = 60
const TURNS = { least: 2, most: 6 }
/** Largest number of sampled tokens in a turn. */
const SAID_TOKENS = { least: 8, most: 40 }
/** Tokens of a tool's result. */
const RESULT_TOKENS = { least: 8, most: 60 }

export interface PlannedTurn {
  /** Tokens that are fed before the turn: the tool's result. */
  readonly feed: readonly Token[]
  readonly seed: number
  readonly maxTokens: number
}

export interface PlannedRollout {
  readonly prompt: readonly Token[]
  readonly turns: readonly PlannedTurn[]
}

/** Largest number of tokens of a rollout. */
export const CONTEXT_TOKENS = PROMPT_TOKENS + TURNS.most * (SAID_TOKENS.most + RESULT_TOKENS.most)

/** Returns a number that depends on the names only. */
const drawn = (
  { least, most }: { readonly least: number; readonly most: number },
  ...names: readonly unknown[]
): number => least + (createHash('sha256').update(names.join(' ')).digest().readUInt32LE() % (most - least + 1))

/** Token ids that are plain text in every vocabulary of the fixtures. */
const TEXT = { least: 0, most: 255 }

export function planGroup(group: number, rollouts: number): PlannedRollout[] {
  const prompt = Array.from({ length: PROMPT_TOKENS }, (_, i) =>
    drawn(TEXT, 'prompt', i < COMMON_TOKENS ? '' : group, i),
  )
  return Array.from({ length: rollouts }, (_, rollout) => ({
    prompt,
    turns: Array.from({ length: drawn(TURNS, 'turns', group, rollout) }, (_, turn) => {
      const length = turn === 0 ? 0 : drawn(RESULT_TOKENS, 'result', group, rollout, turn)
      return {
        feed: Array.from({ length }, (_, i) => drawn(TEXT, 'fed', group, rollout, turn, i)),
        seed: drawn({ least: 0, most: 2 ** 31 }, 'seed', group, rollout, turn),
        maxTokens: drawn(SAID_TOKENS, 'said', group, rollout, turn),
      }
    }),
  }))
}
