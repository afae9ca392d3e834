import { type ComparedGroup, isUnseen, type JudgedGroup, type LeaseRecord } from './run-state.js'
import { known, type StateSnapshot } from './state-snapshot.js'
import { TaskCompletions } from './task-completions.js'
import { GroupsOfNodes, UsableGroups } from './usable-groups.js'

type Snapshot = Pick<
  StateSnapshot,
  | 'judged'
  | 'accepted'
  | 'audited'
  | 'passedInBatch'
  | 'lostBodies'
  | 'usable'
  | 'onTrust'
  | 'suspects'
  | 'comparedGroups'
>

/** Groups with verdicts, by lease: accepted groups, groups on trust, suspects, and groups that can be trained on. */
export class Groups {
  readonly judged = new Map<string, JudgedGroup>()
  readonly accepted = new Map<string, JudgedGroup>()
  readonly suspects = new Map<string, JudgedGroup>()
  readonly lostBodies = new Set<string>()
  /** Accepted groups with reward variance that are in no batch yet. */
  readonly usable: UsableGroups
  /** Groups accepted without verification, until a later group of their node is verified and confirms its claims. */
  readonly #onTrust = new GroupsOfNodes()
  readonly #audited = new Set<string>()
  /** Groups of the pending batch that passed the training forward. They count as audited when another batch takes them. */
  readonly #passedInBatch = new Set<string>()
  readonly #completions: TaskCompletions

  constructor(usable = new UsableGroups(), completions = new TaskCompletions()) {
    this.usable = usable
    this.#completions = completions
  }

  get snapshot(): Snapshot {
    return {
      judged: [...this.judged.values()],
      accepted: [...this.accepted.keys()],
      audited: [...this.#audited],
      passedInBatch: [...this.#passedInBatch],
      lostBodies: [...this.lostBodies],
      usable: this.usable.entries,
      onTrust: [...this.#onTrust.all.keys()],
      suspects: [...this.suspects.keys()],
      comparedGroups: this.#completions.entries.map(([taskIndex, group]) => [
        taskIndex,
        this.judged.has(group.leaseId) ? group.leaseId : group,
      ]),
    }
  }

  /** @throws CheckpointError for an inconsistent snapshot */
  static of(snapshot: Snapshot, leases: ReadonlyMap<string, LeaseRecord>): Groups {
    const judged = new Map(snapshot.judged.map((group) => [group.leaseId, group]))
    for (const leaseId of judged.keys()) known(leases.get(leaseId), `the lease ${leaseId}`)
    const groupOf = (leaseId: string): JudgedGroup => known(judged.get(leaseId), `the group of ${leaseId}`)
    const groups = new Groups(
      UsableGroups.of(snapshot.usable.map(([leaseId, isAside]) => [groupOf(leaseId), isAside])),
      TaskCompletions.of(
        snapshot.comparedGroups.map(([taskIndex, group]) => [
          taskIndex,
          typeof group === 'string' ? groupOf(group) : group,
        ]),
      ),
    )
    for (const [leaseId, group] of judged) groups.judged.set(leaseId, group)
    for (const leaseId of snapshot.accepted) groups.accepted.set(leaseId, groupOf(leaseId))
    for (const leaseId of snapshot.audited) groups.#audited.add(groupOf(leaseId).leaseId)
    for (const leaseId of snapshot.passedInBatch) groups.#passedInBatch.add(groupOf(leaseId).leaseId)
    for (const leaseId of snapshot.lostBodies) groups.lostBodies.add(groupOf(leaseId).leaseId)
    for (const leaseId of snapshot.onTrust) groups.#onTrust.add(groupOf(leaseId))
    for (const leaseId of snapshot.suspects) groups.suspects.set(leaseId, groupOf(leaseId))
    return groups
  }

  /** @param isOfUse  whether it could be trained on, with reward variance */
  accept(group: JudgedGroup, taskIndex: number, isOfUse: boolean): void {
    const { leaseId, node, audit, zeroVariance } = group
    if (isUnseen(group)) this.#onTrust.add(group)
    else if (zeroVariance) this.#confirm(node)
    this.accepted.set(leaseId, group)
    if (isOfUse && !zeroVariance) this.usable.add(group)
    if (audit === 'passed') this.#audited.add(leaseId)
    this.#completions.add(taskIndex, group)
  }

  #confirm(node: string): void {
    for (const { leaseId } of this.#onTrust.of(node)) if (!this.suspects.has(leaseId)) this.#onTrust.delete(leaseId)
  }

  /** Notes that a group was audited. */
  noteAudit(leaseId: string): void {
    this.suspects.delete(leaseId)
    this.usable.putBack(leaseId)
    this.#audited.add(leaseId)
  }

  /** Revokes the acceptance of a group. @returns whether the group was accepted on trust */
  takeBack(leaseId: string, taskIndex: number): boolean {
    this.accepted.delete(leaseId)
    this.usable.delete(leaseId)
    this.#completions.delete(taskIndex, leaseId)
    return this.#onTrust.delete(leaseId) !== undefined
  }

  passInBatch(leaseId: string): void {
    this.#passedInBatch.add(leaseId)
  }

  /** Notes that the pending batch was trained on or refused. */
  endBatch(): void {
    this.#passedInBatch.clear()
  }

  /** Makes all unaudited groups of a key suspects. */
  suspectAllOf(node: string): void {
    for (const group of [...this.usable.of(node), ...this.#onTrust.of(node)]) this.#suspect(group)
  }

  /** Excludes present and future groups of a key from batches until `absolve`. Audits of the present groups decide about them. */
  holdBack(node: string): void {
    this.usable.exclude(node)
    for (const group of this.usable.of(node)) this.#suspect(group)
  }

  /** Removes the groups of a key from training. */
  dropUsable(node: string): void {
    for (const { leaseId } of this.usable.of(node)) {
      this.usable.delete(leaseId)
      this.suspects.delete(leaseId)
    }
  }

  /** Puts a group aside until it is audited. */
  #suspect(group: JudgedGroup): void {
    if (this.#audited.has(group.leaseId)) return
    this.suspects.set(group.leaseId, group)
    this.usable.putAside(group)
  }

  absolve(node: string): void {
    for (const [leaseId, group] of this.suspects) {
      if (group.node !== node) continue
      this.suspects.delete(leaseId)
      this.usable.putBack(leaseId)
    }
    this.usable.readmit(node)
  }

  loseBody(leaseId: string): void {
    this.lostBodies.add(leaseId)
    this.usable.delete(leaseId)
    this.suspects.delete(leaseId)
  }

  /**
   * Dissolves the pending batch, so that others can take its groups.
   * @param isGone    whether a group can no longer be trained on
   * @param isCaught  whether a key was caught since the batch was formed
   */
  free(leaseIds: readonly string[], isGone: (leaseId: string) => boolean, isCaught: (node: string) => boolean): void {
    // Passed audits remain valid: another batch need not repeat them, and their logit errors are counted once.
    for (const passed of this.#passedInBatch) this.#audited.add(passed)
    this.#passedInBatch.clear()
    const freed = new Set(leaseIds.filter((leaseId) => !this.lostBodies.has(leaseId) && !isGone(leaseId)))
    const kept = [...this.accepted.values()].filter(({ leaseId }) => freed.has(leaseId) || this.usable.has(leaseId))
    for (const { leaseId } of kept) this.usable.delete(leaseId)
    // In log order, as batches take them.
    for (const group of kept) {
      this.usable.add(group)
      if (this.suspects.has(group.leaseId)) this.usable.putAside(group)
      else if (freed.has(group.leaseId) && isCaught(group.node)) this.#suspect(group)
    }
  }

  /** Forgets groups of versions that no batch can take any more. */
  forgetVersions(isUseless: (version: number) => boolean): void {
    this.usable.prune(isUseless)
    for (const [leaseId, { version, zeroVariance }] of this.suspects)
      if (isUseless(version) && !zeroVariance) this.suspects.delete(leaseId)
  }

  forget(leaseId: string): void {
    this.judged.delete(leaseId)
    this.accepted.delete(leaseId)
    this.#audited.delete(leaseId)
    this.lostBodies.delete(leaseId)
  }

  isAudited(leaseId: string): boolean {
    return this.#audited.has(leaseId)
  }

  /** Whether a group may still be trained on, or revoked. */
  isAtStake(leaseId: string): boolean {
    return this.usable.has(leaseId) || this.#onTrust.all.has(leaseId)
  }

  get isBatchAudited(): boolean {
    return this.#passedInBatch.size > 0
  }

  acceptedOf(taskIndex: number): readonly ComparedGroup[] {
    return this.#completions.of(taskIndex)
  }
}
