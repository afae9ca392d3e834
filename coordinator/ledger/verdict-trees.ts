import {
  acceptsGroup,
  type LogHead,
  MerkleTree,
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
  readonly #trees = new Map<number, MerkleTree>()
  /** Newest verdict on each lease. */
  readonly #placeOf = new Map<string, VerdictPlace>()
  /** First verdict on each lease that accepted its group. */
  readonly #acceptedAt = new Map<string, VerdictPlace>()

  get snapshot(): Pick<StateSnapshot, 'verdictLeaves'> & { readonly verdictStep: number } {
    const entries = [...this.#trees].flatMap(([step, { leaves }]) =>
      leaves.map((leaf): [number, string] => [step, leaf]),
    )
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
    for (const step of this.#trees.keys()) if (step < oldest) this.#trees.delete(step)
    for (const places of [this.#placeOf, this.#acceptedAt])
      for (const [leaseId, { step }] of places) if (step < oldest) places.delete(leaseId)
  }

  /** Returns the verdicts for a step, in the order of the log. */
  of(step: number): readonly string[] {
    return this.#trees.get(step)?.leaves ?? []
  }

  /** Returns number and root of the verdicts of each step that is not forgotten, oldest first. */
  roots(): readonly Pick<ProvenVerdict, 'step' | 'count' | 'root'>[] {
    return [...this.#trees.entries()]
      .sort(([a], [b]) => a - b)
      .map(([step, tree]) => ({ step, count: tree.leaves.length, root: tree.root() }))
  }

  /** Returns the part of a head that is about verdicts. */
  head(): Pick<LogHead, 'step' | 'verdicts' | 'verdictsRoot'> {
    const tree = this.#trees.get(this.#step) ?? new MerkleTree()
    return { step: this.#step, verdicts: tree.leaves.length, verdictsRoot: tree.root() }
  }

  /** Returns the newest verdict on a lease with its proof; null: no verdict is known. */
  prove(leaseId: string): ProvenVerdict | null {
    const place = this.#placeOf.get(leaseId)
    return place ? this.#proofOf(place) : null
  }

  /** Returns the verdict that accepted a group, with its proof; null: no verdict is known. */
  proveAccepted(leaseId: string): ProvenVerdict | null {
    const place = this.#acceptedAt.get(leaseId)
    return place ? this.#proofOf(place) : null
  }

  #proofOf({ step, index }: VerdictPlace): ProvenVerdict {
    const tree = this.#trees.get(step)!
    const { leaves } = tree
    return { step, index, leaf: leaves[index]!, count: leaves.length, root: tree.root(), path: tree.path(index) }
  }

  #append(step: number, leaf: string): void {
    const tree = this.#trees.get(step) ?? new MerkleTree()
    this.#trees.set(step, tree)
    const index = tree.append(leaf)
    const [, leaseId] = JSON.parse(leaf) as [string, string]
    this.#placeOf.set(leaseId, { step, index })
    if (acceptsGroup(leaf, leaseId) && !this.#acceptedAt.has(leaseId)) this.#acceptedAt.set(leaseId, { step, index })
  }
}
