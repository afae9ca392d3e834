import { LRUCache } from 'lru-cache'
import { LIMITS } from '../proto/index.js'
import { addressBlock } from './address-block.js'
import type { Clock } from './clock.js'
import { createUploadBudget, type UploadBudget } from './upload-budget.js'

/** How well a host knows a peer. `reliable`: its work was accepted; `registered`: it asked for work; `stranger`: neither. */
export type PeerTier = 'reliable' | 'registered' | 'stranger'

/** The streams of a protocol are all in use, so that one was refused or dropped. */
export interface Crowding {
  readonly protocol: string
  readonly streams: number
  /** The block of addresses with the most streams; a peer id if its address is unknown. */
  readonly block: string
  readonly ofBlock: number
  /** Peers of that block. */
  readonly keysOfBlock: number
}

/** The rules by which all services of a host share its streams and its line among peers. */
export interface Serving {
  /** The upload limit of all services together. */
  readonly upload: UploadBudget
  /** @param rate  returns B/s, called each time; `Infinity`: no limit */
  limitUpload(rate: () => number): void
  tierOf(peer: string): PeerTier
  /** Replaces the source of tiers. By default every peer except the coordinator is a stranger. */
  knowTiers(tierOf: (peer: string) => PeerTier): void
  /** Returns the block of addresses of a connected peer, or its id if the address is unknown. */
  blockOf(peer: string): string
  /** Reports a crowding, once a second for each protocol. @param describe  called only when it is reported */
  crowded(protocol: string, describe: () => Omit<Crowding, 'protocol'>): void
  /** @returns  stops the calls */
  onCrowded(listener: (crowding: Crowding) => void): () => void
}

export interface ServingParts {
  readonly clock: Pick<Clock, 'elapsedMs' | 'sleep'>
  /** Peer id of the run's coordinator, which is always reliable. */
  readonly runId: string
  connections(peer: string): readonly { readonly address: string }[]
}

const REPORT_EVERY_MS = 1000

/** Creates rules without an upload limit. */
export function createServing({ clock, runId, connections }: ServingParts): Serving {
  let rate = (): number => Number.POSITIVE_INFINITY
  let tiers = (_: string): PeerTier => 'stranger'
  const blocks = new LRUCache<string, string>({ max: LIMITS.trackedPeers.value })
  const listeners = new Set<(crowding: Crowding) => void>()
  const reportedMs = new Map<string, number>()
  return {
    upload: createUploadBudget(clock, () => rate()),
    limitUpload(limit) {
      rate = limit
    },
    tierOf: (peer) => (peer === runId ? 'reliable' : tiers(peer)),
    knowTiers(tierOf) {
      tiers = tierOf
    },
    blockOf(peer) {
      const address = connections(peer)[0]?.address
      if (address === undefined) return peer
      const known = blocks.get(address)
      if (known !== undefined) return known
      const block = addressBlock(address) ?? peer
      blocks.set(address, block)
      return block
    },
    crowded(protocol, describe) {
      const nowMs = clock.elapsedMs()
      if (listeners.size === 0 || nowMs - (reportedMs.get(protocol) ?? Number.NEGATIVE_INFINITY) < REPORT_EVERY_MS)
        return
      reportedMs.set(protocol, nowMs)
      const crowding = { protocol, ...describe() }
      for (const listener of listeners) listener(crowding)
    },
    onCrowded(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
