import { SwarmRefusal } from '../../proto/index.js'
import type { Clock, SwarmLogger } from '../../swarm/index.js'
import type { BodyJudge } from '../intake/body-judge.js'
import { BodyError, type GroupBodies } from '../intake/group-bodies.js'
import type { Intake } from '../intake/intake.js'
import type { PassedGroup } from '../intake/verdicts.js'
import { writeFindings } from '../jobs/batch-folder.js'
import { TokenScoreError } from '../jobs/token-score-folder.js'
import type { BatchRecord, LeaseRecord, RunState } from '../ledger/run-state.js'
import { readBatchGroups } from './batch-groups.js'

export interface BatchAuditParts {
  readonly jobs: string
  readonly state: RunState
  /** Bodies of accepted groups. */
  readonly bodies: Pick<GroupBodies, 'read'>
  readonly judge: Pick<BodyJudge, 'canAudit' | 'auditBatch'>
  readonly intake: Pick<Intake, 'takeBack' | 'passBatch'>
  readonly logger: SwarmLogger
  readonly clock: Pick<Clock, 'now'>
}

/**
 * Whether the training forward audits a group: the group can be audited, and has passed no audit. The answer does not change
 * while the batch is pending, so a restart finds the same groups.
 */
export const isUnaudited =
  ({ state, judge }: Pick<BatchAuditParts, 'state' | 'judge'>) =>
  (lease: LeaseRecord): boolean =>
    judge.canAudit(lease) && !state.hasPassedAudit(lease.leaseId)

/**
 * Verifies the groups of a batch on the token scores of the trainer's first forward pass. Records faults and passed audits, and lets the
 * trainer continue without faulty groups and groups of doubted keys. A repetition after a stop at any point records nothing twice.
 * @throws the signal's reason
 */
export async function auditBatch(
  { batchId, leaseIds }: BatchRecord,
  parts: BatchAuditParts,
  signal: AbortSignal,
): Promise<void> {
  const { jobs, state, bodies, judge, intake, logger } = parts
  const leases = leaseIds.map((leaseId) => state.leases.get(leaseId)!).filter(isUnaudited(parts))
  const unaudited = leases.map(({ leaseId }) => leaseId)
  let leftOut = unaudited
  try {
    const { groups, lost } = await readBatchGroups(unaudited, state, bodies, () => false, signal)
    for (const why of lost.values()) throw why
    const found = await judge.auditBatch(
      batchId,
      groups.map(({ rollouts }, i) => ({ lease: leases[i]!, rollouts, rewards: rollouts.map(({ reward }) => reward) })),
    )
    const faulty = new Set<string>()
    const passed: PassedGroup[] = []
    for (const [i, finding] of found.entries()) {
      const leaseId = unaudited[i]!
      if (finding instanceof SwarmRefusal) {
        faulty.add(leaseId)
        await intake.takeBack(leaseId, batchId, finding)
      } else passed.push({ leaseId, logitErrors: finding })
    }
    await intake.passBatch(batchId, passed)
    leftOut = leaseIds.filter((leaseId) => faulty.has(leaseId) || isDoubted(leaseId, parts))
  } catch (error) {
    if (!(error instanceof BodyError || error instanceof TokenScoreError)) throw error
    // Data is lost, which is no fault of a node. But groups that cannot be checked are not trained on.
    logger.error({ batchId, error }, 'the unaudited groups of a batch cannot be verified and are left out')
  }
  signal.throwIfAborted()
  await writeFindings(jobs, batchId, leftOut)
}

/**
 * Whether the key of a group is in doubt. A key that steers is caught by all of its groups together, so none of its groups is
 * trained on, audited or not.
 */
function isDoubted(leaseId: string, { state, clock }: Pick<BatchAuditParts, 'state' | 'clock'>): boolean {
  const { reputation } = state.nodes.get(state.leases.get(leaseId)!.node)!
  return reputation.isHeldBack || reputation.isQuarantined(clock.now())
}
