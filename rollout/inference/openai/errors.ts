import { EngineError } from '../../engine/index.js'
import { ConversationError } from '../errors.js'

type ErrorType = 'invalid_request_error' | 'authentication_error' | 'rate_limit_error' | 'server_error'

/** An error in the form of OpenAI's API: `{"error": {message, type, param, code}}`. */
export class ApiError extends Error {
  constructor(
    readonly status: 400 | 401 | 403 | 404 | 413 | 429 | 500 | 503,
    readonly code: string,
    message: string,
    readonly param: string | null = null,
  ) {
    super(message)
  }

  get body(): object {
    return { error: { message: this.message, type: typeOf(this.status), param: this.param, code: this.code } }
  }
}

function typeOf(status: ApiError['status']): ErrorType {
  if (status === 401) return 'authentication_error'
  if (status === 429) return 'rate_limit_error'
  return status >= 500 ? 'server_error' : 'invalid_request_error'
}

/** Creates the error of an unsupported value. */
export const unsupported = (param: string, detail: string): ApiError =>
  new ApiError(400, 'unsupported_value', `${param}: ${detail}`, param)

/**
 * Converts an error of answering a request to the API's form.
 * @param param  the request's field with the conversation
 */
export function toApiError(error: unknown, param: string): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof ConversationError) {
    const code = error.code === 'context_full' ? 'context_length_exceeded' : error.code
    return new ApiError(400, code, error.detail, error.code === 'not_written' ? null : param)
  }
  if (error instanceof EngineError) return new ApiError(500, error.code, error.detail)
  return new ApiError(500, 'internal', error instanceof Error ? error.message : String(error))
}
