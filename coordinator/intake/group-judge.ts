import pLimit from 'p-limit'
import type { EpisodeLimits, Rollout, Stage, Task } from '../../episode/index.js'
import {
  type AuditVerdict,
  completionOf,
  type ExpectedGroup,
  findOverlap,
  judgeGroup,
  type Overlap,
  unstableWorlds,
} from '../../judging/index.js'
import {
  type GroupAnnouncement,
  type GroupBody,
  groupBody,
  type RefusalCode,
  refusal,
  SwarmRefusal,
} from '../../proto/index.js'
import type { BlobStore } from '../../swarm/index.js'
import type { LeaseRecord, RunState } from '../ledger/run-state.js'
import type { Auditor } from './auditor.js'

/** A group that passed stages 1 to 3, as replayed. */
export interface ReplayedGroup {
  readonly lease: LeaseRecord
  readonly rollouts: readonly Rollout[]
  /** Names of the rollouts' completions, see `completionOf`. */
  readonly completions: readonly string[]
  /** Tokens that were sampled in all rollouts. */
  readonly sampled: number
}

/** What judges the groups of a run, from their bodies on. */
export interface GroupJudge {
  /**
   * Stages 1 to 3: everything that can be recomputed, without tolerance. The body is on disk when this returns.
   * @throws SwarmRefusal with the reason for the volunteer
   */
  replay(
    lease: LeaseRecord,
    announcement: GroupAnnouncement,
    bytes: Uint8Array,
    signal: AbortSignal,
  ): Promise<ReplayedGroup>
  /** Stage 4: the accepted group that this one repeats. */
  overlap(group: ReplayedGroup, state: RunState): Overlap | null
  readonly canAudit: boolean
  /** Stages 5 to 7. @throws SwarmRefusal; TrainerError when there can be no audits any more */
  audit(group: ReplayedGroup): Promise<void>
  /** The rollouts of an accepted group, replayed from its stored body. */
  restore(leaseId: string, signal: AbortSignal): Promise<ReplayedGroup>
}

export interface GroupJudgeParts {
  readonly tasks: readonly Task[]
  readonly groupSize: number
  readonly limits: EpisodeLimits
  readonly stage: Stage
  readonly state: RunState
  readonly bodies: BlobStore
  /** null: the run has no calibration, and stages 5 to 7 are not run. */
  readonly auditor: Auditor | null
  /** A world turned out to answer the same calls differently. */
  readonly onUnstable: (server: string, lease: LeaseRecord) => Promise<void>
}

/** What a world that is not deterministic looks like. */
const REPLAY_DIFFERS: ReadonlySet<RefusalCode> = new Set([
  'environment_mismatch',
  'replay_mismatch',
  'state_mismatch',
  'reward_mismatch',
  'termination',
])

export function createGroupJudge(parts: GroupJudgeParts): GroupJudge {
  const { tasks, groupSize, limits, stage, state, bodies, auditor, onUnstable } = parts
  /** Replaying is synchronous work in slices: two at once would only delay each other. */
  const judging = pLimit(1)

  const expectedOf = (lease: LeaseRecord): ExpectedGroup => ({
    leaseId: lease.leaseId,
    policyId: state.publication(lease.version).policyId,
    task: tasks[lease.taskIndex]!,
    groupSize,
    limits,
  })

  /** Before a node is blamed for a replay that differs: does the world agree with itself? */
  const blameWorld = async (body: GroupBody, lease: LeaseRecord, signal: AbortSignal): Promise<void> => {
    const { task } = expectedOf(lease)
    for (const recorded of body.rollouts) {
      const unstable = await unstableWorlds(recorded, task, limits, stage, signal)
      for (const server of unstable) await onUnstable(server, lease)
      if (unstable.length > 0) throw refusal('world_unstable', unstable.join(', '))
    }
  }

  const replayBody = async (bytes: Uint8Array, lease: LeaseRecord, signal: AbortSignal): Promise<ReplayedGroup> => {
    const body = groupBody.parse(bytes)
    try {
      const rollouts = await judgeGroup(body, expectedOf(lease), stage, signal)
      return {
        lease,
        rollouts,
        completions: rollouts.map(completionOf),
        sampled: rollouts.reduce((sum, { logprobs }) => sum + logprobs.length, 0),
      }
    } catch (why) {
      if (why instanceof SwarmRefusal && REPLAY_DIFFERS.has(why.code)) await blameWorld(body, lease, signal)
      throw why
    }
  }

  return {
    canAudit: auditor !== null,
    replay(lease, announcement, bytes, signal) {
      return judging(async () => {
        const group = await replayBody(bytes, lease, signal)
        if (announcement.rewards.some((reward, i) => reward !== group.rollouts[i]!.reward.total))
          throw refusal('reward_mismatch', 'the announcement claims other rewards')
        if (announcement.tokensGenerated !== group.sampled)
          throw refusal(
            'body_mismatch',
            `announced with ${announcement.tokensGenerated} tokens, it has ${group.sampled}`,
          )
        // The body must be on disk before the verdict that accepts it.
        await bodies.put(bytes)
        return group
      })
    },
    overlap({ lease, completions, rollouts }, current) {
      const earlier = current.acceptedOfTask(lease.taskIndex).filter(({ leaseId }) => leaseId !== lease.leaseId)
      const logprobs = rollouts.map(({ logprobs: own }) => own.reduce((sum, logprob) => sum + logprob, 0))
      return findOverlap(completions, logprobs, earlier)
    },
    async audit({ lease, rollouts }) {
      const { leaseId, backend, drawsReplay, seed } = lease
      const verdict: AuditVerdict | null = await auditor!.audit({
        leaseId,
        leaseSeed: Buffer.from(seed, 'hex'),
        rollouts,
        adapterSha256: state.publication(lease.version).adapterSha256,
        backend,
        drawsReplay,
      })
      if (!verdict) throw refusal('internal', 'the group cannot be recomputed')
      if (!verdict.accepted) throw refusal(verdict.code, verdict.detail)
    },
    restore(leaseId, signal) {
      return judging(async () => {
        const { bodySha256 } = state.judged.get(leaseId)!
        const bytes = await bodies.read(bodySha256)
        if (!bytes) throw new Error(`the body ${bodySha256} of an accepted group is missing`)
        return replayBody(bytes, state.leases.get(leaseId)!, signal)
      })
    },
  }
}
