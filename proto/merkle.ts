import { createHash } from 'node:crypto'
import { fromHex, type Sha256 } from './content-id.js'

/** Merkle trees as in RFC 6962, section 2.1. Leaves are texts in UTF-8, and nodes are SHA-256. */

const LEAF = Uint8Array.of(0)
const NODE = Uint8Array.of(1)

const hash = (...parts: readonly Uint8Array[]): Buffer => {
  const digest = createHash('sha256')
  for (const part of parts) digest.update(part)
  return digest.digest()
}

const leafHash = (leaf: string): Buffer => hash(LEAF, Buffer.from(leaf))

/** Returns the number of leaves of the left subtree: the largest power of two below `count`. */
function leftCount(count: number): number {
  let left = 1
  while (left * 2 < count) left *= 2
  return left
}

function rootOf(leaves: readonly string[], from: number, to: number): Buffer {
  const count = to - from
  if (count === 1) return leafHash(leaves[from]!)
  const middle = from + leftCount(count)
  return hash(NODE, rootOf(leaves, from, middle), rootOf(leaves, middle, to))
}

/** Returns the root of a tree; of an empty one, the hash of no bytes. */
export const merkleRoot = (leaves: readonly string[]): Sha256 =>
  (leaves.length === 0 ? hash() : rootOf(leaves, 0, leaves.length)).toString('hex')

/** Returns the audit path of a leaf: the hashes of its sibling subtrees, from the leaf to the root. */
export function merklePath(leaves: readonly string[], index: number): readonly Sha256[] {
  const path: Sha256[] = []
  let [from, to] = [0, leaves.length]
  if (!(index >= from && index < to)) throw new RangeError(`no leaf ${index} among ${to}`)
  while (to - from > 1) {
    const middle = from + leftCount(to - from)
    if (index < middle) {
      path.push(rootOf(leaves, middle, to).toString('hex'))
      to = middle
    } else {
      path.push(rootOf(leaves, from, middle).toString('hex'))
      from = middle
    }
  }
  return path.reverse()
}

/** Returns the root to which an audit path leads from a leaf; null: no tree with `count` leaves has such a path. */
export function rootByPath(leaf: string, index: number, count: number, path: readonly Sha256[]): Sha256 | null {
  if (!(index >= 0 && index < count)) return null
  // RFC 9162, section 2.1.3.2.
  let [place, last] = [index, count - 1]
  let found = leafHash(leaf)
  for (const sibling of path) {
    if (last === 0) return null
    const other = fromHex(sibling)
    if (place % 2 === 1 || place === last) {
      found = hash(NODE, other, found)
      while (place % 2 === 0 && place !== 0) {
        place = Math.floor(place / 2)
        last = Math.floor(last / 2)
      }
    } else found = hash(NODE, found, other)
    place = Math.floor(place / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 ? found.toString('hex') : null
}
