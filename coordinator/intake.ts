import pLimit from 'p-limit'
import type { EpisodeLimits, Rollout, Stage, Task } from '../episode/index.js'
import {
  type GroupAnnouncement,
  type GroupBody,
  groupBody,
  LIMITS,
  type RefusalCode,
  refusal,
  SwarmRefusal,
} from '../proto/index.js'
import { type BlobStore, type Clock, fetchGroupBody, type ReceivedGroup, type SwarmHost } from '../swarm/index.js'
import type { RunConfig } from './config.js'
import { judgeGroup } from './judge.js'
import type { Recorder } from './recorder.js'
import type { JudgedGroup, LeaseRecord, RunState } from './run-state.js'

/** A group that was announced in time may arrive this much after its deadline: gossip and clocks are not exact. */
const GRACE_MS = 5000
const PULL_TIMEOUT_MS = 30_000
/** Bodies pulled at once. Judging is one at a time, but a node that delivers slowly must hold up no other. */
const PULLS = 16
/** Announced groups without a verdict; with their bodies, a bound on memory. */
const MAX_IN_HAND = 128
const FLAT = 1e-8

export interface Intake {
  /** Stage 0, without side effects and fast: may this announcement be passed on? @throws SwarmRefusal */
  check(group: ReceivedGroup): void
  /** Takes an announcement in; it is judged in the background. Known ones are ignored. @throws SwarmRefusal */
  accept(group: ReceivedGroup): void
  /** The rollouts of an accepted group, replayed from its stored body. */
  replayAccepted(leaseId: string, signal: AbortSignal): Promise<Rollout[]>
  /** Resolves when everything taken in so far is judged. */
  idle(): Promise<void>
}

export interface IntakeParts {
  readonly config: RunConfig
  readonly tasks: readonly Task[]
  readonly limits: EpisodeLimits
  readonly stage: Stage
  readonly recorder: Recorder
  readonly bodies: BlobStore
  readonly host: SwarmHost
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Where groups come in: stage 0 of the judging table, the pull of the body, stages 1 to 3, and the verdict on record. */
export function createIntake(parts: IntakeParts): Intake {
  const { config, tasks, limits, stage, recorder, bodies, host, clock, signal } = parts
  /** Leases of groups without a verdict yet, with their nodes. */
  const inHand = new Map<string, string>()
  const pulls = pLimit(PULLS)
  const judging = pLimit(1)
  const underWay = new Set<Promise<void>>()

  /** The lease an announcement answers. @throws SwarmRefusal */
  const leaseOf = (state: RunState, { announcement, signer }: ReceivedGroup): LeaseRecord => {
    const lease = state.leases.get(announcement.leaseId)
    if (!lease) throw refusal('unknown_lease', announcement.leaseId)
    if (lease.node !== signer) throw refusal('lease_owner', `the lease belongs to ${lease.node}`)
    return lease
  }

  const check = (group: ReceivedGroup): LeaseRecord => {
    const { announcement } = group
    const lease = leaseOf(recorder.state, group)
    const known = recorder.state.judged.get(lease.leaseId)
    if (known && known.bodySha256 !== announcement.bodySha256) throw refusal('replayed', 'the lease has its verdict')
    if (announcement.taskId !== tasks[lease.taskIndex]!.id)
      throw refusal('body_mismatch', 'the lease is about another task')
    if (announcement.policyId !== policyOf(lease)) throw refusal('wrong_policy', 'the lease is for another policy')
    if (announcement.rewards.length !== config.groupSize)
      throw refusal('wrong_group_size', String(announcement.rewards.length))
    if (!known && clock.now() > lease.deadlineMs + GRACE_MS)
      throw refusal('lease_expired', `by ${clock.now() - lease.deadlineMs} ms`)
    return lease
  }

  const policyOf = ({ version }: LeaseRecord): string =>
    recorder.state.publications.find((publication) => publication.version === version)!.policyId

  const isStale = (state: RunState, lease: LeaseRecord): boolean =>
    (state.current?.version ?? 0) - lease.version > config.maxStaleness

  const verdict = async (lease: LeaseRecord, announcement: GroupAnnouncement, outcome: Outcome): Promise<void> => {
    await recorder.record((state): JudgedGroup | null => {
      if (state.judged.has(lease.leaseId)) return null
      return {
        type: 'judged',
        atMs: clock.now(),
        leaseId: lease.leaseId,
        node: lease.node,
        version: lease.version,
        bodySha256: announcement.bodySha256,
        ...(outcome.accepted && isStale(state, lease) ? refused('stale_policy', '') : outcome),
      }
    })
  }

  const pull = ({ announcement, signer }: ReceivedGroup): Promise<Uint8Array> =>
    pulls(() =>
      fetchGroupBody(host, [signer], announcement, AbortSignal.any([signal, AbortSignal.timeout(PULL_TIMEOUT_MS)])),
    )

  const judge = async (lease: LeaseRecord, group: ReceivedGroup): Promise<void> => {
    const { announcement, body, signer } = group
    const { rewards } = announcement
    if (isStale(recorder.state, lease)) return verdict(lease, announcement, refused('stale_policy', ''))
    if (Math.max(...rewards) - Math.min(...rewards) < FLAT) {
      return verdict(lease, announcement, { ...ACCEPTED, rewards, flat: true })
    }
    try {
      const bytes = body ?? (await pull(group))
      await judging(() => judgeBody(lease, announcement, bytes))
    } catch (why) {
      signal.throwIfAborted()
      if (!(why instanceof SwarmRefusal)) {
        // Not a verdict: the body did not come, or we failed. The node offers it again.
        host.logger.warn({ lease: lease.leaseId, node: signer, error: why }, 'a group could not be judged')
        return
      }
      await verdict(lease, announcement, refused(why.code, why.detail))
    }
  }

  const judgeBody = async (lease: LeaseRecord, announcement: GroupAnnouncement, bytes: Uint8Array): Promise<void> => {
    const rollouts = await judgeGroup(groupBody.parse(bytes), expected(lease), stage, signal)
    const recomputed = rollouts.map(({ reward }) => reward.total)
    if (announcement.rewards.some((reward, i) => reward !== recomputed[i]))
      throw refusal('reward_mismatch', 'the announcement claims other rewards')
    // The body must be on disk before the verdict that accepts it.
    await bodies.put(bytes)
    await verdict(lease, announcement, {
      ...ACCEPTED,
      credit: rollouts.reduce((sum, { logprobs }) => sum + logprobs.length, 0),
      rewards: recomputed,
      calls: rollouts.reduce((sum, { calls }) => sum + calls.length, 0),
      solved: rollouts.filter(({ solved }) => solved).length,
    })
  }

  const expected = (lease: LeaseRecord) => ({
    leaseId: lease.leaseId,
    policyId: policyOf(lease),
    task: tasks[lease.taskIndex]!,
    groupSize: config.groupSize,
    limits,
  })

  return {
    check,
    accept(group) {
      const { leaseId, node } = check(group)
      if (recorder.state.judged.has(leaseId) || inHand.has(leaseId)) return
      const held = [...inHand.values()].filter((other) => other === node).length
      if (held >= config.leases.perNode || inHand.size >= MAX_IN_HAND)
        throw refusal('overloaded', `${held} groups of this node wait for their verdicts, ${inHand.size} in all`)
      inHand.set(leaseId, node)
      const work = judge(recorder.state.leases.get(leaseId)!, group)
        .catch((error: unknown) => {
          if (!signal.aborted) host.logger.error({ lease: leaseId, error }, 'judging failed')
        })
        .finally(() => {
          inHand.delete(leaseId)
          underWay.delete(work)
        })
      underWay.add(work)
    },
    async replayAccepted(leaseId, caller) {
      const { state } = recorder
      const { bodySha256 } = state.judged.get(leaseId)!
      const bytes = await bodies.read(bodySha256)
      if (!bytes) throw new Error(`the body ${bodySha256} of an accepted group is missing`)
      const body: GroupBody = groupBody.parse(bytes)
      return judgeGroup(body, expected(state.leases.get(leaseId)!), stage, caller)
    },
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}

type Outcome = Omit<JudgedGroup, 'type' | 'atMs' | 'leaseId' | 'node' | 'version' | 'bodySha256'>

const ACCEPTED: Outcome = {
  accepted: true,
  code: null,
  detail: '',
  credit: 0,
  rewards: [],
  flat: false,
  calls: 0,
  solved: 0,
}

const refused = (code: RefusalCode, detail: string): Outcome => ({
  ...ACCEPTED,
  accepted: false,
  code,
  detail: sentence(detail),
})

/** A detail as verdicts may carry it: no control characters, and short also when a hostile group chose the letters. */
function sentence(detail: string): string {
  const printable = Buffer.from(detail.replaceAll(/\p{Cc}/gu, ' '))
  if (printable.length <= LIMITS.detailBytes.value) return printable.toString()
  // A character cut in half decodes to U+FFFD, which is longer than the bytes it replaces.
  return printable
    .subarray(0, LIMITS.detailBytes.value - 3)
    .toString()
    .replace(/\ufffd$/, '')
}
