import { SwarmRefusal } from '../../proto/index.js'
import type { Task } from '../../rollout/episode/index.js'
import { type CheckWatch, UNWATCHED } from '../../rollout/verification/index.js'
import { fetchGroupBody, type ReceivedGroup, type SwarmHost } from '../../swarm/index.js'
import { TrainerError } from '../jobs/errors.js'
import type { Recorder } from '../ledger/recorder.js'
import { auditShare, UNKNOWN } from '../ledger/reputation.js'
import { type ConfigurationOf, isUnseen, type LeaseRecord } from '../ledger/run-state.js'
import { createAdmission, InProgress, type NodeKind, nextStep } from './admission.js'
import type { AuditLottery } from './audit-lottery.js'
import type { BodyJudge } from './body-judge.js'
import type { GroupBodies } from './group-bodies.js'
import { acceptedUnseen, isZeroVariance, refused } from './outcome.js'
import type { ProofStore } from './proofs.js'
import { createPulls } from './pulls.js'
import { createVerdicts, type PassedGroup, type TakenGroup, versionsLate } from './verdicts.js'

/** Receives groups and verifies them. */
export interface Intake {
  /** Verification check 0, fast and without side effects: whether gossip may pass the announcement on. @throws SwarmRefusal */
  check(group: ReceivedGroup): void
  /** Accepts an announcement, and verifies it in the background. Known announcements are ignored. @throws SwarmRefusal */
  accept(group: ReceivedGroup): void
  /** Begins audits of accepted groups whose nodes were caught later, and refuses groups whose bodies were withheld. */
  auditSuspects(): void
  /** Revokes, once, an accepted group that the audit of its batch has refused. */
  takeBack(leaseId: string, batchId: string, fault: SwarmRefusal): Promise<void>
  /** Records passed audits of a batch, see `Verdicts.passBatch`. */
  passBatch(batchId: string, passed: readonly PassedGroup[]): Promise<void>
  /** Resolves when everything accepted so far is verified. */
  idle(): Promise<void>
}

export interface IntakeParts {
  readonly tasks: readonly Task[]
  readonly configurationOf: ConfigurationOf
  /** Returns how many groups of one node may wait for their verdicts. */
  readonly perNode: () => number
  readonly recorder: Recorder
  readonly judge: BodyJudge
  readonly judgedBodies: GroupBodies
  readonly lottery: AuditLottery
  readonly proofs: ProofStore
  /** Returns the block of network addresses that a node was last connected from. */
  readonly addressBlockOf: (node: string) => string | null
  readonly host: SwarmHost
  /** Observes the verification checks. */
  readonly watch?: CheckWatch
  readonly signal: AbortSignal
  /** Is called when there can be no audits, and so no verdicts, any more. */
  readonly onFailure: (error: TrainerError) => void
}

/** Accepted groups under audit at a time. Each is replayed from disk and stays in memory. */
const MOST_UNDER_AUDIT = 16

/** Assembles admission, download of bodies, verification checks, and recording of verdicts. */
export function createIntake(parts: IntakeParts): Intake {
  const {
    tasks,
    configurationOf,
    recorder,
    judge,
    judgedBodies,
    proofs,
    addressBlockOf,
    host,
    watch = UNWATCHED,
    signal,
  } = parts
  const { clock } = host
  const { state } = recorder
  const inProgress = new InProgress(parts.perNode)
  const pulls = createPulls({
    fetch: (holder, announcement, ending) => fetchGroupBody(host, [holder], announcement, ending),
    isReliable: (node) => state.reliable.has(node),
    clock,
    signal,
  })
  const admission = createAdmission({ state, tasks, configurationOf, owedBody: pulls.owed, clock, watch })
  const verdicts = createVerdicts({
    ...{ recorder, judge, judgedBodies, configurationOf, proofs },
    ...{ addressBlockOf, host, watch, signal },
  })
  const underWay = createUnderWay(parts)
  const underAudit = new Set<string>()

  const takeIn = async (lease: LeaseRecord, group: ReceivedGroup): Promise<void> => {
    const { announcement } = group
    const { rewards, bodySha256 } = announcement
    const drawn = isDrawn(parts, lease, bodySha256)
    const ban = state.orders.banned.get(lease.node)
    const step = ban
      ? ({ do: 'refuse', code: 'banned', detail: ban.reason ?? '' } as const)
      : nextStep(announcement, configurationOf(lease), versionsLate(state, lease), drawn)
    let taken: TakenGroup = { lease, group, body: group.body, arrivedMs: clock.now() }
    if (step.do === 'refuse') {
      await verdicts.conclude(taken, () => refused(step.code, step.detail))
      return
    }
    if (step.do === 'believe') {
      await verdicts.conclude(taken, () => acceptedUnseen(rewards))
      return
    }
    try {
      const body = await pulls.body(lease, group)
      taken = { ...taken, body }
      const replayed = await judge.replay(lease, announcement, body, signal)
      const audits = judge.canAudit(lease) && drawn && !(judge.isBehind && isAuditedLater(parts, lease, rewards))
      await verdicts.settle(replayed, taken, audits)
    } catch (why) {
      signal.throwIfAborted()
      if (why instanceof TrainerError) throw why
      if (!(why instanceof SwarmRefusal)) {
        // Not a verdict: the body did not arrive, or this coordinator failed. The node offers the group again.
        host.logger.warn({ lease: lease.leaseId, node: lease.node, error: why }, 'a group could not be verified')
        return
      }
      await verdicts.conclude(taken, () => refused(why.code, why.detail))
    }
  }

  return {
    check: (group) => admission.check(group),
    accept(group) {
      const lease = admission.admit(group)
      const { leaseId } = lease
      if (state.judged.has(leaseId) || inProgress.has(leaseId)) return
      inProgress.take(lease, kindOf(parts, lease))
      underWay.add(leaseId, takeIn(lease, group), () => inProgress.release(leaseId))
    },
    auditSuspects() {
      const withheld = pulls.withheld(
        (leaseId) => state.judged.has(leaseId),
        (leaseId) => inProgress.has(leaseId),
      )
      for (const { lease, group } of withheld) {
        underWay.add(
          lease.leaseId,
          verdicts.conclude({ lease, group, body: null, arrivedMs: clock.now() }, () => refused('body_withheld', '')),
        )
      }
      for (const [leaseId, group] of state.suspects) {
        if (underAudit.size >= MOST_UNDER_AUDIT) break
        if (underAudit.has(leaseId) || !(judge.canAudit(state.leases.get(leaseId)!) || isUnseen(group))) continue
        underAudit.add(leaseId)
        underWay.add(leaseId, verdicts.auditAccepted(leaseId, false), () => underAudit.delete(leaseId))
      }
    },
    takeBack: (leaseId, batchId, fault) => verdicts.takeBack(leaseId, batchId, fault),
    passBatch: (batchId, passed) => verdicts.passBatch(batchId, passed),
    idle: () => underWay.idle(),
  }
}

type Known = Pick<IntakeParts, 'recorder' | 'configurationOf'>

const auditShareOf = ({ recorder, configurationOf }: Known, lease: LeaseRecord): number =>
  auditShare(recorder.state.nodes.get(lease.node)?.reputation ?? UNKNOWN, configurationOf(lease).audit)

/** Whether a group is inspected more closely: audited, or, without reward variance, verified at all. */
const isDrawn = (parts: IntakeParts, lease: LeaseRecord, bodySha256: string): boolean =>
  parts.lottery.draws(bodySha256, auditShareOf(parts, lease))

/** Whether the audit of a drawn group may be skipped, because the training forward will audit it. */
const isAuditedLater = (parts: Known, lease: LeaseRecord, rewards: readonly number[]): boolean =>
  auditShareOf(parts, lease) < 1 && !isZeroVariance(rewards)

function kindOf(parts: Known, lease: LeaseRecord): NodeKind {
  if (!parts.recorder.state.reliable.has(lease.node)) return 'unknown'
  return auditShareOf(parts, lease) < 1 ? 'trusted' : 'watched'
}

/** Tracks work in the background and handles its failures. */
function createUnderWay({ host, signal, onFailure }: Pick<IntakeParts, 'host' | 'signal' | 'onFailure'>) {
  const tasks = new Set<Promise<void>>()
  return {
    add(lease: string, task: Promise<unknown>, after: () => void = () => undefined): void {
      const work: Promise<void> = task
        .then(() => undefined)
        .catch((error: unknown) => {
          if (signal.aborted) return
          if (error instanceof TrainerError) onFailure(error)
          else host.logger.error({ lease, error }, 'verification failed')
        })
        .finally(() => {
          after()
          tasks.delete(work)
        })
      tasks.add(work)
    },
    async idle(): Promise<void> {
      while (tasks.size > 0) await Promise.all(tasks)
    },
  }
}
