/**
 * A failure that belongs to the world: a real precondition did not hold. Reaches the policy as an MCP tool error. It is
 * thrown but no `Error`: policies fail often, and the stack trace, which nobody reads, took as long as the rest of the call.
 */
export class DomainFailure {
  constructor(
    readonly code: string,
    readonly message: string,
  ) {}
}

/** Why a session does not execute a call; like a domain failure, it reaches the policy as a tool error. */
export type CallRefusalCode = 'unknown_tool' | 'invalid_arguments'

/** A world that breaks its own declaration (bad seed row, output that does not fit its schema). Always the author's bug. */
export class EnvironmentDefect extends Error {
  override readonly name = 'WorldDefect'
  constructor(
    readonly environment: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(`${environment}: ${message}`, options)
  }
}
