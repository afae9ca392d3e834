import { QUESTION_LIMITS } from './questions.js'
import type { Task } from './task.js'
import type { UnderstoodMessage } from './understood-message.js'

/** The state of a scripted user in a task. */
export interface UserState {
  /** Index of the last scripted turn; equal to the number of turns when the script is over. */
  readonly turn: number
  /** Number of times that the user has asked back since that turn. */
  readonly pleas: number
}

export const INITIAL_USER_STATE: UserState = { turn: 0, pleas: 0 }

/** The user's replies to messages that do not ask for the missing information, in order. They do not name it. */
const PLEAS = ['Sorry, which detail do you need?', 'I do not follow. Which detail do you need from me?'] as const

export interface UserReply {
  readonly state: UserState
  /** Whether the message answers the user's turn. It does not if a question was due and another message was sent. */
  readonly isAnswer: boolean
  /** The user's next turn; `undefined`: the script is over. */
  readonly says: string | undefined
}

/**
 * Returns the user's reply to a message without calls. The next scripted turn follows any message, unless the message had to ask for
 * something. Then the next turn follows only a message that asks for it; otherwise the user asks back, and finally leaves.
 * @param understood  interpretation of the message; null if the message had to ask for nothing
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
