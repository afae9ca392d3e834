import type { Tokenizer, TokenSource } from '../engine/types.js'
import { writeCall } from './dialect.js'
import type { Task } from './task.js'

/** What a teacher says when it has made all the calls that a user turn asked for. */
export const CLOSING = 'Done.'

/** One assistant turn of a scripted demonstration. */
export type ScriptedTurn = readonly {
  readonly name: string
  readonly arguments: Task['groundTruth'][number]['arguments']
}[]

/** The turns of a demonstration that follows the ground truth: one call per turn, then the closing words. */
export function groundTruthScript(task: Task): ScriptedTurn[] {
  return task.turns.flatMap((_, turn) => [
    ...task.groundTruth.filter((call) => call.turn === turn).map((call) => [call]),
    [],
  ])
}

/**
 * A token source that says what a script says: with it the episode driver writes supervised data in exactly the form
 * that rollouts have. Log-probabilities are zero: nothing was sampled.
 */
export function createTeacherSource(script: readonly ScriptedTurn[], tokenizer: Tokenizer): TokenSource {
  const turns = [...script]
  const endOfTurn = tokenizer.tokenize('<|im_end|>', true)
  return {
    async next() {
      const calls = turns.shift() ?? []
      const text = calls.length > 0 ? calls.map((call) => writeCall(call.name, call.arguments)).join('\n') : CLOSING
      const tokens = [...tokenizer.tokenize(text, true), ...endOfTurn]
      return { tokens, logprobs: tokens.map(() => 0), stop: 'end' }
    },
    async close() {},
  }
}
