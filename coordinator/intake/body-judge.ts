import { refusal, SwarmRefusal } from '../../proto/index.js'
import type { Rollout, Task } from '../../rollout/episode/index.js'
import {
  type AnnouncedGroup,
  type AuditedRollout,
  type CompletionDigests,
  completionDigests,
  DUPLICATES_CHECK,
  type ExpectedGroup,
  type LogitErrorSums,
  NondeterministicEnvironments,
  type Overlap,
} from '../../rollout/verification/index.js'
import type { BlobStore } from '../../swarm/index.js'
import type { ConfigurationOf, LeaseRecord, RunState } from '../ledger/run-state.js'
import type { Auditor, AuditReport, AuditRequest } from './auditor.js'
import type { GroupBodies } from './group-bodies.js'
import type { Replays } from './replays.js'
import { createTurns } from './turns.js'

/** A replayed group that passed the verification checks that need only its body. */
export interface ReplayedGroup extends CompletionDigests {
  readonly lease: LeaseRecord
  readonly rollouts: readonly Rollout[]
  /** Number of sampled tokens of all rollouts. */
  readonly sampled: number
}

/** The parts of a group that an audit needs. */
export interface AuditableGroup {
  readonly lease: LeaseRecord
  readonly rollouts: readonly AuditedRollout[]
  /** Rewards of its rollouts. */
  readonly rewards: readonly number[]
}

/** Verifies the groups of a run from their bodies on, by the checks of rollout/verification/checks.ts. */
export interface BodyJudge {
  /**
   * Replays a body and compares everything exactly. The body is on disk when this returns.
   * @throws SwarmRefusal with the reason for the volunteer
   */
  replay(lease: LeaseRecord, announced: AnnouncedGroup, bytes: Uint8Array, signal: AbortSignal): Promise<ReplayedGroup>
  /** Returns the accepted group that this one repeats; null: none. */
  overlap(group: ReplayedGroup, state: Pick<RunState, 'acceptedOfTask'>): Overlap | null
  /** Whether the run configuration of the lease has a calibration for its backend. */
  canAudit(lease: LeaseRecord): boolean
  /** Whether audits are requested faster than they are made. */
  readonly isBehind: boolean
  /**
   * Runs the verification checks that need the policy's forward pass.
   * @returns  what the group adds to the sums of its key
   * @throws SwarmRefusal; TrainerError when there can be no audits any more
   */
  audit(group: ReplayedGroup): Promise<LogitErrorSums>
  /**
   * Runs these checks on the token scores that the trainer has written for a batch.
   * @param groups  all groups that were written with their draws, in the order of the batch
   * @returns  for each group its fault, or what it adds to the sums of its key
   * @throws TokenScoreError when the token scores are damaged
   */
  auditBatch(batchId: string, groups: readonly AuditableGroup[]): Promise<(SwarmRefusal | LogitErrorSums)[]>
  /** Replays the stored body of an accepted group, so that it can be audited. @throws BodyError; SwarmRefusal */
  restore(leaseId: string, signal: AbortSignal): Promise<ReplayedGroup>
}

export interface BodyJudgeParts {
  readonly tasks: readonly Task[]
  readonly configurationOf: ConfigurationOf
  /** Runs replays. */
  readonly replays: Replays
  readonly state: Pick<RunState, 'leases' | 'judged' | 'publication' | 'roundOf' | 'reliable'>
  readonly bodies: Pick<BlobStore, 'put'>
  /** Bodies of accepted groups. */
  readonly judgedBodies: Pick<GroupBodies, 'read'>
  /** null: the run has no calibration, so there are no audits. */
  readonly auditor: Auditor | null
  /** Is called with an environment that gave different results for the same calls. */
  readonly onUnstable: (environment: string, lease: LeaseRecord) => Promise<void>
}

export function createBodyJudge(parts: BodyJudgeParts): BodyJudge {
  const { tasks, configurationOf, replays, state, bodies, judgedBodies, auditor, onUnstable } = parts
  const inTurn = createTurns(replays.atOnce)
  const isReliable = ({ node }: LeaseRecord): boolean => state.reliable.has(node)

  const expectedOf = (lease: LeaseRecord): ExpectedGroup => {
    const { groupSize, limits } = configurationOf(lease)
    const { policyId } = state.roundOf(lease)
    return { leaseId: lease.leaseId, policyId, task: tasks[lease.taskIndex]!, groupSize, limits }
  }

  const calibrationOf = (lease: LeaseRecord): string | undefined =>
    configurationOf(lease).audit.calibrations[lease.backend]

  const requestOf = ({ lease, rollouts, rewards }: AuditableGroup): AuditRequest => {
    const { leaseId, seed, version } = lease
    return {
      leaseId,
      leaseSeed: Buffer.from(seed, 'hex'),
      rollouts,
      rewards,
      adapterSha256: state.publication(version).adapterSha256,
      limits: configurationOf(lease).limits,
      calibrationSha256: calibrationOf(lease)!,
      reliable: isReliable(lease),
    }
  }

  const replayBody = async (
    lease: LeaseRecord,
    announced: AnnouncedGroup | null,
    bytes: Uint8Array,
    signal: AbortSignal,
  ): Promise<ReplayedGroup> => {
    try {
      const { reward } = configurationOf(lease)
      const rollouts = await replays.judge({ bytes, expected: expectedOf(lease), announced, reward }, signal)
      const sampled = rollouts.reduce((sum, { logprobs }) => sum + logprobs.length, 0)
      return { lease, rollouts, sampled, ...completionDigests(rollouts) }
    } catch (why) {
      if (why instanceof NondeterministicEnvironments)
        for (const environment of why.environments) await onUnstable(environment, lease)
      throw why
    }
  }

  return {
    get isBehind() {
      return auditor?.isBehind ?? false
    },
    canAudit: (lease) => auditor !== null && calibrationOf(lease) !== undefined,
    async replay(lease, announced, bytes, signal) {
      const group = await inTurn(isReliable(lease), () => replayBody(lease, announced, bytes, signal))
      // The body must be on disk before the verdict that accepts it. Other groups are replayed meanwhile.
      await bodies.put(bytes)
      return group
    },
    overlap({ lease, ...sayings }, current) {
      const earlier = current.acceptedOfTask(lease.taskIndex)
      return DUPLICATES_CHECK.run(
        sayings,
        earlier.filter(({ leaseId }) => leaseId !== lease.leaseId),
      )
    },
    async audit({ lease, rollouts }) {
      const rewards = rollouts.map(({ reward }) => reward.total)
      const report = await auditor!.audit(requestOf({ lease, rollouts, rewards }))
      const found = findingOf(report)
      if (found instanceof SwarmRefusal) throw found
      return found
    },
    async auditBatch(batchId, groups) {
      return (await auditor!.auditBatch(batchId, groups.map(requestOf))).map(findingOf)
    },
    async restore(leaseId, signal) {
      // Both may be forgotten while the body is awaited.
      const [lease, judged] = [state.leases.get(leaseId)!, state.judged.get(leaseId)!]
      // Before the turn, because a lost body may have to be awaited.
      const bytes = await judgedBodies.read(judged, signal)
      return inTurn(isReliable(lease), () => replayBody(lease, null, bytes, signal))
    },
  }
}

function findingOf(report: AuditReport | null): SwarmRefusal | LogitErrorSums {
  if (!report) return refusal('internal', 'the group cannot be recomputed by the audit process')
  return report.accepted ? report.logitErrors : refusal(report.code, report.detail)
}
