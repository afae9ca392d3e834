import type { JudgedGroup } from './run-state.js'
import type { StateSnapshot } from './state-snapshot.js'

/** Groups in the order of insertion, and by node. */
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

  /** Deletes a group. @returns  the group, if it was contained */
  delete(leaseId: string): JudgedGroup | undefined {
    const group = this.all.get(leaseId)
    if (!group) return undefined
    this.all.delete(leaseId)
    const own = this.#ofNode.get(group.node)!
    own.delete(leaseId)
    if (own.size === 0) this.#ofNode.delete(group.node)
    return group
  }

  /** Returns a copy of the list, so that callers may delete groups. */
  of(node: string): JudgedGroup[] {
    return [...(this.#ofNode.get(node)?.values() ?? [])]
  }
}

/**
 * Groups that may be trained on, counted by version and node. Suspected groups are put aside, and groups of excluded keys are held back.
 * Both keep their place in the order.
 */
export class UsableGroups {
  readonly #groups = new GroupsOfNodes()
  readonly #aside = new Set<string>()
  readonly #excluded = new Set<string>()
  /** Counts of the groups that are neither put aside nor held back, by version; absent: 0. */
  readonly #counts = new Map<number, { total: number; readonly ofNode: Map<string, number> }>()

  get entries(): StateSnapshot['usable'] {
    return [...this.#groups.all.keys()].map((leaseId) => [leaseId, this.#aside.has(leaseId)])
  }

  /** @param groups  groups, and whether each is put aside */
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

  /** Deletes a group. @returns  the group, if it was contained */
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

  /** Holds back present and future groups of a key, until `readmit`. */
  exclude(node: string): void {
    if (this.#excluded.has(node)) return
    for (const group of this.of(node)) if (this.#isReady(group)) this.#count(group, -1)
    this.#excluded.add(node)
  }

  readmit(node: string): void {
    if (!this.#excluded.delete(node)) return
    for (const group of this.of(node)) if (this.#isReady(group)) this.#count(group, 1)
  }

  of(node: string): JudgedGroup[] {
    return this.#groups.of(node)
  }

  /** Groups of excluded keys, in the order of insertion. */
  get heldBack(): JudgedGroup[] {
    return [...this.#groups.all.values()].filter(({ node }) => this.#excluded.has(node))
  }

  /** Deletes groups of versions that cannot be trained on any more. */
  prune(isUseless: (version: number) => boolean): void {
    this.deleteWhere(({ version }) => isUseless(version))
  }

  deleteWhere(isGone: (group: JudgedGroup) => boolean): void {
    for (const [leaseId, group] of this.#groups.all) if (isGone(group)) this.delete(leaseId)
  }

  /** Returns groups of versions from `oldest` on, in the order of insertion. */
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
    return !this.#aside.has(leaseId) && !this.#excluded.has(node)
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
