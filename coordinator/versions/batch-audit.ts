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
 * Whether the training forward is a group's audit: it can be audited, and no audit has passed it. That is as true of a batch
 * that was formed as when it was formed, so a restart finds the same groups.
 */
export const isUnaudited =
  ({ state, judge }: Pick<BatchAuditParts, 'state' | 'judge'>) =>
  (lease: LeaseRecord): boolean =>
    judge.canAudit(lease) && !state.hasPassedAudit(lease.leaseId)

/**
 * Judges what the trainer's first forward pass has shown of a batch's groups, records what is held against them and what the others
 * add to the sums of their keys, and lets the trainer go on without those at fault and those of keys in doubt. Done again after a stop at any instant it records
 * nothing twice.
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
    // Nobody's lie: a disk has forgotten something. But what cannot be checked is not trained on.
    logger.error({ batchId, error }, 'the groups of a batch that no audit has passed cannot be judged and are left out')
  }
  signal.throwIfAborted()
  await writeFindings(jobs, batchId, leftOut)
}

/**
 * A key that steers is caught by all of its groups together, so none of those that are about to be trained on is above suspicion, whether
 * an audit has passed it or not.
 */
function isDoubted(leaseId: string, { state, clock }: Pick<BatchAuditParts, 'state' | 'clock'>): boolean {
  const { reputation } = state.nodes.get(state.leases.get(leaseId)!.node)!
  return reputation.isHeldBack || reputation.isQuarantined(clock.now())
}
