export { countOf } from './count-of.js'

/**
 * A failure that programs tell apart by `code`, which stays the same, and people by the message, which begins with it and
 * goes on with `detail`: what, where, and what to do. The base of the errors of all rooms.
 */
export abstract class CodedError<Code extends string = string> extends Error {
  constructor(
    readonly code: Code,
    readonly detail = '',
    options?: ErrorOptions,
  ) {
    super(detail === '' ? code : `${code}: ${detail}`, options)
    this.name = new.target.name
  }
}
