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

export interface Intake {
  /** Stage 0, without side effects and fast: may this announcement be passed on? @throws SwarmRefusal */
  check(group: ReceivedGroup): void
  /** Takes an announcement in; it is judged in the background. Known ones are ignored. @throws SwarmRefusal */
  accept(group: ReceivedGroup): void
  /** Begins to audit the accepted groups of nodes that were caught since, and refuses groups whose bodies were withheld. */
  auditSuspects(): void
  /** Takes an accepted group back that the audit of its batch has found fault with, once. */
  takeBack(leaseId: string, batchId: string, fault: SwarmRefusal): Promise<void>
  /** Notes what the audit of a batch has passed, see `Verdicts.passBatch`. */
  passBatch(batchId: string, passed: readonly PassedGroup[]): Promise<void>
  /** Resolves when everything taken in so far is judged. */
  idle(): Promise<void>
}

export interface IntakeParts {
  readonly tasks: readonly Task[]
  readonly configurationOf: ConfigurationOf
  /** Groups of one node that may wait for their verdicts. */
  readonly perNode: () => number
  readonly recorder: Recorder
  readonly judge: BodyJudge
  readonly judgedBodies: GroupBodies
  readonly lottery: AuditLottery
  readonly proofs: ProofStore
  /** Where a node was last connected from. */
  readonly addressBlockOf: (node: string) => string | null
  readonly host: SwarmHost
  /** Hears what the stages of judging do. */
  readonly watch?: CheckWatch
  readonly signal: AbortSignal
  /** There can be no audits any more, so no verdicts either. */
  readonly onFailure: (error: TrainerError) => void
}

/** Accepted groups that are audited after all at a time: each is replayed from disk and stays in memory until then. */
const MOST_UNDER_AUDIT = 16

/** Where groups come in: admission, the pull of the body, the stages of judging, and the verdict on record. */
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
        // Not a verdict: the body did not come, or we failed. The node offers it again.
        host.logger.warn({ lease: lease.leaseId, node: lease.node, error: why }, 'a group could not be judged')
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

/** Whether a group is looked at more closely: audited, or, if it claims to teach nothing, judged at all. */
const isDrawn = (parts: IntakeParts, lease: LeaseRecord, bodySha256: string): boolean =>
  parts.lottery.draws(bodySha256, auditShareOf(parts, lease))

/** Whether a group that was drawn by chance can do without: the forward pass that would train on it is its audit. */
const isAuditedLater = (parts: Known, lease: LeaseRecord, rewards: readonly number[]): boolean =>
  auditShareOf(parts, lease) < 1 && !isZeroVariance(rewards)

function kindOf(parts: Known, lease: LeaseRecord): NodeKind {
  if (!parts.recorder.state.reliable.has(lease.node)) return 'unknown'
  return auditShareOf(parts, lease) < 1 ? 'trusted' : 'watched'
}

/** Work that goes on in the background, and what becomes of its failures. */
function createUnderWay({ host, signal, onFailure }: Pick<IntakeParts, 'host' | 'signal' | 'onFailure'>) {
  const tasks = new Set<Promise<void>>()
  return {
    add(lease: string, task: Promise<unknown>, after: () => void = () => undefined): void {
      const work: Promise<void> = task
        .then(() => undefined)
        .catch((error: unknown) => {
          if (signal.aborted) return
          if (error instanceof TrainerError) onFailure(error)
          else host.logger.error({ lease, error }, 'judging failed')
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
