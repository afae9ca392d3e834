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

/** Gossip score penalty for a provable lie: enough that gossip ignores the key for a while. */
const LIE_PENALTY = 100

/** Returns how many versions were published since the version of a lease. */
export const versionsLate = ({ current }: Pick<RunState, 'current'>, { version }: LeaseRecord): number =>
  current!.version - version

/** Adjusts an outcome when it is recorded: the group may have become too old, or its key banned. @param ban  of its key */
export function inForce(
  outcome: Outcome,
  { late, ban, maxStaleness }: { late: number; ban: Order | undefined; maxStaleness: number },
): Outcome {
  if (!outcome.accepted) return outcome
  if (ban) return refused('banned', ban.reason ?? '')
  return late > maxStaleness ? refused('stale_policy', '') : outcome
}

/** Consequences of a refusal that exclude a key at once. */
const PROVED: readonly RefusalConsequence[] = ['quarantine', 'exclusion']

/** Whether a refusal proves a lie, which no honest node makes. The node has signed the proof. */
export const isLie = ({ code }: Pick<Outcome, 'code'>): boolean =>
  code !== null && PROVED.includes(REFUSALS[code].consequence)

/** Returns the code for an audit finding, and the result of the audit. Copied tokens that do not match the node's own seed are a duplicate. */
export function afterAudit(code: RefusalCode, overlaps: boolean): readonly [code: RefusalCode, audit: Audit] {
  if (overlaps && code === 'sampler_mismatch') return ['duplicate', 'failed']
  return [code, code === 'internal' ? 'none' : 'failed']
}

/** Facts about the authorship of a group. */
export interface Authorship {
  /** How the group repeats an accepted one, see `Overlap`; null: it does not. */
  readonly overlap: Overlap['kind'] | null
  /** Whether it passed an audit: the sampled tokens match its seed. */
  readonly proved: boolean
  /** Whether an audit is possible. */
  readonly provable: boolean
}

/** Decides on a group without other faults. Where no audit is possible, the first author is believed. */
export function judgeAuthorship({ overlap, proved, provable }: Authorship): 'accept' | 'duplicate' | 'audit' {
  if (overlap === null || proved) return 'accept'
  if (provable) return 'audit'
  return overlap === 'equal' ? 'duplicate' : 'accept'
}

/** An admitted group. */
export interface TakenGroup {
  readonly lease: LeaseRecord
  readonly group: Pick<ReceivedGroup, 'announcement' | 'sealed'>
  /** null: not arrived, or not needed. */
  readonly body: Uint8Array | null
  /** Time of its announcement. */
  readonly arrivedMs: number
}

export interface VerdictParts {
  readonly recorder: Pick<Recorder, 'state' | 'record'>
  readonly judge: Pick<BodyJudge, 'canAudit' | 'overlap' | 'audit' | 'restore'>
  readonly judgedBodies: Pick<GroupBodies, 'giveUp'>
  readonly configurationOf: ConfigurationOf
  readonly proofs: ProofStore
  /** Returns the block of network addresses that a node was last connected from. */
  readonly addressBlockOf: (node: string) => string | null
  readonly host: Pick<SwarmHost, 'clock' | 'logger' | 'penalise'>
  readonly watch: CheckWatch
  readonly signal: AbortSignal
}

/** Turns findings about groups into recorded verdicts. */
export interface Verdicts {
  /**
   * Records the verdict on a group, once. The proof of a lie is stored first.
   * @param decide  returns the outcome in the state in which it will be recorded; null: the group has to be checked again
   * @returns false if `decide` returned null
   */
  conclude(taken: TakenGroup, decide: (current: RunState) => Outcome | null): Promise<boolean>
  /** Runs the checks after the replay, and records the verdict. @param drawn  whether to audit the group */
  settle(replayed: ReplayedGroup, taken: TakenGroup, drawn: boolean): Promise<void>
  /**
   * Audits an accepted group, unless it was audited before or is in a batch, and records the finding.
   * @param copied  whether another node has proved that it sampled the same tokens
   */
  auditAccepted(leaseId: string, copied: boolean): Promise<void>
  /** Revokes, once, an accepted group that the audit of its batch has refused. */
  takeBack(leaseId: string, batchId: string, fault: SwarmRefusal): Promise<void>
  /** Records, once, which groups of the pending batch passed its audit, and what they add to the sums of their keys. */
  passBatch(batchId: string, passed: readonly PassedGroup[]): Promise<void>
}

/** A group that passed the audit by the training forward. */
export interface PassedGroup {
  readonly leaseId: string
  readonly logitErrors: LogitErrorSums
}

/** Result of an audit: a fault, or what the group adds to the sums of its key. */
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
    // Sampled tokens that match a seed prove authorship, so the first node that delivered them has to prove it too.
    const proved = audited !== null && provable
    if (earlier && proved) await auditAccepted(earlier.leaseId, earlier.kind === 'equal')
    const settled = await conclude(taken, (current) => {
      const overlap = judge.overlap(replayed, current)
      const decision = judgeAuthorship({ overlap: overlap?.kind ?? null, proved, provable })
      if (decision === 'audit') return null
      if (decision === 'duplicate')
        return refused('duplicate', `${overlap!.rollouts} rollouts are copies from an earlier group`)
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
    // After the clock was set back, the time must not be negative.
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
        // A forgotten lease is too old, and may have had its verdict.
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
      // The verdict has changed in the meantime, so the proof is not needed.
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
    const copy = refusal('duplicate', 'another node has sampled these very tokens from its own seeds')
    if (isUnseen(state.judged.get(leaseId)!)) return { fault: refusal('unconfirmed'), logitErrors: null }
    try {
      // A group that cannot be replayed any more, because its environment is nondeterministic, cannot be trained on either.
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
