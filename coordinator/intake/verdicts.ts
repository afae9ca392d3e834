import { beginStage, DUPLICATES_STAGE, type StageWatch } from '../../judging/index.js'
import { detailForWire, REFUSALS, type RefusalCode, refusal, SwarmRefusal } from '../../proto/index.js'
import type { Clock, ReceivedGroup, SwarmHost } from '../../swarm/index.js'
import type { Audit } from '../ledger/events.js'
import type { Recorder } from '../ledger/recorder.js'
import { isUnseen, type JudgedGroup, type LeaseRecord, type RunState, type TermsOf } from '../ledger/run-state.js'
import type { BodyJudge, ReplayedGroup } from './body-judge.js'
import { accepted, type Outcome, refused } from './outcome.js'
import type { ProofStore } from './proofs.js'

/** What is left of a group's credit for each version it came late. */
const FRESHNESS = 0.9
/** Gossip score that a provable lie costs: enough that nobody listens to the key for a while. */
const LIE_PENALTY = 100

/** Versions that were published since the one a lease's group was made with. */
export const versionsLate = ({ current }: Pick<RunState, 'current'>, { version }: LeaseRecord): number =>
  current!.version - version

/** Credit of a group in whole tokens. */
export const creditFor = (tokens: number, late: number): number => Math.round(tokens * FRESHNESS ** Math.max(0, late))

/** What stands when it is recorded: a group may have become too old while it was judged. */
export const inForce = (outcome: Outcome, late: number, maxStaleness: number): Outcome =>
  outcome.accepted && late > maxStaleness ? refused('stale_policy', '') : outcome

/** A refusal for what no honest node does: the node has signed the proof of it. */
export const isLie = ({ code }: Pick<Outcome, 'code'>): boolean =>
  code !== null && REFUSALS[code].consequence === 'quarantine'

/** The code for what an audit found, and whether it counts as an audit. Tokens that somebody else had, and that are not its own draws, are a copy. */
export function afterAudit(code: RefusalCode, overlaps: boolean): readonly [code: RefusalCode, audit: Audit] {
  if (overlaps && code === 'sampler_mismatch') return ['duplicate', 'failed']
  return [code, code === 'internal' ? 'none' : 'failed']
}

export interface Authorship {
  /** The group repeats one that was accepted before. */
  readonly overlaps: boolean
  /** It has passed an audit that replays draws: they are proof of authorship. */
  readonly proved: boolean
  /** Such an audit is possible. */
  readonly provable: boolean
}

/** What is done with a group that nothing else is held against. Where draws cannot be replayed, who came first is believed. */
export function judgeAuthorship({ overlaps, proved, provable }: Authorship): 'accept' | 'duplicate' | 'audit' {
  if (!overlaps || proved) return 'accept'
  return provable ? 'audit' : 'duplicate'
}

/** A group that was taken in. */
export interface TakenGroup {
  readonly lease: LeaseRecord
  readonly group: Pick<ReceivedGroup, 'announcement' | 'sealed'>
  /** null: it has not come, or was not needed. */
  readonly body: Uint8Array | null
}

export interface VerdictParts {
  readonly recorder: Pick<Recorder, 'state' | 'record'>
  readonly judge: Pick<BodyJudge, 'canAudit' | 'overlap' | 'audit' | 'restore'>
  readonly termsOf: TermsOf
  readonly proofs: ProofStore
  /** Where a node was last connected from. */
  readonly addressBlockOf: (node: string) => string | null
  readonly host: Pick<SwarmHost, 'penalise' | 'logger'>
  readonly clock: Pick<Clock, 'now'>
  readonly watch: StageWatch
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
}

export function createVerdicts(parts: VerdictParts): Verdicts {
  const { recorder, judge, watch } = parts
  const { state } = recorder
  const conclude = concluder(parts)
  const auditAccepted = afterwardsAuditor(parts)

  const auditFault = async (group: ReplayedGroup): Promise<SwarmRefusal | null> => {
    try {
      await judge.audit(group)
      return null
    } catch (why) {
      if (why instanceof SwarmRefusal) return why
      throw why
    }
  }

  const overlapOf = (group: ReplayedGroup) => {
    const end = beginStage(DUPLICATES_STAGE.number, watch)
    const overlap = judge.overlap(group, state)
    end(overlap ? 'refused' : 'passed')
    return overlap
  }

  const settle: Verdicts['settle'] = async (replayed, taken, drawn) => {
    const { lease } = replayed
    const provable = judge.canAudit(lease) && lease.drawsReplay
    const earlier = overlapOf(replayed)
    const audited = drawn || (earlier !== null && provable)
    if (audited) {
      const fault = await auditFault(replayed)
      if (fault) {
        const [code, audit] = afterAudit(fault.code, earlier !== null)
        await conclude(taken, () => refused(code, fault.detail, audit))
        return
      }
    }
    // Draws are proof of authorship: whoever was first to deliver these tokens has to show that they are its own.
    const proved = audited && provable
    if (earlier && proved) await auditAccepted(earlier.leaseId, true)
    const settled = await conclude(taken, (current) => {
      const overlap = judge.overlap(replayed, current)
      const decision = judgeAuthorship({ overlaps: overlap !== null, proved, provable })
      if (decision === 'audit') return null
      if (decision === 'duplicate')
        return refused('duplicate', `${overlap!.rollouts} rollouts are those of an earlier group`)
      return accepted(replayed, audited ? 'passed' : 'none', creditFor(replayed.sampled, versionsLate(current, lease)))
    })
    if (!settled) await settle(replayed, taken, true)
  }

  return { conclude, settle, auditAccepted }
}

function concluder(parts: VerdictParts): Verdicts['conclude'] {
  const { recorder, termsOf, proofs, addressBlockOf, clock } = parts
  const { state } = recorder

  const eventOf = ({ lease, group }: TakenGroup, outcome: Outcome): JudgedGroup => {
    const { leaseId, node, version } = lease
    return {
      type: 'judged',
      atMs: clock.now(),
      leaseId,
      node,
      version,
      bodySha256: group.announcement.bodySha256,
      addressBlock: addressBlockOf(node) ?? state.nodes.get(node)?.addressBlock ?? null,
      ...outcome,
    }
  }

  return async (taken, decide) => {
    const { lease, group, body } = taken
    const { leaseId, node } = lease
    let proved = false
    for (;;) {
      let next = 'done' as 'done' | 'again' | 'prove'
      const recorded = await recorder.record((current) => {
        // A lease that is forgotten is so old that its group had no use, and may have had its verdict.
        if (current.judged.has(leaseId) || !current.leases.has(leaseId)) return null
        const decided = decide(current)
        if (decided === null) {
          next = 'again'
          return null
        }
        const outcome = inForce(decided, versionsLate(current, lease), termsOf(lease).maxStaleness)
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
      if (recorded && !recorded.accepted) noteQuarantine(parts, node)
      return next === 'done'
    }
  }
}

function afterwardsAuditor(parts: VerdictParts): Verdicts['auditAccepted'] {
  const { recorder, judge, clock, signal } = parts
  const { state } = recorder

  const findFault = async (leaseId: string, copied: boolean): Promise<SwarmRefusal | null> => {
    const copy = refusal('duplicate', 'another node has drawn these very tokens from its own seeds')
    try {
      // What cannot be replayed any more, because its world disagrees with itself, cannot be trained on either.
      const group = await judge.restore(leaseId, signal)
      if (copied && !group.lease.drawsReplay) return copy
      await judge.audit(group)
      return null
    } catch (why) {
      if (!(why instanceof SwarmRefusal)) throw why
      return copied && why.code === 'sampler_mismatch' ? copy : why
    }
  }

  return async (leaseId, copied) => {
    if (!state.isOpenToAudit(leaseId)) return
    const { node } = state.leases.get(leaseId)!
    const fault = isUnseen(state.judged.get(leaseId)!) ? refusal('unconfirmed') : await findFault(leaseId, copied)
    await recorder.record((current) => {
      if (!current.isOpenToAudit(leaseId)) return null
      const finding = {
        accepted: fault === null,
        code: fault?.code ?? null,
        detail: detailForWire(fault?.detail ?? ''),
      }
      return { type: 'audited', atMs: clock.now(), leaseId, node, ...finding }
    })
    if (fault) noteQuarantine(parts, node)
  }
}

function noteQuarantine({ recorder, host, clock }: VerdictParts, node: string): void {
  const { standing } = recorder.state.nodes.get(node)!
  if (!standing.isQuarantined(clock.now())) return
  host.penalise(node, LIE_PENALTY)
  host.logger.warn({ node, untilMs: standing.quarantinedUntilMs }, 'a node is quarantined')
}
