import { CodedError } from '../../errors/index.js'
/**
 * - `bad_options`: an option or the server's address makes no sense
 * - `unreachable`: the server does not answer, or not in its protocol
 * - `unauthorised`: the server does not accept the API key
 * - `no_model`: the server has no model, or not the one that was asked for
 * - `bad_model_file`: the GGUF cannot be loaded or has no chat template
 * - `cache_failed`: the cache cannot be read or written
 * - `closed`: the teacher was closed
 */
export type TeacherErrorCode =
  | 'bad_options'
  | 'unreachable'
  | 'unauthorised'
  | 'no_model'
  | 'bad_model_file'
  | 'cache_failed'
  | 'closed'

/** The teacher cannot work at all. What goes wrong with one example is a `Problem` instead. */
export class TeacherError extends CodedError<TeacherErrorCode> {
  constructor(code: TeacherErrorCode, detail: string, options?: ErrorOptions) {
    super(code, detail, options)
    this.message = detail
  }
}

/** Why a request brought no reply. */
export const FAILURES = [
  /** No connection, or it broke before the reply was whole. */
  'connection',
  'timeout',
  /** HTTP 429. */
  'rate_limited',
  /** HTTP 5xx, 408, 409 and 425. */
  'server_error',
  /** HTTP 401, 403 and 404: nothing that is sent again would help. */
  'forbidden',
  /** Other HTTP 4xx: this request is not accepted, nor would it be the next time. */
  'rejected',
  /** The answer is not what the protocol says. */
  'bad_protocol',
] as const
export type Failure = (typeof FAILURES)[number]

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

/** A request that brought no reply. */
export class ChatFailure extends Error {
  override readonly name = 'ChatFailure'
  constructor(
    readonly kind: Failure,
    message: string,
    /** The pause that the server asked for, in milliseconds. */
    readonly retryAfterMs?: number,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}
