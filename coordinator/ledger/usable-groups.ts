import type { JudgedGroup } from './run-state.js'
import type { StateSnapshot } from './state-snapshot.js'

/** Groups in the order in which they came, and by node. */
export class GroupsOfNodes {
  readonly all = new Map<string, JudgedGroup>()
  readonly #ofNode = new Map<string, Map<string, JudgedGroup>>()

  add(group: JudgedGroup): void {
    const { leaseId, node } = group
    this.all.set(leaseId, group)
    const own = this.#ofNode.get(node)
    if (own) own.set(leaseId, group)
    else this.#ofNode.set(node, new Map([[leaseId, group]]))
  }

  /** @returns  the group that was there */
  delete(leaseId: string): JudgedGroup | undefined {
    const group = this.all.get(leaseId)
    if (!group) return undefined
    this.all.delete(leaseId)
    const own = this.#ofNode.get(group.node)!
    own.delete(leaseId)
    if (own.size === 0) this.#ofNode.delete(group.node)
    return group
  }

  /** As they are now: they may be deleted meanwhile. */
  of(node: string): JudgedGroup[] {
    return [...(this.#ofNode.get(node)?.values() ?? [])]
  }
}

/**
 * Groups that may be trained on, counted by version and node. Those under suspicion are put aside, those of a key that is shut out are
 * held back; both keep their place.
 */
export class UsableGroups {
  readonly #groups = new GroupsOfNodes()
  readonly #aside = new Set<string>()
  readonly #shut = new Set<string>()
  /** Of those that are neither put aside nor held back; a version without any is not in it. */
  readonly #counts = new Map<number, { total: number; readonly ofNode: Map<string, number> }>()

  get entries(): StateSnapshot['usable'] {
    return [...this.#groups.all.keys()].map((leaseId) => [leaseId, this.#aside.has(leaseId)])
  }

  /** @param groups  with whether they are put aside */
  static of(groups: Iterable<readonly [JudgedGroup, boolean]>): UsableGroups {
    const usable = new UsableGroups()
    for (const [group, isAside] of groups) {
      usable.add(group)
      if (isAside) usable.putAside(group)
    }
    return usable
  }

  add(group: JudgedGroup): void {
    this.#groups.add(group)
    if (this.#isReady(group)) this.#count(group, 1)
  }

  /** @returns  the group that was there */
  delete(leaseId: string): JudgedGroup | undefined {
    const group = this.#groups.delete(leaseId)
    if (!group) return undefined
    if (this.#isReady(group)) this.#count(group, -1)
    this.#aside.delete(leaseId)
    return group
  }

  has(leaseId: string): boolean {
    return this.#groups.all.has(leaseId)
  }

  putAside({ leaseId }: JudgedGroup): void {
    const group = this.#groups.all.get(leaseId)
    if (!group || this.#aside.has(leaseId)) return
    if (this.#isReady(group)) this.#count(group, -1)
    this.#aside.add(leaseId)
  }

  putBack(leaseId: string): void {
    if (!this.#aside.delete(leaseId)) return
    const group = this.#groups.all.get(leaseId)!
    if (this.#isReady(group)) this.#count(group, 1)
  }

  /** Holds back what there is of a key, and what comes, until it is let in again. */
  shutOut(node: string): void {
    if (this.#shut.has(node)) return
    for (const group of this.of(node)) if (this.#isReady(group)) this.#count(group, -1)
    this.#shut.add(node)
  }

  letIn(node: string): void {
    if (!this.#shut.delete(node)) return
    for (const group of this.of(node)) if (this.#isReady(group)) this.#count(group, 1)
  }

  of(node: string): JudgedGroup[] {
    return this.#groups.of(node)
  }

  /** Those of keys that are shut out, in the order in which they came. */
  get heldBack(): JudgedGroup[] {
    return [...this.#groups.all.values()].filter(({ node }) => this.#shut.has(node))
  }

  /** Deletes what is of no use any more. */
  prune(isUseless: (version: number) => boolean): void {
    this.deleteWhere(({ version }) => isUseless(version))
  }

  deleteWhere(isGone: (group: JudgedGroup) => boolean): void {
    for (const [leaseId, group] of this.#groups.all) if (isGone(group)) this.delete(leaseId)
  }

  /** Of versions from `oldest` on, in the order in which they came. */
  list(oldest: number): JudgedGroup[] {
    return [...this.#groups.all.values()].filter((group) => group.version >= oldest && this.#isReady(group))
  }

  count(oldest: number): number {
    let sum = 0
    for (const [version, { total }] of this.#counts) if (version >= oldest) sum += total
    return sum
  }

  countOf(node: string, oldest: number): number {
    let sum = 0
    for (const [version, { ofNode }] of this.#counts) if (version >= oldest) sum += ofNode.get(node) ?? 0
    return sum
  }

  #isReady({ leaseId, node }: JudgedGroup): boolean {
    return !this.#aside.has(leaseId) && !this.#shut.has(node)
  }

  #count({ version, node }: JudgedGroup, change: 1 | -1): void {
    let counts = this.#counts.get(version)
    if (!counts) {
      counts = { total: 0, ofNode: new Map() }
      this.#counts.set(version, counts)
    }
    counts.total += change
    if (counts.total === 0) {
      this.#counts.delete(version)
      return
    }
    const own = (counts.ofNode.get(node) ?? 0) + change
    if (own === 0) counts.ofNode.delete(node)
    else counts.ofNode.set(node, own)
  }
}
