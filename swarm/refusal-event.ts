import type { GossipEffect, RefusalCode } from '../proto/index.js'

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
