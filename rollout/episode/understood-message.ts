import { z } from 'zod'
import { asksFor, QUESTION_LIMITS } from './questions.js'
import type { Task } from './task.js'

/** Limits of the record of one message. */
const RECORD_LIMITS = {
  /** Characters of a name: a server's model names have at most 300, and a model file has its hash too. */
  nameChars: 400,
  /** Problems, one for each request to a model. */
  problems: 8,
} as const

/** Interpretation of a message that had to ask for something. An episode needs nothing else of the message, so a replay with this record needs no language model. */
export const understoodSchema = z.object({
  /** Whether the message asks for what the user left out. */
  asked: z.boolean(),
  /** The name of the decider: `RULES`, or a language model. */
  by: z.string().min(1).max(RECORD_LIMITS.nameChars),
  /** Codes of the problems because of which the rules decided instead of a language model. */
  problems: z
    .array(z.string().regex(/^[a-z_]{1,40}$/))
    .max(RECORD_LIMITS.problems)
    .exactOptional(),
})

export type UnderstoodMessage = Readonly<z.output<typeof understoodSchema>>

/** The name of the rules of `asksFor`. */
export const RULES = 'rules'

/** An assistant's message without calls, after a turn in which the user left something out. */
export interface AskingMessage {
  readonly taskId: string
  /** Index of that turn. */
  readonly turn: number
  /** The user's text of that turn. */
  readonly said: string
  /** Words for the missing information, without its value. */
  readonly words: readonly string[]
  /** The message's text for the user. */
  readonly text: string
}

/**
 * Part of a user simulator: decides, instead of the rules, whether a message asks for what its user left out. It writes no text: the user
 * continues with the script, or asks back. Rollouts of the swarm use only the rules, because every verifier must decide alike.
 */
export interface MessageInterpreter {
  readonly name: string
  /** @throws the signal's reason when it aborts */
  understand(message: AskingMessage, signal: AbortSignal): Promise<UnderstoodMessage>
}

/** Interprets a message by the rules. */
export const understoodByRules = ({ words, text }: Pick<AskingMessage, 'words' | 'text'>): UnderstoodMessage => ({
  asked: asksFor(text, words),
  by: RULES,
})

/**
 * Returns the message to interpret, if it had to ask for something.
 * @param turn  index of the last scripted turn
 * @param text  returns the message's text for the user; called only if needed
 * @returns  null if the message had to ask for nothing
 */
export function askingMessage(
  task: Pick<Task, 'id' | 'turns' | 'questions'>,
  turn: number,
  text: () => string,
): AskingMessage | null {
  const due = task.questions?.find((question) => question.turn === turn)
  if (!due) return null
  return {
    ...{ taskId: task.id, turn, said: task.turns[turn]!, words: due.words },
    text: text().slice(0, QUESTION_LIMITS.messageChars),
  }
}
