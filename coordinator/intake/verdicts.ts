import {
  detailForWire,
  REFUSALS,
  type RefusalCode,
  type RefusalConsequence,
  refusal,
  SwarmRefusal,
} from '../../proto/index.js'
import {
  beginCheck,
  type CheckWatch,
  DUPLICATES_CHECK,
  type LogitErrorSums,
  type Overlap,
} from '../../rollout/verification/index.js'
import type { ReceivedGroup, SwarmHost } from '../../swarm/index.js'
import { creditFor } from '../ledger/credit.js'
import type { Audit } from '../ledger/events.js'
import type { Order } from '../ledger/orders.js'
import type { Recorder } from '../ledger/recorder.js'
import {
  type ConfigurationOf,
  isUnseen,
  type JudgedGroup,
  type LeaseRecord,
  type RunState,
} from '../ledger/run-state.js'
import type { BodyJudge, ReplayedGroup } from './body-judge.js'
import { BodyError, type GroupBodies } from './group-bodies.js'
import { accepted, type Outcome, refused } from './outcome.js'
import type { ProofStore } from './proofs.js'

/** Gossip score that a provable lie costs: enough that nobody listens to the key for a while. */
const LIE_PENALTY = 100

/** Versions that were published since the one a lease's group was made with. */
export const versionsLate = ({ current }: Pick<RunState, 'current'>, { version }: LeaseRecord): number =>
  current!.version - version

/** What stands when it is recorded: a group may have become too old, or its key been banned, while it was judged. @param ban  of its key */
export function inForce(
  outcome: Outcome,
  { late, ban, maxStaleness }: { late: number; ban: Order | undefined; maxStaleness: number },
): Outcome {
  if (!outcome.accepted) return outcome
  if (ban) return refused('banned', ban.reason ?? '')
  return late > maxStaleness ? refused('stale_policy', '') : outcome
}

/** Consequences of a refusal that keep a key from work by themselves. */
const PROVED: readonly RefusalConsequence[] = ['quarantine', 'exclusion']

/** A refusal for what no honest node does: the node has signed the proof of it. */
export const isLie = ({ code }: Pick<Outcome, 'code'>): boolean =>
  code !== null && PROVED.includes(REFUSALS[code].consequence)

/** The code for what an audit found, and whether it counts as an audit. Tokens that somebody else had, and that are not its own draws, are a copy. */
export function afterAudit(code: RefusalCode, overlaps: boolean): readonly [code: RefusalCode, audit: Audit] {
  if (overlaps && code === 'sampler_mismatch') return ['duplicate', 'failed']
  return [code, code === 'internal' ? 'none' : 'failed']
}

export interface Authorship {
  /** How the group repeats one that was accepted before, see `Overlap`; null: it does not. */
  readonly overlap: Overlap['kind'] | null
  /** It has passed an audit: draws are proof of authorship. */
  readonly proved: boolean
  /** An audit is possible. */
  readonly provable: boolean
}

/** What is done with a group that nothing else is held against. Where there are no audits, who came first is believed. */
export function judgeAuthorship({ overlap, proved, provable }: Authorship): 'accept' | 'duplicate' | 'audit' {
  if (overlap === null || proved) return 'accept'
  if (provable) return 'audit'
  return overlap === 'equal' ? 'duplicate' : 'accept'
}

/** A group that was taken in. */
export interface TakenGroup {
  readonly lease: LeaseRecord
  readonly group: Pick<ReceivedGroup, 'announcement' | 'sealed'>
  /** null: it has not come, or was not needed. */
  readonly body: Uint8Array | null
  /** When it was announced. */
  readonly arrivedMs: number
}

export interface VerdictParts {
  readonly recorder: Pick<Recorder, 'state' | 'record'>
  readonly judge: Pick<BodyJudge, 'canAudit' | 'overlap' | 'audit' | 'restore'>
  readonly judgedBodies: Pick<GroupBodies, 'giveUp'>
  readonly configurationOf: ConfigurationOf
  readonly proofs: ProofStore
  /** Where a node was last connected from. */
  readonly addressBlockOf: (node: string) => string | null
  readonly host: Pick<SwarmHost, 'clock' | 'logger' | 'penalise'>
  readonly watch: CheckWatch
  readonly signal: AbortSignal
}

/** From what was found out about a group to what is on record. */
export interface Verdicts {
  /**
   * Records the verdict on a group, once. The proof of a lie is on disk before it.
   * @param decide  the outcome in the state in which it will be recorded; null: the group has to be looked at again
   * @returns false for that
   */
  conclude(taken: TakenGroup, decide: (current: RunState) => Outcome | null): Promise<boolean>
  /** The stages after the replay, and the verdict. @param drawn  for an audit */
  settle(replayed: ReplayedGroup, taken: TakenGroup, drawn: boolean): Promise<void>
  /**
   * Audits an accepted group after all, unless it was audited before or is in a batch, and records the finding.
   * @param copied  the same tokens came from another node, which has proved that they are its own
   */
  auditAccepted(leaseId: string, copied: boolean): Promise<void>
  /** Takes an accepted group back that the audit of its batch has found fault with, once. */
  takeBack(leaseId: string, batchId: string, fault: SwarmRefusal): Promise<void>
  /**
   * Records, once, which groups of the pending batch its audit has passed, and what they add to the sums of their keys.
   */
  passBatch(batchId: string, passed: readonly PassedGroup[]): Promise<void>
}

/** A group of a batch that the training forward has passed. */
export interface PassedGroup {
  readonly leaseId: string
  readonly logitErrors: LogitErrorSums
}

/** What an audit has found: a fault, or what the group adds to the sums of its key. */
type AuditOutcome =
  | { readonly fault: SwarmRefusal; readonly logitErrors: null }
  | { readonly fault: null; readonly logitErrors: LogitErrorSums }

async function auditOf(judge: Pick<BodyJudge, 'audit'>, group: ReplayedGroup): Promise<AuditOutcome> {
  try {
    return { fault: null, logitErrors: await judge.audit(group) }
  } catch (why) {
    if (why instanceof SwarmRefusal) return { fault: why, logitErrors: null }
    throw why
  }
}

export function createVerdicts(parts: VerdictParts): Verdicts {
  const { recorder, judge, watch } = parts
  const { state } = recorder
  const conclude = concluder(parts)
  const auditAccepted = afterwardsAuditor(parts)

  const overlapOf = (group: ReplayedGroup) => {
    const end = beginCheck(DUPLICATES_CHECK.number, watch)
    const overlap = judge.overlap(group, state)
    end(overlap ? 'refused' : 'passed')
    return overlap
  }

  const settle: Verdicts['settle'] = async (replayed, taken, drawn) => {
    const { lease } = replayed
    const provable = judge.canAudit(lease)
    const earlier = overlapOf(replayed)
    const audited = drawn || (earlier !== null && provable) ? await auditOf(judge, replayed) : null
    if (audited?.fault) {
      const { fault } = audited
      const [code, audit] = afterAudit(fault.code, earlier !== null)
      await conclude(taken, () => refused(code, fault.detail, audit))
      return
    }
    // Draws are proof of authorship: whoever was first to deliver these tokens has to show that they are its own.
    const proved = audited !== null && provable
    if (earlier && proved) await auditAccepted(earlier.leaseId, earlier.kind === 'equal')
    const settled = await conclude(taken, (current) => {
      const overlap = judge.overlap(replayed, current)
      const decision = judgeAuthorship({ overlap: overlap?.kind ?? null, proved, provable })
      if (decision === 'audit') return null
      if (decision === 'duplicate')
        return refused('duplicate', `${overlap!.rollouts} rollouts are those of an earlier group`)
      const { reward } = parts.configurationOf(lease)
      return accepted(replayed, audited?.logitErrors ?? null, (rewards) =>
        creditFor({ rewards, reward, late: versionsLate(current, lease) }),
      )
    })
    if (!settled) await settle(replayed, taken, true)
  }

  const takeBack: Verdicts['takeBack'] = async (leaseId, batchId, { code, detail }) => {
    const { node } = state.leases.get(leaseId)!
    await recorder.record((current) => {
      if (!current.accepted.has(leaseId)) return null
      const finding = { accepted: false, code, detail: detailForWire(detail), logitErrors: null, batchId }
      return { type: 'audited', atMs: parts.host.clock.now(), leaseId, node, ...finding }
    })
    noteQuarantine(parts, node)
  }

  const passBatch: Verdicts['passBatch'] = async (batchId, passed) => {
    const groups = passed.map((group) => ({ ...group, node: state.leases.get(group.leaseId)!.node }))
    const { now } = parts.host.clock
    const recorded = await recorder.record((current) => {
      if (groups.length === 0 || current.pendingBatch?.batchId !== batchId || current.isBatchAudited) return null
      return { type: 'batch-audited', atMs: now(), batchId, groups }
    })
    if (recorded) for (const node of new Set(groups.map(({ node }) => node))) noteQuarantine(parts, node)
  }

  return { conclude, settle, auditAccepted, takeBack, passBatch }
}

function concluder(parts: VerdictParts): Verdicts['conclude'] {
  const { recorder, configurationOf, proofs, addressBlockOf } = parts
  const { clock } = parts.host
  const { state } = recorder

  const eventOf = ({ lease, group, arrivedMs }: TakenGroup, outcome: Outcome): JudgedGroup => {
    const { leaseId, node, version } = lease
    // A clock that was set back in between must not make the time negative.
    const tookMs = Math.max(0, Math.round(arrivedMs - lease.atMs))
    return {
      type: 'judged',
      atMs: clock.now(),
      leaseId,
      node,
      version,
      bodySha256: group.announcement.bodySha256,
      addressBlock: addressBlockOf(node) ?? state.nodes.get(node)?.addressBlock ?? null,
      ...outcome,
      ...(outcome.accepted && outcome.sampledTokens > 0 ? { tookMs } : {}),
    }
  }

  return async (taken, decide) => {
    const { lease, group, body } = taken
    const { leaseId, node } = lease
    let proved = false
    for (;;) {
      let next = 'done' as 'done' | 'again' | 'prove'
      const recorded = await recorder.record((current) => {
        // A lease that is forgotten is so old that its group is of no use, and may have had its verdict.
        if (current.judged.has(leaseId) || !current.leases.has(leaseId)) return null
        const decided = decide(current)
        if (decided === null) {
          next = 'again'
          return null
        }
        const outcome = inForce(decided, {
          late: versionsLate(current, lease),
          ban: current.orders.banned.get(node),
          maxStaleness: configurationOf(lease).maxStaleness,
        })
        if (isLie(outcome) && !proved) {
          next = 'prove'
          return null
        }
        return eventOf(taken, outcome)
      })
      if (next === 'prove') {
        await proofs.keep(leaseId, group.sealed, body)
        proved = true
        continue
      }
      // What it was to prove has turned out otherwise meanwhile.
      if (proved && !(recorded && isLie(recorded))) await proofs.drop(leaseId)
      if (recorded) noteQuarantine(parts, node)
      return next === 'done'
    }
  }
}

function afterwardsAuditor(parts: VerdictParts): Verdicts['auditAccepted'] {
  const { recorder, judge, judgedBodies, host, signal } = parts
  const { state } = recorder

  const find = async (leaseId: string, copied: boolean): Promise<AuditOutcome | BodyError> => {
    const copy = refusal('duplicate', 'another node has drawn these very tokens from its own seeds')
    if (isUnseen(state.judged.get(leaseId)!)) return { fault: refusal('unconfirmed'), logitErrors: null }
    try {
      // What cannot be replayed any more, because its world disagrees with itself, cannot be trained on either.
      const group = await judge.restore(leaseId, signal)
      const found = await auditOf(judge, group)
      return copied && found.fault?.code === 'sampler_mismatch' ? { fault: copy, logitErrors: null } : found
    } catch (why) {
      if (why instanceof BodyError) return why
      if (!(why instanceof SwarmRefusal)) throw why
      return { fault: why, logitErrors: null }
    }
  }

  return async (leaseId, copied) => {
    if (!state.isOpenToAudit(leaseId)) return
    const { node } = state.leases.get(leaseId)!
    const found = await find(leaseId, copied)
    if (found instanceof BodyError) {
      await judgedBodies.giveUp(leaseId, found)
      return
    }
    const { fault, logitErrors } = found
    await recorder.record((current) => {
      if (!current.isOpenToAudit(leaseId)) return null
      const finding = {
        accepted: fault === null,
        code: fault?.code ?? null,
        detail: detailForWire(fault?.detail ?? ''),
        logitErrors,
      }
      return { type: 'audited', atMs: host.clock.now(), leaseId, node, ...finding }
    })
    noteQuarantine(parts, node)
  }
}

function noteQuarantine({ recorder, host }: VerdictParts, node: string): void {
  const { reputation } = recorder.state.nodes.get(node)!
  if (!reputation.isQuarantined(host.clock.now())) return
  host.penalise(node, LIE_PENALTY)
  host.logger.warn({ node, untilMs: reputation.quarantinedUntilMs }, 'a node is quarantined')
}
