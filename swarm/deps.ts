import { setTimeout as sleep } from 'node:timers/promises'
import type { GossipEffect, RefusalCode } from '../proto/index.js'

/** The part of a pino logger that the swarm uses. */
export interface SwarmLogger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** The only source of time and of waiting: whoever replaces it replaces all of both. */
export interface Clock {
  /** Milliseconds since 1970. May jump, forwards and backwards; waiting does not follow it. */
  now(): number
  /** @throws the signal's reason when that fires first */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Fires after that time, with a `TimeoutError` as `AbortSignal.timeout` has it. */
  timeout(ms: number): AbortSignal
}

export const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(ms, signal) {
    try {
      await sleep(ms, undefined, { signal })
    } catch (why) {
      signal?.throwIfAborted()
      throw why
    }
  },
  timeout: (ms) => AbortSignal.timeout(ms),
}

export const silentLogger: SwarmLogger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Input of a peer that was turned down: for counters, and for the judge of repeated offenders. */
export interface RefusalEvent {
  readonly peer: string
  readonly code: RefusalCode
  readonly effect: GossipEffect
  readonly detail: string
  /** Stream protocol or gossip topic. */
  readonly protocol: string
}
export type OnRefusal = (event: RefusalEvent) => void
