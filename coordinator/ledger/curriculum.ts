import type { StateSnapshot } from './state-snapshot.js'

/** Most versions for which a task may rest. */
const LONGEST_REST = 8

/**
 * Which tasks teach nothing at the moment. A group without reward variance (all rollouts fail, or all succeed) gives no
 * gradient, so its task rests: for one version at first, for twice as long after each further flat group in a row, and not at
 * all once a group of it has variance again.
 */
export class Curriculum {
  readonly #rests = new Map<number, { readonly zeroVarianceInRow: number; readonly until: number }>()

  /** A group of `taskIndex` under `version` was accepted. */
  note(taskIndex: number, version: number, zeroVariance: boolean): void {
    if (!zeroVariance) {
      this.#rests.delete(taskIndex)
      return
    }
    const zeroVarianceInRow = (this.#rests.get(taskIndex)?.zeroVarianceInRow ?? 0) + 1
    this.#rests.set(taskIndex, {
      zeroVarianceInRow,
      until: version + Math.min(LONGEST_REST, 2 ** (zeroVarianceInRow - 1)),
    })
  }

  /** What was noted last of `taskIndex` is not believed any more: it is tried again. */
  forget(taskIndex: number): void {
    this.#rests.delete(taskIndex)
  }

  get entries(): StateSnapshot['rests'] {
    return [...this.#rests].map(([taskIndex, { zeroVarianceInRow, until }]) => [taskIndex, zeroVarianceInRow, until])
  }

  static of(entries: StateSnapshot['rests']): Curriculum {
    const curriculum = new Curriculum()
    for (const [taskIndex, zeroVarianceInRow, until] of entries)
      curriculum.#rests.set(taskIndex, { zeroVarianceInRow, until })
    return curriculum
  }

  rests(taskIndex: number, version: number): boolean {
    return version <= (this.#rests.get(taskIndex)?.until ?? -1)
  }
}

/** A set of task indices as a manifest states it: bit i of byte i >> 3, in base64; empty for the empty set. */
export function encodeTaskSet(count: number, holds: (index: number) => boolean): string {
  const bits = new Uint8Array(Math.ceil(count / 8))
  let last = -1
  for (let i = 0; i < count; i++) {
    if (!holds(i)) continue
    bits[i >> 3]! |= 1 << (i & 7)
    last = i
  }
  return Buffer.from(bits.subarray(0, (last >> 3) + 1)).toString('base64')
}

export function decodeTaskSet(encoded: string): (index: number) => boolean {
  const bits = Buffer.from(encoded, 'base64')
  return (index) => ((bits[index >> 3] ?? 0) & (1 << (index & 7))) !== 0
}
