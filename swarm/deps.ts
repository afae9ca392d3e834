import type { RefusalCode, RefusalVerdict } from '../proto/index.js'

/** The part of a pino logger that the swarm uses. */
export interface SwarmLogger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

export const silentLogger: SwarmLogger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Input of a peer that was turned down: for counters, and for the judge of repeated offenders. */
export interface RefusalEvent {
  readonly peer: string
  readonly code: RefusalCode
  readonly verdict: RefusalVerdict
  readonly detail: string
  /** Stream protocol or gossip topic. */
  readonly protocol: string
}
export type OnRefusal = (event: RefusalEvent) => void
