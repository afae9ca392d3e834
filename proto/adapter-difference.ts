import { refusal } from './errors.js'

/**
 * The content of an adapter's difference before compression. Both adapters are read as 16-bit words of float16. A step of training moves
 * each weight by a similar amount, which is a different number of float16 steps for each exponent. So the moves in a block
 * are ordered by sign and exponent of the earlier words. The high bytes of all moves come first, then the low bytes. Each stretch of bytes
 * then has one distribution, which a standard compressor finds. Measured: docs/reports/2026-11-flat.md.
 */

/** Bytes of one block, except the last. Bounds the memory for adapters of any size. */
export const DIFFERENCE_BLOCK_BYTES = 4 * 1024 * 1024

/** Sign and exponent of a float16. */
const bucketOf = (word: number): number => word >> 10
const BUCKETS = 64

/** Numbers the float16 values in ascending order, so that neighbours differ by one. Negative ones descend with their bits. */
const placeOf = (word: number): number => (word & 0x8000 ? 0xffff - word : word + 0x8000)
const wordAt = (place: number): number => (place & 0x8000 ? place - 0x8000 : 0xffff - place)
/** Small moves in both directions become small numbers, as in Protocol Buffers’ ZigZag encoding. */
const zigzag = (move: number): number => ((move << 1) ^ (move >> 15)) & 0xffff
const unzigzag = (number: number): number => (number >> 1) ^ -(number & 1)

/** Returns the place of each word's move in a block, by the earlier words. */
function orderOf(earlier: DataView, words: number): Uint32Array {
  const next = new Uint32Array(BUCKETS + 1)
  for (let i = 0; i < words; i++) next[bucketOf(earlier.getUint16(2 * i, true)) + 1]! += 1
  for (let bucket = 1; bucket <= BUCKETS; bucket++) next[bucket]! += next[bucket - 1]!
  const order = new Uint32Array(words)
  for (let i = 0; i < words; i++) order[i] = next[bucketOf(earlier.getUint16(2 * i, true))]!++
  return order
}

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Returns the moves from one block to another of the same length. @throws TypeError for other lengths */
export function movesOf(earlier: Uint8Array, later: Uint8Array): Uint8Array {
  const { length } = later
  if (earlier.length !== length) throw new TypeError(`blocks of ${earlier.length} and ${length} B`)
  const words = length >> 1
  const [from, to] = [viewOf(earlier), viewOf(later)]
  const order = orderOf(from, words)
  const moves = new Uint8Array(length)
  for (let i = 0; i < words; i++) {
    const move = placeOf(to.getUint16(2 * i, true)) - placeOf(from.getUint16(2 * i, true))
    const number = zigzag((move << 16) >> 16)
    moves[order[i]!] = number >> 8
    moves[words + order[i]!] = number & 0xff
  }
  if (length % 2 === 1) moves[length - 1] = later[length - 1]!
  return moves
}

/** Returns the later block. Every input of the right length gives one, so the caller checks its hash. @throws SwarmRefusal `malformed` */
export function applyMoves(earlier: Uint8Array, moves: Uint8Array): Uint8Array {
  const { length } = moves
  if (earlier.length !== length) throw refusal('malformed', `${length} B of moves for ${earlier.length} B`)
  const words = length >> 1
  const from = viewOf(earlier)
  const order = orderOf(from, words)
  const later = new Uint8Array(length)
  const to = viewOf(later)
  for (let i = 0; i < words; i++) {
    const number = (moves[order[i]!]! << 8) | moves[words + order[i]!]!
    to.setUint16(2 * i, wordAt((placeOf(from.getUint16(2 * i, true)) + unzigzag(number)) & 0xffff), true)
  }
  if (length % 2 === 1) later[length - 1] = moves[length - 1]!
  return later
}
