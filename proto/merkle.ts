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

/** A tree whose leaves are only appended. Every subtree is hashed once, when a root or a path first needs it. */
export class MerkleTree {
  readonly #leaves: string[] = []
  /** Hashes of complete subtrees, by the logarithm of their size. */
  readonly #levels: Buffer[][] = []

  get leaves(): readonly string[] {
    return this.#leaves
  }

  /** Appends a leaf. @returns  its index */
  append(leaf: string): number {
    return this.#leaves.push(leaf) - 1
  }

  /** Returns the root; of an empty tree, the hash of no bytes. */
  root(): Sha256 {
    const count = this.#leaves.length
    return (count === 0 ? hash() : this.#hashOf(0, count)).toString('hex')
  }

  /** Returns the audit path of a leaf: the hashes of its sibling subtrees, from the leaf to the root. */
  path(index: number): readonly Sha256[] {
    const path: Sha256[] = []
    let [from, to] = [0, this.#leaves.length]
    if (!(index >= from && index < to)) throw new RangeError(`no leaf ${index} among ${to}`)
    while (to - from > 1) {
      const middle = from + leftCount(to - from)
      if (index < middle) {
        path.push(this.#hashOf(middle, to).toString('hex'))
        to = middle
      } else {
        path.push(this.#hashOf(from, middle).toString('hex'))
        from = middle
      }
    }
    return path.reverse()
  }

  /** Returns the hash of a subtree. A complete one is stored: all leaves below it are there, and never change. */
  #hashOf(from: number, to: number): Buffer {
    const count = to - from
    const height = Math.log2(count)
    if (!Number.isInteger(height)) return this.#joined(from, to)
    this.#levels[height] ??= []
    const known = this.#levels[height]
    known[from / count] ??= count === 1 ? leafHash(this.#leaves[from]!) : this.#joined(from, to)
    return known[from / count]!
  }

  #joined(from: number, to: number): Buffer {
    const middle = from + leftCount(to - from)
    return hash(NODE, this.#hashOf(from, middle), this.#hashOf(middle, to))
  }
}

/** Returns the root of the tree with these leaves. */
export function merkleRoot(leaves: readonly string[]): Sha256 {
  const tree = new MerkleTree()
  for (const leaf of leaves) tree.append(leaf)
  return tree.root()
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
