import { CodedError } from '../../common/errors/index.js'

/**
 * - `bad_options`: an option or the server's address makes no sense
 * - `unreachable`: the server does not answer, or not in its protocol
 * - `unauthorised`: the server does not accept the API key
 * - `no_model`: the server has no model, or not the one that was asked for
 * - `bad_model_file`: the GGUF cannot be loaded or has no chat template
 */
export type ChatErrorCode = 'bad_options' | 'unreachable' | 'unauthorised' | 'no_model' | 'bad_model_file'

/** A language model cannot be had at all. What goes wrong with one request is a `ChatFailure` instead. */
export class ChatError extends CodedError<ChatErrorCode> {
  constructor(code: ChatErrorCode, detail: string, options?: ErrorOptions) {
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
