import { LRUCache } from 'lru-cache'
import { LIMITS, type Sha256 } from '../proto/index.js'
import { bitAt } from './partial-blob.js'

/**
 * What a coordinator has given of each blob to nodes that pass it on among themselves. Each of them sees only its neighbours, so the
 * coordinator alone can tell that a chunk is on its way to all of them.
 */
export interface GivenChunks {
  /**
   * Promises a peer one of the chunks that it wants, which it passes on.
   * @param wanted  a bit for each chunk
   * @returns  null: enough others have had each of them from here
   */
  promise(peer: string, blob: Sha256, wanted: Uint8Array): number | null
  /** What somebody had who is gone reaches nobody. */
  forget(peer: string): void
}

/**
 * A chunk is given once, and once more for so many nodes: one copy would take too many steps among thousands, and each is 1 % of what
 * so many nodes fetch.
 */
export const NODES_PER_COPY = 100
/**
 * Of ten thousand nodes 95 % have an adapter as soon with so many copies of each chunk as with a hundred (docs/scale.md): what bounds them
 * is the line of each.
 */
export const MOST_COPIES = 20

interface Given {
  readonly toPeer: Map<string, Set<number>>
  /** By chunk. */
  readonly copies: Map<number, number>
}

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
        // It did not come, or was lost.
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
