import type { TokenSource } from '../engine/types.js'
import type { Dialect } from './dialect.js'
import type { Stage } from './stage.js'
import type { Task } from './task.js'

/** What a teacher says when it has made all the calls that a user turn asked for. */
export const CLOSING = 'Done.'

/** The assistant messages of a demonstration that follows the ground truth: one call per message, then the closing words. */
export function groundTruthScript(
  task: Pick<Task, 'turns' | 'groundTruth'>,
  dialect: Pick<Dialect, 'writeCall'>,
): string[] {
  return task.turns.flatMap((_, turn) => [
    ...task.groundTruth
      .filter((call) => call.turn === turn)
      .map((call) => dialect.writeCall(call.name, call.arguments)),
    CLOSING,
  ])
}

/**
 * A token source that says what a script says, message by message, and closes when the script is over: with it the
 * episode driver writes supervised data in exactly the form that rollouts have. Log-probabilities are zero: nothing was
 * sampled.
 */
export function createTeacherSource(
  script: readonly string[],
  { tokenizer, dialect }: Pick<Stage, 'tokenizer' | 'dialect'>,
): TokenSource {
  const messages = [...script]
  const endOfTurn = tokenizer.tokenize(dialect.turnEnd, true)
  return {
    async next() {
      const tokens = [...tokenizer.tokenize(messages.shift() ?? CLOSING, true), ...endOfTurn]
      return { tokens, logprobs: tokens.map(() => 0), stop: 'end' }
    },
    async close() {},
  }
}
