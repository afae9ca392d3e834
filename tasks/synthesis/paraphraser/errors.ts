import { CodedError } from '../../../common/errors/index.js'
import type { Failure } from '../../../rollout/chat/index.js'

/**
 * - `bad_options`: a limit or the budget is out of range
 * - `cache_failed`: the cache cannot be read or written
 * - `closed`: the paraphraser was closed
 */
export type ParaphraserErrorCode = 'bad_options' | 'cache_failed' | 'closed'

/** The paraphraser cannot work although its language model is available. A `Problem` describes a failure with one example. */
export class ParaphraserError extends CodedError<ParaphraserErrorCode> {
  constructor(code: ParaphraserErrorCode, detail: string, options?: ErrorOptions) {
    super(code, detail, options)
    this.message = detail
  }
}

/** A reply has no usable texts. */
type ReplyObjection = 'refused' | 'truncated' | 'not_json' | 'wrong_shape' | 'wrong_turns'
/** A text has no proper form. */
type FormObjection = 'odd_characters' | 'markup' | 'out_of_character' | 'too_short' | 'too_long' | 'unchanged' | 'echo'
/** A text leaves out or changes what the draft says. */
type LossObjection = 'missing_phrase' | 'reordered' | 'turned_around' | 'inverted' | 'no_question' | 'other_question'
/** A text says what its speaker does not know, or does not say yet. */
type ExcessObjection = 'withheld_value' | 'internal_name' | 'invented'

/** Reasons to reject a reply. `untraceable`: the task could not be made with its texts. */
export type Objection = ReplyObjection | FormObjection | LossObjection | ExcessObjection | 'untraceable'

/** `budget`: the run's requests or tokens are used up. `down`: too many requests failed in a row. */
export type ProblemKind = Failure | Objection | 'budget' | 'down'

/** Problem during the rephrasing of an example. */
export interface Problem {
  readonly kind: ProblemKind
  /** Sentence for people and for the model's next attempt, at most a few hundred characters. */
  readonly detail: string
}
