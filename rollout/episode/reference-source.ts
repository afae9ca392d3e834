import type { TokenSource } from '../engine/types.js'
import type { EpisodeRuntime } from './episode-runtime.js'
import type { EpisodeLimits } from './limits.js'
import { type Block, blocksOf } from './reference-blocks.js'
import type { Task } from './task.js'
import type { ToolCallFormat } from './tool-call-format.js'
import { BLOCK_LIMITS } from './tool-call-formats/call-block.js'

/** The final message of a reference solution's turn without facts or questions. */
export const CLOSING = 'Done.'

/** Returns the final message of a reference solution for a user turn: the facts and the question of that turn. */
export function closingOf({ facts = [], questions }: Pick<Task, 'facts' | 'questions'>, turn: number): string {
  const values = facts.filter((fact) => fact.turn === turn).map(({ value }) => value)
  const due = questions?.find((question) => question.turn === turn)
  if (due) return `${values.join('; ')}\nCould you tell me: ${due.words[0]}?`.trim()
  return values.length === 0 ? CLOSING : values.join('; ')
}

/** Returns the assistant messages of a reference solution: one ground-truth call per message, then the final message. */
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
 * Returns the assistant messages of a reference solution in the runtime's tool-call format. A format with several calls in a message gets
 * blocks (`reference-blocks.ts`), as far as they fit the limit of a turn.
 * @throws EpisodeError `bad_task` if a call of the ground truth fails, in a format with several calls
 */
export function referenceScript(
  task: Task,
  { tokenizer, toolCallFormat, prepare }: Pick<EpisodeRuntime, 'tokenizer' | 'toolCallFormat' | 'prepare'>,
  { maxTurnTokens }: Pick<EpisodeLimits, 'maxTurnTokens'>,
): string[] {
  const { writeCalls } = toolCallFormat
  if (!writeCalls) return groundTruthScript(task, toolCallFormat)
  const { results } = prepare(task).expected()
  const fits = (block: Block): boolean =>
    block.length <= BLOCK_LIMITS.calls && tokenizer.tokenize(writeCalls(block), true).length < maxTurnTokens
  return task.turns.flatMap((_, turn) => [
    ...blocksOf(task, results, turn, fits).map(writeCalls),
    closingOf(task, turn),
  ])
}

/**
 * Creates a token source that returns the messages of a script, one by one. With it, the episode driver writes supervised data in the form
 * of rollouts. Log-probabilities are zero, because nothing is sampled.
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
