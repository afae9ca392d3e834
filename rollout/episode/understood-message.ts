import { z } from 'zod'
import { asksFor, QUESTION_LIMITS } from './questions.js'
import type { Task } from './task.js'

/** Bounds of what a record says of one message. */
const RECORD_LIMITS = {
  /** Characters of a name: a server names its models in 300 at most, a model file has its hash too. */
  nameChars: 400,
  /** One for each time a model was asked. */
  problems: 8,
} as const

/** What was made of a message that had to ask for something. It is all that an episode needs of it, so a record that holds it needs no language model. */
export const understoodSchema = z.object({
  /** The message asks for what the user has left out. */
  asked: z.boolean(),
  /** Who decided so: `RULES`, or the name of a language model. */
  by: z.string().min(1).max(RECORD_LIMITS.nameChars),
  /** Codes of what kept a language model from deciding where the rules did in its place. */
  problems: z
    .array(z.string().regex(/^[a-z_]{1,40}$/))
    .max(RECORD_LIMITS.problems)
    .exactOptional(),
})

export type UnderstoodMessage = Readonly<z.output<typeof understoodSchema>>

/** The name of the rules of `asksFor`. */
export const RULES = 'rules'

/** A message without calls of the assistant, after a turn in which its user has left something out. */
export interface AskingMessage {
  readonly taskId: string
  /** Index of that turn. */
  readonly turn: number
  /** What the user said in it. */
  readonly said: string
  /** Words for what was left out; no value is among them. */
  readonly words: readonly string[]
  /** The message as a person reads it. */
  readonly text: string
}

/**
 * Decides whether a message asks for what its user has left out, in place of the rules. It writes nothing: whatever it makes of a message,
 * the user says the next sentence of the script, or asks back. The swarm's rollouts know the rules alone, for every judge must hear the same.
 */
export interface MessageInterpreter {
  readonly name: string
  /** @throws the signal's reason when it aborts */
  understand(message: AskingMessage, signal: AbortSignal): Promise<UnderstoodMessage>
}

/** What the rules make of a message. */
export const understoodByRules = ({ words, text }: Pick<AskingMessage, 'words' | 'text'>): UnderstoodMessage => ({
  asked: asksFor(text, words),
  by: RULES,
})

/**
 * The message in which something had to be asked for.
 * @param turn  index of the scripted turn that was said last
 * @param text  the message as a person reads it, asked for only where it matters
 * @returns  null where nothing had to be asked for
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
