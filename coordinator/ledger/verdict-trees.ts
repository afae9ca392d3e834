import {
  acceptsGroup,
  type LogHead,
  merklePath,
  merkleRoot,
  type Sha256,
  type VerdictLeaf,
  verdictLeafText,
} from '../../proto/index.js'
import type { StateSnapshot } from './state-snapshot.js'

/** Place of a verdict in the tree of its step. */
export interface VerdictPlace {
  readonly step: number
  readonly index: number
}

/** A verdict with the proof that it is in a tree. */
export interface ProvenVerdict extends VerdictPlace {
  readonly leaf: string
  readonly count: number
  readonly root: Sha256
  readonly path: readonly Sha256[]
}

/**
 * Verdicts of the last steps as leaves of Merkle trees. The tree of a step contains the verdicts since the batch of the previous step was
 * formed. Leaves are only appended. A tree is complete when the version of its step is published.
 */
export class VerdictTrees {
  /** Step for which groups are being accepted. */
  #step = 1
  readonly #leaves = new Map<number, string[]>()
  /** Newest verdict on each lease. */
  readonly #placeOf = new Map<string, VerdictPlace>()

  get snapshot(): Pick<StateSnapshot, 'verdictLeaves'> & { readonly verdictStep: number } {
    const entries = [...this.#leaves].flatMap(([step, leaves]) => leaves.map((leaf): [number, string] => [step, leaf]))
    return { verdictLeaves: entries, verdictStep: this.#step }
  }

  static of({ verdictLeaves }: Pick<StateSnapshot, 'verdictLeaves'>, step: number): VerdictTrees {
    const made = new VerdictTrees()
    for (const [at, leaf] of verdictLeaves) made.#append(at, leaf)
    made.#step = step
    return made
  }

  get step(): number {
    return this.#step
  }

  note(verdict: VerdictLeaf): void {
    this.#append(this.#step, verdictLeafText(verdict))
  }

  /** Notes that the batch of a step was formed: later verdicts are for the next step. */
  formed(step: number): void {
    this.#step = step + 1
  }

  /** Notes that the batch of a step was refused or dissolved: the step is free again. */
  dropped(step: number): void {
    if (this.#step === step + 1) this.#step = step
  }

  /** Forgets the verdicts for steps before `oldest`. */
  forget(oldest: number): void {
    for (const step of this.#leaves.keys()) if (step < oldest) this.#leaves.delete(step)
    for (const [leaseId, { step }] of this.#placeOf) if (step < oldest) this.#placeOf.delete(leaseId)
  }

  /** Returns the verdicts for a step, in the order of the log. */
  of(step: number): readonly string[] {
    return this.#leaves.get(step) ?? []
  }

  /** Returns number and root of the verdicts of each step that is not forgotten, oldest first. */
  roots(): readonly Pick<ProvenVerdict, 'step' | 'count' | 'root'>[] {
    return [...this.#leaves.entries()]
      .sort(([a], [b]) => a - b)
      .map(([step, leaves]) => ({ step, count: leaves.length, root: merkleRoot(leaves) }))
  }

  /** Returns the part of a head that is about verdicts. */
  head(): Pick<LogHead, 'step' | 'verdicts' | 'verdictsRoot'> {
    const leaves = this.of(this.#step)
    return { step: this.#step, verdicts: leaves.length, verdictsRoot: merkleRoot(leaves) }
  }

  /** Returns the newest verdict on a lease with its proof; null: no verdict is known. */
  prove(leaseId: string): ProvenVerdict | null {
    const place = this.#placeOf.get(leaseId)
    return place ? this.#proofOf(place) : null
  }

  /** Returns the verdict that accepted a group, with its proof; null: no verdict is known. */
  proveAccepted(leaseId: string): ProvenVerdict | null {
    for (const [step, leaves] of this.#leaves) {
      const index = leaves.findIndex((leaf) => acceptsGroup(leaf, leaseId))
      if (index !== -1) return this.#proofOf({ step, index })
    }
    return null
  }

  #proofOf({ step, index }: VerdictPlace): ProvenVerdict {
    const leaves = this.of(step)
    const [count, root, path] = [leaves.length, merkleRoot(leaves), merklePath(leaves, index)]
    return { step, index, leaf: leaves[index]!, count, root, path }
  }

  #append(step: number, leaf: string): void {
    const leaves = this.#leaves.get(step) ?? []
    this.#leaves.set(step, leaves)
    const index = leaves.push(leaf) - 1
    const [, leaseId] = JSON.parse(leaf) as [string, string]
    this.#placeOf.set(leaseId, { step, index })
  }
}
