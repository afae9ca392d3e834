/** Bytes that have arrived and were not read yet, in order. */
export interface ByteQueue {
  readonly size: number
  push(piece: Uint8Array): void
  /** Removes and returns the next bytes, copied. @throws RangeError if fewer bytes are queued */
  take(size: number): Uint8Array
}

/** Smaller pieces are copied into blocks: a peer chooses the size of its pieces, and a view on each of a million costs 120 MB. */
const SMALL_BYTES = 4 * 1024
const BLOCK_BYTES = 16 * 1024
/** Blocks that were read are dropped in batches, because dropping one moves all later blocks. */
const DROP = 64

/** Creates an empty queue. */
export function createByteQueue(): ByteQueue {
  let blocks: Uint8Array[] = []
  /** Index of the first block with unread bytes, and offset of the first unread byte in it. */
  let first = 0
  let from = 0
  /** The last block and its fill, while small pieces are copied into it. */
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
