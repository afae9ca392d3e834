import type { TokenSource } from '../engine/types.js'
import type { EpisodeRuntime } from './episode-runtime.js'
import type { Task } from './task.js'
import type { ToolCallFormat } from './tool-call-format.js'

/** What a teacher says when it has made all the calls that a user turn asked for, and has nothing to tell. */
export const CLOSING = 'Done.'

/** What a teacher says in the end of a user turn: what is to be told and asked, and no more. */
export function closingOf({ facts = [], questions }: Pick<Task, 'facts' | 'questions'>, turn: number): string {
  const values = facts.filter((fact) => fact.turn === turn).map(({ value }) => value)
  const due = questions?.find((question) => question.turn === turn)
  if (due) return `${values.join('; ')}\nCould you tell me: ${due.words[0]}?`.trim()
  return values.length === 0 ? CLOSING : values.join('; ')
}

/** The assistant messages of a demonstration that follows the ground truth: one call per message, then the closing words. */
export function groundTruthScript(
  task: Pick<Task, 'turns' | 'groundTruth' | 'facts' | 'questions'>,
  toolCallFormat: Pick<ToolCallFormat, 'writeCall'>,
): string[] {
  return task.turns.flatMap((_, turn) => [
    ...task.groundTruth
      .filter((call) => call.turn === turn)
      .map((call) => toolCallFormat.writeCall(call.name, call.arguments)),
    closingOf(task, turn),
  ])
}

/**
 * A token source that says what a script says, message by message, and closes when the script is over: with it the
 * episode driver writes supervised data in exactly the form that rollouts have. Log-probabilities are zero: nothing was
 * sampled.
 */
export function createReferenceSource(
  script: readonly string[],
  { tokenizer, toolCallFormat }: Pick<EpisodeRuntime, 'tokenizer' | 'toolCallFormat'>,
): TokenSource {
  const messages = [...script]
  const endOfTurn = tokenizer.tokenize(toolCallFormat.turnEnd, true)
  return {
    async next() {
      const tokens = [...tokenizer.tokenize(messages.shift() ?? CLOSING, true), ...endOfTurn]
      return { tokens, logprobs: tokens.map(() => 0), stop: 'end' }
    },
    async close() {},
  }
}
