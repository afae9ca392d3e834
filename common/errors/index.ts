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

/** The command line or a run configuration is wrong, so the command did nothing. Programs end with the status for wrong usage. */
export class UsageError<Code extends string = 'usage'> extends CodedError<Code> {}

/** The user or the system ended a command before its result. */
export class InterruptedError extends CodedError<'interrupted'> {
  constructor(detail = '', options?: ErrorOptions) {
    super('interrupted', detail, options)
  }
}
