import { CodedError } from '../../common/errors/index.js'

/**
 * - `bad_options`: an option or the server's address is invalid
 * - `unreachable`: the server does not answer, or not in its protocol
 * - `unauthorised`: the server does not accept the API key
 * - `no_model`: the server has no model, or not the requested one
 * - `bad_model_file`: the GGUF cannot be loaded or has no chat template
 */
export type ChatErrorCode = 'bad_options' | 'unreachable' | 'unauthorised' | 'no_model' | 'bad_model_file'

/** Error of an unusable language model. The failure of one request is a `ChatFailure` instead. */
export class ChatError extends CodedError<ChatErrorCode> {
  constructor(code: ChatErrorCode, detail: string, options?: ErrorOptions) {
    super(code, detail, options)
    this.message = detail
  }
}

/** Kinds of failed requests. */
export const FAILURES = [
  /** No connection, or an incomplete reply. */
  'connection',
  'timeout',
  /** HTTP 429. */
  'rate_limited',
  /** HTTP 5xx, 408, 409 and 425. */
  'server_error',
  /** HTTP 401, 403 and 404: no request will succeed. */
  'forbidden',
  /** Other HTTP 4xx: a retry of this request will not succeed. */
  'rejected',
  /** The answer violates the protocol. */
  'bad_protocol',
] as const
export type Failure = (typeof FAILURES)[number]

/** A request without a reply. */
export class ChatFailure extends Error {
  override readonly name = 'ChatFailure'
  constructor(
    readonly kind: Failure,
    message: string,
    /** Milliseconds that the server asks to wait. */
    readonly retryAfterMs?: number,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}
