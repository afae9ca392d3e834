/** A failure that belongs to the world: a real precondition did not hold. Reaches the policy as an MCP tool error. */
export class DomainError extends Error {
  override readonly name = 'DomainError'
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message)
  }
}

/** Why a session does not execute a call; like a domain failure, it reaches the policy as a tool error. */
export type CallRefusalCode = 'unknown_tool' | 'invalid_arguments'

/** A world that breaks its own declaration (bad seed row, output that does not fit its schema). Always the author's bug. */
export class WorldDefect extends Error {
  override readonly name = 'WorldDefect'
  constructor(
    readonly server: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(`${server}: ${message}`, options)
  }
}
