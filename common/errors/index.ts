export { countOf } from './count-of.js'

/**
 * Base class of the errors of all packages. Programs distinguish errors by the stable `code`. The message for people starts with the code
 * and continues with `detail`: what failed, why, and what to do.
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
