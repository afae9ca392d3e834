import pino, { type DestinationStream, type Logger } from 'pino'

/**
 * The programs' logger: one JSON object per line, on stderr unless said otherwise. An error is told with its message and
 * causes, which are no fields of their own that would be printed by themselves.
 */
export function createStderrLogger(level: string, stream: DestinationStream = pino.destination(2)): Logger {
  return pino({ level, serializers: { error: pino.stdSerializers.errWithCause } }, stream)
}
