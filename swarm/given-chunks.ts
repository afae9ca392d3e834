import { LRUCache } from 'lru-cache'
import { LIMITS, type Sha256 } from '../proto/index.js'
import { bitAt } from './partial-blob.js'

/**
 * The chunks of each blob that a coordinator has sent to nodes, which pass them on. A node sees only its neighbours, so only the
 * coordinator knows that a chunk is on its way to all nodes.
 */
export interface GivenChunks {
  /**
   * Promises a peer one of the chunks that it wants, to be passed on by the peer.
   * @param wanted  a bit for each chunk
   * @returns  null: enough other peers have received each of them from this host
   */
  promise(peer: string, blob: Sha256, wanted: Uint8Array): number | null
  /** Forgets a peer that has disconnected: its chunks reach no other node. */
  forget(peer: string): void
}

/**
 * A chunk is sent once, and once more for each further 100 nodes. One copy would need too many hops among thousands of nodes, and each
 * copy is 1 % of the traffic of 100 nodes.
 */
export const NODES_PER_COPY = 100
/**
 * With 20 copies of each chunk, 95 % of ten thousand nodes have an adapter as soon as with 100 copies (docs/explain/scale.md). Each node's own
 * line is the bottleneck.
 */
export const MOST_COPIES = 20

interface Given {
  readonly toPeer: Map<string, Set<number>>
  /** Number of copies of each chunk. */
  readonly copies: Map<number, number>
}

/** Creates an empty record. */
export function createGivenChunks(): GivenChunks {
  const blobs = new LRUCache<Sha256, Given>({ max: LIMITS.manifestsServed.value })
  return {
    promise(peer, blob, wanted) {
      const { toPeer, copies } = blobs.get(blob) ?? { toPeer: new Map(), copies: new Map() }
      blobs.set(blob, { toPeer, copies })
      const own = toPeer.get(peer) ?? new Set()
      toPeer.set(peer, own)
      const most = Math.min(MOST_COPIES, 1 + Math.floor(toPeer.size / NODES_PER_COPY))
      for (let index = 0; index < wanted.length * 8; index += 1) {
        if (!bitAt(wanted, index)) continue
        // The peer asks again: the chunk did not arrive, or was lost.
        if (own.has(index)) return index
        const given = copies.get(index) ?? 0
        if (given >= most) continue
        own.add(index)
        copies.set(index, given + 1)
        return index
      }
      return null
    },
    forget(peer) {
      for (const { toPeer, copies } of blobs.values()) {
        for (const index of toPeer.get(peer) ?? []) copies.set(index, copies.get(index)! - 1)
        toPeer.delete(peer)
      }
    },
  }
}
