/** Bytes that arrived and were not read yet, in order. */
export interface ByteQueue {
  readonly size: number
  push(piece: Uint8Array): void
  /** The next bytes, copied. @throws RangeError when there are not that many */
  take(size: number): Uint8Array
}

/** Pieces below this are gathered: a peer chooses how it cuts its bytes, and a view on each of a million costs 120 MB. */
const SMALL_BYTES = 4 * 1024
const BLOCK_BYTES = 16 * 1024
/** Blocks that are read are dropped many at a time: dropping one moves all that follow. */
const DROP = 64

export function createByteQueue(): ByteQueue {
  let blocks: Uint8Array[] = []
  /** The first block with unread bytes, and the first of these. */
  let first = 0
  let from = 0
  /** What of the last block is filled; the whole of it unless we gather there. */
  let gathering: { readonly block: Uint8Array; filled: number } | null = null
  let size = 0

  const lengthOf = (index: number): number => {
    const block = blocks[index]!
    return gathering?.block === block ? gathering.filled : block.length
  }

  return {
    get size() {
      return size
    },
    push(piece) {
      if (piece.length === 0) return
      size += piece.length
      if (piece.length >= SMALL_BYTES) {
        if (gathering) blocks[blocks.length - 1] = gathering.block.subarray(0, gathering.filled)
        gathering = null
        blocks.push(piece)
        return
      }
      if (!gathering || gathering.filled + piece.length > BLOCK_BYTES) {
        if (gathering) blocks[blocks.length - 1] = gathering.block.subarray(0, gathering.filled)
        gathering = { block: new Uint8Array(BLOCK_BYTES), filled: 0 }
        blocks.push(gathering.block)
      }
      gathering.block.set(piece, gathering.filled)
      gathering.filled += piece.length
    },
    take(wanted) {
      if (wanted > size) throw new RangeError(`${wanted} of ${size} B`)
      const whole = new Uint8Array(wanted)
      let filled = 0
      while (filled < wanted) {
        const end = lengthOf(first)
        const part = blocks[first]!.subarray(from, Math.min(end, from + wanted - filled))
        whole.set(part, filled)
        filled += part.length
        from += part.length
        if (from < end) break
        if (gathering?.block === blocks[first]) gathering = null
        first += 1
        from = 0
      }
      if (first >= DROP || first === blocks.length) {
        blocks = blocks.slice(first)
        first = 0
      }
      size -= wanted
      return whole
    },
  }
}
