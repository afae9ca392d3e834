import { QUESTION_LIMITS } from './questions.js'
import type { Task } from './task.js'
import type { UnderstoodMessage } from './understood-message.js'

/** Where a scripted user is in a task. */
export interface UserState {
  /** Index of the scripted turn that was said last; as many as there are turns when nothing more comes. */
  readonly turn: number
  /** How often the user has asked back since then. */
  readonly pleas: number
}

export const INITIAL_USER_STATE: UserState = { turn: 0, pleas: 0 }

/** What a user says who was not asked for what is missing, one after the other. None of it says what that is. */
const PLEAS = ['Sorry, which detail do you need?', 'I do not follow. Which detail do you need from me?'] as const

export interface UserReply {
  readonly state: UserState
  /** Whether the assistant's words were an answer to what the user had said: not where a question was due and another thing came. */
  readonly isAnswer: boolean
  /** What the user says next; `undefined` when that is nothing. */
  readonly says: string | undefined
}

/**
 * What the user of a task says to a message without calls. A scripted turn comes whatever was said, unless the message had to ask for
 * something: then it comes when that was asked for, and a user who was asked for nothing of the kind asks back, and at last leaves.
 * @param understood  what was made of the message; null where it had to ask for nothing
 */
export function replyOf(
  { turns }: Pick<Task, 'turns'>,
  { turn, pleas }: UserState,
  understood: UnderstoodMessage | null,
): UserReply {
  if (understood && !understood.asked) {
    if (pleas >= QUESTION_LIMITS.pleas)
      return { state: { turn: turns.length, pleas: 0 }, isAnswer: false, says: undefined }
    return { state: { turn, pleas: pleas + 1 }, isAnswer: false, says: PLEAS[pleas] }
  }
  return { state: { turn: turn + 1, pleas: 0 }, isAnswer: true, says: turns[turn + 1] }
}
