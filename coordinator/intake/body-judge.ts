import pLimit from 'p-limit'
import type { Rollout, Stage, Task } from '../../episode/index.js'
import {
  type AnnouncedGroup,
  completionOf,
  DUPLICATES_STAGE,
  type ExpectedGroup,
  judgeGroup,
  type Overlap,
  type StageWatch,
  UnstableWorlds,
} from '../../judging/index.js'
import { refusal } from '../../proto/index.js'
import type { BlobStore } from '../../swarm/index.js'
import type { LeaseRecord, RunState, TermsOf } from '../ledger/run-state.js'
import type { Auditor } from './auditor.js'

/** A group that passed the stages that need its body alone, as replayed. */
export interface ReplayedGroup {
  readonly lease: LeaseRecord
  readonly rollouts: readonly Rollout[]
  /** Names of the rollouts' completions, see `completionOf`. */
  readonly completions: readonly string[]
  /** Tokens that were sampled in all rollouts. */
  readonly sampled: number
}

/** What judges the groups of a run, from their bodies on: the stages of judging/stages.ts in a run's own surroundings. */
export interface BodyJudge {
  /**
   * Everything that can be recomputed from the body, without tolerance. The body is on disk when this returns.
   * @throws SwarmRefusal with the reason for the volunteer
   */
  replay(lease: LeaseRecord, announced: AnnouncedGroup, bytes: Uint8Array, signal: AbortSignal): Promise<ReplayedGroup>
  /** The accepted group that this one repeats. */
  overlap(group: ReplayedGroup, state: Pick<RunState, 'acceptedOfTask'>): Overlap | null
  /** Whether the terms of the lease have a calibration for its backend, by which an audit could be judged. */
  canAudit(lease: LeaseRecord): boolean
  /** The stages that need the policy's forward pass. @throws SwarmRefusal; TrainerError when there can be no audits any more */
  audit(group: ReplayedGroup): Promise<void>
  /** The rollouts of an accepted group, replayed from its stored body. */
  restore(leaseId: string, signal: AbortSignal): Promise<ReplayedGroup>
}

export interface BodyJudgeParts {
  readonly tasks: readonly Task[]
  readonly termsOf: TermsOf
  /** Where episodes are played again, by the name of their reward. */
  readonly theatreOf: (reward: string) => Stage
  readonly state: Pick<RunState, 'leases' | 'judged' | 'publication' | 'roundOf'>
  readonly bodies: Pick<BlobStore, 'put' | 'read'>
  /** null: the run has no calibration, and there are no audits. */
  readonly auditor: Auditor | null
  /** A world turned out to answer the same calls differently. */
  readonly onUnstable: (server: string, lease: LeaseRecord) => Promise<void>
  readonly watch: StageWatch
}

export function createBodyJudge(parts: BodyJudgeParts): BodyJudge {
  const { tasks, termsOf, theatreOf, state, bodies, auditor, onUnstable, watch } = parts
  /** Replaying is synchronous work in slices: two at once would only delay each other. */
  const judging = pLimit(1)

  const expectedOf = (lease: LeaseRecord): ExpectedGroup => {
    const { groupSize, limits } = termsOf(lease)
    const { policyId } = state.roundOf(lease)
    return { leaseId: lease.leaseId, policyId, task: tasks[lease.taskIndex]!, groupSize, limits }
  }

  const calibrationOf = (lease: LeaseRecord): string | undefined => termsOf(lease).audit.calibrations[lease.backend]

  const replayBody = async (
    lease: LeaseRecord,
    announced: AnnouncedGroup | null,
    bytes: Uint8Array,
    signal: AbortSignal,
  ): Promise<ReplayedGroup> => {
    try {
      const theatre = theatreOf(termsOf(lease).reward)
      const rollouts = await judgeGroup(bytes, expectedOf(lease), theatre, signal, { announced, watch })
      const sampled = rollouts.reduce((sum, { logprobs }) => sum + logprobs.length, 0)
      return { lease, rollouts, completions: rollouts.map(completionOf), sampled }
    } catch (why) {
      if (why instanceof UnstableWorlds) for (const server of why.servers) await onUnstable(server, lease)
      throw why
    }
  }

  return {
    canAudit: (lease) => auditor !== null && calibrationOf(lease) !== undefined,
    replay(lease, announced, bytes, signal) {
      return judging(async () => {
        const group = await replayBody(lease, announced, bytes, signal)
        // The body must be on disk before the verdict that accepts it.
        await bodies.put(bytes)
        return group
      })
    },
    overlap({ lease, completions, rollouts }, current) {
      const earlier = current.acceptedOfTask(lease.taskIndex).filter(({ leaseId }) => leaseId !== lease.leaseId)
      const logprobs = rollouts.map(({ logprobs: own }) => own.reduce((sum, logprob) => sum + logprob, 0))
      return DUPLICATES_STAGE.run(completions, logprobs, earlier)
    },
    async audit({ lease, rollouts }) {
      const { leaseId, drawsReplay, seed } = lease
      const finding = await auditor!.audit({
        leaseId,
        leaseSeed: Buffer.from(seed, 'hex'),
        rollouts,
        adapterSha256: state.publication(lease.version).adapterSha256,
        limits: termsOf(lease).limits,
        calibrationSha256: calibrationOf(lease)!,
        drawsReplay,
      })
      if (!finding) throw refusal('internal', 'the group cannot be recomputed')
      if (!finding.accepted) throw refusal(finding.code, finding.detail)
    },
    restore(leaseId, signal) {
      return judging(async () => {
        const [lease, judged] = [state.leases.get(leaseId), state.judged.get(leaseId)]
        if (!lease || !judged) throw refusal('stale_policy', 'too old by the time it was looked at')
        const { bodySha256 } = judged
        const bytes = await bodies.read(bodySha256)
        if (!bytes) throw new Error(`the body ${bodySha256} of an accepted group is missing`)
        return replayBody(lease, null, bytes, signal)
      })
    },
  }
}
