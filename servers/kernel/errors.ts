/**
 * A failure inside the environment: a precondition of the call is false. The policy receives it as an MCP tool error. It is thrown, but is
 * not an `Error`, because calls fail often. Making the unused stack trace took as long as the rest of the call.
 */
export class DomainFailure {
  constructor(
    readonly code: string,
    readonly message: string,
  ) {}
}

/** Reason why a session does not execute a call. The policy receives it as a tool error, like a domain failure. */
export type CallRefusalCode = 'unknown_tool' | 'invalid_arguments'

/**
 * Error of an environment that contradicts its own declaration, for example by a bad seed row or an output that does not fit its schema.
 * The cause is a bug of the environment's author.
 */
export class EnvironmentDefect extends Error {
  override readonly name = 'EnvironmentDefect'
  constructor(
    readonly environment: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(`${environment}: ${message}`, options)
  }
}
