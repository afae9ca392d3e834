import type { CheckWatch } from '../../rollout/verification/index.js'
import { type BlobStore, createBlobStore, fetchGroupBody, type SwarmHost } from '../../swarm/index.js'
import type { AuditLottery } from '../intake/audit-lottery.js'
import type { Auditor } from '../intake/auditor.js'
import { type BodyJudge, createBodyJudge } from '../intake/body-judge.js'
import { createGroupBodies, type GroupBodies } from '../intake/group-bodies.js'
import { createIntake, type Intake } from '../intake/intake.js'
import { openProofStore } from '../intake/proofs.js'
import type { Replays } from '../intake/replays.js'
import type { DiskLosses } from '../ledger/disk-losses.js'
import type { Recorder } from '../ledger/recorder.js'
import type { ConfigurationOf } from '../ledger/run-state.js'
import type { DataFolder } from '../settings/data-folder.js'
import type { TaskSet } from '../settings/task-set.js'
import type { StartScope } from './progress.js'

export interface IntakeSources {
  readonly folder: Pick<DataFolder, 'bodies' | 'evidence'>
  readonly taskSet: Pick<TaskSet, 'tasks'>
  readonly host: SwarmHost
  readonly recorder: Recorder
  readonly losses: DiskLosses
  readonly replays: Replays
  readonly auditor: Auditor | null
  readonly lottery: AuditLottery
  readonly watch: CheckWatch
  readonly addressBlockOf: (node: string) => string | null
}

/** The part of a coordinator that receives groups and verifies them. */
export interface OpenedIntake {
  /** Bodies of groups, as they were verified. */
  readonly bodies: BlobStore
  readonly judgedBodies: GroupBodies
  readonly judge: BodyJudge
  readonly intake: Intake
  /** Rejects when groups can get no verdicts any more. */
  readonly failure: Promise<never>
}

export async function openIntake(
  { folder, taskSet, host, recorder, losses, replays, auditor, lottery, watch, addressBlockOf }: IntakeSources,
  { cleanUp, signal }: StartScope,
): Promise<OpenedIntake> {
  const { clock } = host
  const { state } = recorder
  const { tasks } = taskSet
  const bodies = await createBlobStore(folder.bodies)
  const judgedBodies = createGroupBodies({
    ...{ bodies, recorder, clock, losses },
    fetch: (holder, bodySha256, ending) => fetchGroupBody(host, [holder], { bodySha256 }, ending),
    isConnected: (node) => host.isConnected(node),
  })
  const configurationOf: ConfigurationOf = (lease) => state.roundOf(lease).configuration
  const judge = createBodyJudge({
    ...{ tasks, configurationOf, replays, state, bodies, judgedBodies, auditor },
    onUnstable: async (environment, { leaseId }) => {
      await recorder.record((current) =>
        current.quarantinedEnvironments.has(environment)
          ? null
          : { type: 'environment-quarantined', atMs: clock.now(), environment, leaseId },
      )
    },
  })
  const failure = Promise.withResolvers<never>()
  const intake = createIntake({
    ...{ tasks, configurationOf, recorder, judge, judgedBodies, lottery, addressBlockOf, host, watch, signal },
    perNode: () => state.configuration!.leases.perNode,
    proofs: await openProofStore(folder.evidence),
    onFailure: failure.reject,
  })
  cleanUp.add(() => intake.idle())
  return { bodies, judgedBodies, judge, intake, failure: failure.promise }
}
