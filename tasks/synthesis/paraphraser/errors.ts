import { CodedError } from '../../../common/errors/index.js'
import type { Failure } from '../../../rollout/chat/index.js'

/**
 * - `bad_options`: a limit or the budget makes no sense
 * - `cache_failed`: the cache cannot be read or written
 * - `closed`: the teacher was closed
 */
export type ParaphraserErrorCode = 'bad_options' | 'cache_failed' | 'closed'

/** The teacher cannot work, though its language model is there. What goes wrong with one example is a `Problem` instead. */
export class ParaphraserError extends CodedError<ParaphraserErrorCode> {
  constructor(code: ParaphraserErrorCode, detail: string, options?: ErrorOptions) {
    super(code, detail, options)
    this.message = detail
  }
}

/** Why a reply was not taken. */
export const OBJECTIONS = [
  'refused',
  'truncated',
  'not_json',
  'wrong_shape',
  'wrong_turns',
  'odd_characters',
  'markup',
  'out_of_character',
  'too_short',
  'too_long',
  'unchanged',
  'echo',
  'missing_phrase',
  'reordered',
  'turned_around',
  'inverted',
  'withheld_value',
  'internal_name',
  'invented',
  'no_question',
  'other_question',
  'untraceable',
] as const
export type Objection = (typeof OBJECTIONS)[number]

/** `budget`: the run's requests or tokens are used up. `down`: too many requests failed in a row. */
export type ProblemKind = Failure | Objection | 'budget' | 'down'

/** One thing that went wrong while an example was rephrased. */
export interface Problem {
  readonly kind: ProblemKind
  /** For people, and for the teacher's next try: one sentence, at most a few hundred characters. */
  readonly detail: string
}
