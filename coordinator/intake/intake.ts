import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import type { EpisodeLimits, Task } from '../../episode/index.js'
import { largestBody } from '../../judging/index.js'
import { detailForWire, type GroupAnnouncement, LIMITS, refusal, SwarmRefusal } from '../../proto/index.js'
import {
  addressBlock,
  type Clock,
  fetchGroupBody,
  type PeerConnection,
  type ReceivedGroup,
  type SwarmHost,
} from '../../swarm/index.js'
import type { Audit } from '../ledger/events.js'
import type { Recorder } from '../ledger/recorder.js'
import { isUnseen, type JudgedGroup, type LeaseRecord, type RunState } from '../ledger/run-state.js'
import { auditShare } from '../ledger/standing.js'
import type { RunConfig } from '../settings/config.js'
import { TrainerError } from '../spool/errors.js'
import type { AuditLottery } from './auditor.js'
import type { GroupJudge, ReplayedGroup } from './group-judge.js'
import { accepted, acceptedUnseen, isFlat, type Outcome, refused } from './outcome.js'

/** A group that was announced in time may arrive this much after its deadline: gossip and clocks are not exact. */
const GRACE_MS = 5000
const PULL_TIMEOUT_MS = 30_000
/**
 * Bodies pulled at once, and announced groups without a verdict, which with their bodies bounds memory: of nodes that are known
 * to deliver, and as many of all others. Judging is one at a time, but whoever announces and never delivers must hold up
 * nobody else.
 */
const PULLS = 8
const MAX_IN_HAND = 64
/** What is left of a group's credit for each version it came late. */
const FRESHNESS = 0.9
/** Gossip score that a provable lie costs: enough that nobody listens to the key for a while. */
const LIE_PENALTY = 100

export interface Intake {
  /** Stage 0, without side effects and fast: may this announcement be passed on? @throws SwarmRefusal */
  check(group: ReceivedGroup): void
  /** Takes an announcement in; it is judged in the background. Known ones are ignored. @throws SwarmRefusal */
  accept(group: ReceivedGroup): void
  /** Begins to audit the accepted groups of nodes that were caught since, and refuses groups whose bodies were withheld. */
  auditSuspects(): void
  /** Resolves when everything taken in so far is judged. */
  idle(): Promise<void>
}

export interface IntakeParts {
  readonly config: RunConfig
  readonly tasks: readonly Task[]
  readonly limits: EpisodeLimits
  readonly recorder: Recorder
  readonly judge: GroupJudge
  readonly lottery: AuditLottery
  readonly host: SwarmHost
  readonly clock: Clock
  readonly signal: AbortSignal
  /** There can be no audits any more, so no verdicts either. */
  readonly onFailure: (error: TrainerError) => void
}

/** Where groups come in: stage 0 of the judging table, the pull of the body, the further stages, and the verdict on record. */
export function createIntake(parts: IntakeParts): Intake {
  const { config, tasks, limits, recorder, judge, lottery, host, clock, signal, onFailure } = parts
  const { state } = recorder
  /** Larger ones are not pulled: with the groups in hand, a bound on memory. */
  const largestBytes = largestBody(config.groupSize, limits)
  /** Leases of groups without a verdict yet, with their nodes, and whether those were known to deliver. */
  const inHand = new Map<string, { readonly node: string; readonly reliable: boolean }>()
  const pulls = { reliable: pLimit(PULLS), other: pLimit(PULLS) }
  /** Where nodes were last connected from: one that hangs up before its verdict keeps its address. */
  const blocks = new LRUCache<string, string>({ max: LIMITS.trackedPeers.value })
  const noteBlock = ({ peer, address }: PeerConnection): void => {
    const block = addressBlock(address)
    if (block !== null) blocks.set(peer, block)
  }
  for (const connection of host.connections()) noteBlock(connection)
  const stopNoting = host.onPeer(({ peer }) => {
    for (const connection of host.connections()) if (connection.peer === peer) noteBlock(connection)
  })
  signal.addEventListener('abort', stopNoting, { once: true })
  const underWay = new Set<Promise<void>>()
  const underAudit = new Set<string>()
  /**
   * Groups without reward variance that were drawn, until their bodies come. That its body is asked for tells a node of the draw;
   * with another body it would be made again.
   */
  const owed = new Map<string, { readonly lease: LeaseRecord; readonly announcement: GroupAnnouncement }>()

  /** The lease an announcement answers. @throws SwarmRefusal */
  const leaseOf = ({ announcement, signer }: ReceivedGroup): LeaseRecord => {
    const lease = state.leases.get(announcement.leaseId)
    if (!lease) throw refusal('unknown_lease', announcement.leaseId)
    if (lease.node !== signer) throw refusal('lease_owner', `the lease belongs to ${lease.node}`)
    return lease
  }

  const check = (group: ReceivedGroup): LeaseRecord => {
    const { announcement } = group
    const lease = leaseOf(group)
    const known = state.judged.get(lease.leaseId)
    const { bodySha256 } = known ?? owed.get(lease.leaseId)?.announcement ?? announcement
    if (bodySha256 !== announcement.bodySha256) throw refusal('replayed', 'another body was announced for the lease')
    if (announcement.taskId !== tasks[lease.taskIndex]!.id)
      throw refusal('body_mismatch', 'the lease is about another task')
    if (announcement.policyId !== state.publication(lease.version).policyId)
      throw refusal('wrong_policy', 'the lease is for another policy')
    if (announcement.rewards.length !== config.groupSize)
      throw refusal('wrong_group_size', String(announcement.rewards.length))
    if (known) return lease
    if (clock.now() > lease.deadlineMs + GRACE_MS)
      throw refusal('lease_expired', `by ${clock.now() - lease.deadlineMs} ms`)
    if (state.nodes.get(lease.node)?.standing.isQuarantined(clock.now())) throw refusal('quarantined', '')
    return lease
  }

  const versionsLate = (current: RunState, { version }: LeaseRecord): number => current.current!.version - version

  /** @param decide  the outcome in the state in which it will be recorded; null: the group has to be looked at again */
  const verdict = async (
    lease: LeaseRecord,
    { bodySha256 }: GroupAnnouncement,
    decide: (current: RunState) => Outcome | null,
  ): Promise<boolean> => {
    let settled = true
    const recorded = await recorder.record((current): JudgedGroup | null => {
      if (current.judged.has(lease.leaseId)) return null
      let outcome = decide(current)
      settled = outcome !== null
      if (outcome === null) return null
      if (outcome.accepted && versionsLate(current, lease) > config.maxStaleness) outcome = refused('stale_policy', '')
      const { leaseId, node, version } = lease
      return {
        type: 'judged',
        atMs: clock.now(),
        leaseId,
        node,
        version,
        bodySha256,
        addressBlock: blocks.get(node) ?? state.nodes.get(node)?.addressBlock ?? null,
        ...outcome,
      }
    })
    if (recorded && !recorded.accepted) noteQuarantine(lease.node)
    return settled
  }

  const noteQuarantine = (node: string): void => {
    const { standing } = state.nodes.get(node)!
    if (!standing.isQuarantined(clock.now())) return
    host.penalise(node, LIE_PENALTY)
    host.logger.warn({ node, untilMs: standing.quarantinedUntilMs }, 'a node is quarantined')
  }

  const pull = ({ announcement, signer }: ReceivedGroup): Promise<Uint8Array> =>
    pulls[state.reliable.has(signer) ? 'reliable' : 'other'](() =>
      fetchGroupBody(host, [signer], announcement, AbortSignal.any([signal, clock.timeout(PULL_TIMEOUT_MS)])),
    )

  /** Whether a group is looked at more closely: audited, or, if it claims to teach nothing, judged at all. */
  const isDrawn = (lease: LeaseRecord, bodySha256: string): boolean => {
    const streak = state.nodes.get(lease.node)?.standing.streak ?? 0
    const share = lease.drawsReplay ? auditShare(streak, config.audit) : 1
    return lottery.draws(bodySha256, share)
  }

  const credit = (lease: LeaseRecord, tokens: number): number =>
    Math.round(tokens * FRESHNESS ** Math.max(0, versionsLate(state, lease)))

  const takeIn = async (lease: LeaseRecord, group: ReceivedGroup): Promise<void> => {
    const { announcement, body, signer } = group
    const { rewards, tokensGenerated, bodySha256, bodySizeBytes } = announcement
    if (versionsLate(state, lease) > config.maxStaleness) {
      await verdict(lease, announcement, () => refused('stale_policy', ''))
      return
    }
    if (bodySizeBytes > largestBytes) {
      const detail = `a body of ${bodySizeBytes} B, at most ${largestBytes} are possible in this run`
      await verdict(lease, announcement, () => refused('too_large', detail))
      return
    }
    const drawn = isDrawn(lease, bodySha256)
    if (isFlat(rewards) && !drawn) {
      const most = config.groupSize * limits.maxRolloutTokens
      const earned = credit(lease, Math.min(tokensGenerated, most))
      await verdict(lease, announcement, () => acceptedUnseen(rewards, earned))
      return
    }
    try {
      if (isFlat(rewards) && !body && !owed.has(lease.leaseId)) owed.set(lease.leaseId, { lease, announcement })
      const bytes = body ?? (await pull(group))
      owed.delete(lease.leaseId)
      await settle(await judge.replay(lease, announcement, bytes, signal), announcement, drawn && judge.canAudit)
    } catch (why) {
      signal.throwIfAborted()
      if (why instanceof TrainerError) throw why
      if (!(why instanceof SwarmRefusal)) {
        // Not a verdict: the body did not come, or we failed. The node offers it again.
        host.logger.warn({ lease: lease.leaseId, node: signer, error: why }, 'a group could not be judged')
        return
      }
      await verdict(lease, announcement, () => refused(why.code, why.detail))
    }
  }

  /** Stages 4 to 7 and the verdict. */
  const settle = async (group: ReplayedGroup, announcement: GroupAnnouncement, drawn: boolean): Promise<void> => {
    const { lease } = group
    const provable = judge.canAudit && lease.drawsReplay
    let audit: Audit = 'none'
    let overlap = judge.overlap(group, state)
    if (drawn || (overlap && provable)) {
      try {
        await judge.audit(group)
        audit = 'passed'
      } catch (why) {
        if (!(why instanceof SwarmRefusal)) throw why
        const code = overlap && why.code === 'sampler_mismatch' ? 'duplicate' : why.code
        await verdict(lease, announcement, () => refused(code, why.detail, code === 'internal' ? 'none' : 'failed'))
        return
      }
    }
    // Draws are proof of authorship: whoever was first to deliver these tokens has to show that they are its own.
    const proved = audit === 'passed' && provable
    if (overlap && proved) await auditAccepted(overlap.leaseId, true)
    const settled = await verdict(lease, announcement, (current) => {
      overlap = proved ? null : judge.overlap(group, current)
      if (overlap && provable) return null
      if (overlap) return refused('duplicate', `${overlap.rollouts} rollouts are those of an earlier group`)
      return accepted(group, audit, credit(lease, group.sampled))
    })
    if (!settled) await settle(group, announcement, true)
  }

  /**
   * Audits an accepted group after all, unless it was audited before or is in a batch.
   * @param copied  the same tokens came from another node, which has proved that they are its own
   */
  const auditAccepted = async (leaseId: string, copied: boolean): Promise<void> => {
    if (!state.isOpenToAudit(leaseId)) return
    const fault = isUnseen(state.judged.get(leaseId)!) ? refusal('unconfirmed') : await faultOf(leaseId, copied)
    const { node } = state.leases.get(leaseId)!
    await recorder.record((current) => {
      if (!current.isOpenToAudit(leaseId)) return null
      const finding = {
        accepted: fault === null,
        code: fault?.code ?? null,
        detail: detailForWire(fault?.detail ?? ''),
      }
      return { type: 'audited', atMs: clock.now(), leaseId, node, ...finding }
    })
    if (fault) noteQuarantine(node)
  }

  const faultOf = async (leaseId: string, copied: boolean): Promise<SwarmRefusal | null> => {
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

  const inBackground = (what: object, task: Promise<void>, after: () => void = () => undefined): void => {
    const work = task
      .catch((error: unknown) => {
        if (signal.aborted) return
        if (error instanceof TrainerError) onFailure(error)
        else host.logger.error({ ...what, error }, 'judging failed')
      })
      .finally(() => {
        after()
        underWay.delete(work)
      })
    underWay.add(work)
  }

  return {
    check,
    accept(group) {
      const { leaseId, node } = check(group)
      if (state.judged.has(leaseId) || inHand.has(leaseId)) return
      const reliable = state.reliable.has(node)
      const held = [...inHand.values()].filter((other) => other.node === node).length
      const alike = [...inHand.values()].filter((other) => other.reliable === reliable).length
      if (held >= config.leases.perNode || alike >= MAX_IN_HAND)
        throw refusal('overloaded', `${held} groups of this node wait for their verdicts, ${inHand.size} in all`)
      inHand.set(leaseId, { node, reliable })
      inBackground({ lease: leaseId }, takeIn(state.leases.get(leaseId)!, group), () => inHand.delete(leaseId))
    },
    auditSuspects() {
      for (const [leaseId, { lease, announcement }] of owed) {
        if (state.judged.has(leaseId)) owed.delete(leaseId)
        else if (!inHand.has(leaseId) && clock.now() > lease.deadlineMs + GRACE_MS)
          inBackground(
            { lease: leaseId },
            verdict(lease, announcement, () => refused('body_withheld', '')).then(() => undefined),
          )
      }
      for (const [leaseId, group] of state.suspects) {
        if (underAudit.has(leaseId) || !(judge.canAudit || isUnseen(group))) continue
        underAudit.add(leaseId)
        inBackground({ lease: leaseId }, auditAccepted(leaseId, false), () => underAudit.delete(leaseId))
      }
    },
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}
