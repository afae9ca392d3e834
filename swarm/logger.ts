import pino, { type DestinationStream, type Logger } from 'pino'

/** The part of a pino logger that the network's code uses. */
export interface SwarmLogger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  /** The same with fields in every line: which part of the program speaks. */
  child(fields: { readonly part: string }): SwarmLogger
}

export const silentLogger: SwarmLogger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLogger,
}

/**
 * The programs' logger: one JSON object per line, on stderr unless said otherwise. An error is told with its message and
 * causes, which are no fields of their own that would be printed by themselves.
 */
export function createStderrLogger(level: string, stream: DestinationStream = pino.destination(2)): Logger {
  return pino({ level, serializers: { error: pino.stdSerializers.errWithCause } }, stream)
}
