import type { GossipEffect, RefusalCode } from '../proto/index.js'

/** Refused input of a peer, for counters and for penalties of repeated offences. */
export interface RefusalEvent {
  readonly peer: string
  readonly code: RefusalCode
  readonly effect: GossipEffect
  readonly detail: string
  /** Stream protocol or gossip topic. */
  readonly protocol: string
}
export type OnRefusal = (event: RefusalEvent) => void
