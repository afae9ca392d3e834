import { type GroupAnnouncement, type RefusalCode, refusal, type SwarmRefusal } from '../../proto/index.js'
import type { Task } from '../../rollout/episode/index.js'
import {
  ANNOUNCEMENT_CHECK,
  beginCheck,
  type CheckWatch,
  largestBody,
  outcomeOf,
} from '../../rollout/verification/index.js'
import type { Clock, ReceivedGroup } from '../../swarm/index.js'
import type { LeaseConfiguration } from '../ledger/run-configuration.js'
import type { ConfigurationOf, LeaseRecord, RunState } from '../ledger/run-state.js'
import { isZeroVariance } from './outcome.js'

/** Time after its deadline in which a group may still arrive, because gossip and clocks are not exact. */
export const GRACE_MS = 5000
/**
 * Announced groups without a verdict, for each kind of node. With their bodies they bound memory. Nodes that announce and never
 * deliver, and groups that wait for audits, must not block others.
 */
export const MAX_IN_PROGRESS = 64

/** Record of a node: unproven, proven but fully audited, or proven with only some groups audited. */
export type NodeKind = 'unknown' | 'watched' | 'trusted'

/** Facts about the lease that an announcement names. */
export interface LeaseFacts {
  readonly lease: LeaseRecord
  readonly configuration: LeaseConfiguration
  readonly taskId: string
  readonly policyId: string
  /** The only body that the lease still accepts: of its verdict, or of an audit that its node knows of. null: any. */
  readonly fixedBodySha256: string | null
  readonly isJudged: boolean
  readonly isQuarantined: boolean
}

/** Reason to refuse an announcement: the code, and a detail for the node. */
export type AdmissionFault = readonly [code: RefusalCode, detail: string]

/** Checks that an announcement belongs to its lease and is in time. A group with a verdict may be announced at any time. */
export function admissionFault(
  { announcement, signer }: Pick<ReceivedGroup, 'announcement' | 'signer'>,
  facts: LeaseFacts | null,
  nowMs: number,
): AdmissionFault | null {
  if (facts === null) return ['unknown_lease', announcement.leaseId]
  const { lease, configuration, taskId, policyId, fixedBodySha256, isJudged, isQuarantined } = facts
  if (lease.node !== signer) return ['lease_owner', `the lease belongs to ${lease.node}`]
  if (fixedBodySha256 !== null && fixedBodySha256 !== announcement.bodySha256)
    return ['replayed', 'another body was announced for the lease']
  if (announcement.taskId !== taskId) return ['body_mismatch', 'the lease is about another task']
  if (announcement.policyId !== policyId) return ['wrong_policy', 'the lease is for another policy']
  if (announcement.rewards.length !== configuration.groupSize)
    return ['wrong_group_size', String(announcement.rewards.length)]
  if (isJudged) return null
  if (isOverdue(lease, nowMs)) return ['lease_expired', `by ${nowMs - lease.deadlineMs} ms`]
  return isQuarantined ? ['quarantined', ''] : null
}

/** Whether the time for a lease's group is over. */
export const isOverdue = ({ deadlineMs }: LeaseRecord, nowMs: number): boolean => nowMs > deadlineMs + GRACE_MS

/** Next step for an admitted group. */
export type NextStep =
  | { readonly do: 'refuse'; readonly code: RefusalCode; readonly detail: string }
  /** It reports no reward variance, and is accepted without verification. */
  | { readonly do: 'believe' }
  | { readonly do: 'judge' }

/**
 * Decides on a group before its body is requested.
 * @param versionsLate  versions published since the group's own
 * @param drawn  whether the lottery has chosen it for closer inspection
 */
export function nextStep(
  { rewards, bodySizeBytes }: Pick<GroupAnnouncement, 'rewards' | 'bodySizeBytes'>,
  { groupSize, limits, maxStaleness }: LeaseConfiguration,
  versionsLate: number,
  drawn: boolean,
): NextStep {
  if (versionsLate > maxStaleness) return { do: 'refuse', code: 'stale_policy', detail: '' }
  // Together with the number of groups in progress, this bounds memory.
  const largest = largestBody(groupSize, limits)
  if (bodySizeBytes > largest) {
    const detail = `a body of ${bodySizeBytes} B, but at most ${largest} B are possible in this run`
    return { do: 'refuse', code: 'too_large', detail }
  }
  return { do: isZeroVariance(rewards) && !drawn ? 'believe' : 'judge' }
}

/** Groups that were admitted and have no verdict yet, with their nodes. */
export class InProgress {
  readonly #groups = new Map<string, { readonly node: string; readonly kind: NodeKind }>()
  readonly #ofNode = new Map<string, number>()
  readonly #ofKind = new Map<NodeKind, number>()

  /** @param perNode  limit of one node @param most  limit of each kind of node */
  constructor(
    readonly perNode: () => number,
    readonly most = MAX_IN_PROGRESS,
  ) {}

  has(leaseId: string): boolean {
    return this.#groups.has(leaseId)
  }

  /** Adds a group. @throws SwarmRefusal `overloaded` */
  take({ leaseId, node }: LeaseRecord, kind: NodeKind): void {
    const held = this.#ofNode.get(node) ?? 0
    const alike = this.#ofKind.get(kind) ?? 0
    if (held >= this.perNode() || alike >= this.most)
      throw refusal(
        'overloaded',
        `${held} groups of this node wait for verdicts, and ${this.#groups.size} groups in all`,
      )
    this.#groups.set(leaseId, { node, kind })
    this.#ofNode.set(node, held + 1)
    this.#ofKind.set(kind, alike + 1)
  }

  release(leaseId: string): void {
    const group = this.#groups.get(leaseId)
    if (!group) return
    this.#groups.delete(leaseId)
    const { node, kind } = group
    const left = this.#ofNode.get(node)! - 1
    if (left > 0) this.#ofNode.set(node, left)
    else this.#ofNode.delete(node)
    this.#ofKind.set(kind, this.#ofKind.get(kind)! - 1)
  }
}

export interface AdmissionParts {
  readonly state: Pick<RunState, 'leases' | 'judged' | 'nodes' | 'roundOf'>
  readonly tasks: readonly Pick<Task, 'id'>[]
  readonly configurationOf: ConfigurationOf
  /** Returns the hash of the body that a drawn group still has to show. */
  readonly owedBody: (leaseId: string) => string | undefined
  readonly clock: Pick<Clock, 'now'>
  readonly watch: CheckWatch
}

/** Verification check 0, the part that needs leases: whether an announcement may be admitted. */
export interface Admission {
  /** Checks an announcement quickly and without side effects. @throws SwarmRefusal */
  check(group: ReceivedGroup): void
  /** Checks a group that is delivered, and counts the check. @returns its lease @throws SwarmRefusal */
  admit(group: ReceivedGroup): LeaseRecord
}

export function createAdmission(parts: AdmissionParts): Admission {
  const { state, tasks, configurationOf, owedBody, clock, watch } = parts

  const factsOf = (leaseId: string): LeaseFacts | null => {
    const lease = state.leases.get(leaseId)
    if (!lease) return null
    const judged = state.judged.get(leaseId)
    return {
      lease,
      configuration: configurationOf(lease),
      taskId: tasks[lease.taskIndex]!.id,
      policyId: state.roundOf(lease).policyId,
      fixedBodySha256: judged?.bodySha256 ?? owedBody(leaseId) ?? null,
      isJudged: judged !== undefined,
      isQuarantined: state.nodes.get(lease.node)?.reputation.isQuarantined(clock.now()) ?? false,
    }
  }

  const faultOf = (group: ReceivedGroup): SwarmRefusal | null => {
    const fault = admissionFault(group, factsOf(group.announcement.leaseId), clock.now())
    return fault && refusal(...fault)
  }

  return {
    check(group) {
      const end = beginCheck(ANNOUNCEMENT_CHECK.number, watch)
      const fault = faultOf(group)
      // An announcement that passes is admitted later, and counted then.
      if (!fault) return
      end(outcomeOf(fault))
      throw fault
    },
    admit(group) {
      const end = beginCheck(ANNOUNCEMENT_CHECK.number, watch)
      const fault = faultOf(group)
      end(fault ? outcomeOf(fault) : 'passed')
      if (fault) throw fault
      return state.leases.get(group.announcement.leaseId)!
    },
  }
}
