/**
 * A failure inside the environment: a precondition of the call is false. The policy receives it as an MCP tool error. It is thrown, but is not an
 * `Error`: calls fail often, and making the unused stack trace took as long as the rest of the call.
 */
export class DomainFailure {
  constructor(
    readonly code: string,
    readonly message: string,
  ) {}
}

/** Reason why a session does not execute a call. The policy receives it as a tool error, like a domain failure. */
export type CallRefusalCode = 'unknown_tool' | 'invalid_arguments'

/** An environment contradicts its own declaration, for example by a bad seed row or an output that does not fit its schema: a bug of its author. */
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
