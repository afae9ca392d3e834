import pino, { type DestinationStream, type Logger } from 'pino'

/** The part of a pino logger that the network's code uses. */
export interface SwarmLogger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  /** Returns a logger that adds these fields to every line. */
  child(fields: { readonly part: string }): SwarmLogger
}

/** A logger that drops every line. */
export const silentLogger: SwarmLogger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLogger,
}

/**
 * Creates the programs' logger: one JSON object per line. It prints an error with its message and causes.
 * @param stream  default: stderr
 */
export function createStderrLogger(level: string, stream: DestinationStream = pino.destination(2)): Logger {
  return pino({ level, serializers: { error: pino.stdSerializers.errWithCause } }, stream)
}
