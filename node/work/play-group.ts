import type { PrivateKey } from '@libp2p/interface'
import { groupBody, type Lease, sealGroupAnnouncement } from '../../proto/index.js'
import type { Engine } from '../../rollout/engine/index.js'
import { EpisodeError, parseTask, runGroup, type Task } from '../../rollout/episode/index.js'
import { ExampleError } from '../../rollout/reward/index.js'
import { EnvironmentDefect } from '../../servers/kernel/index.js'
import { groupAnnouncementOf, groupBodyOf } from '../delivery/group-body.js'
import type { Outbox } from '../delivery/outbox.js'
import type { LoadedPolicy } from '../policy/policy-keeper.js'
import { cacheTypeFor } from '../policy/policy-runtime.js'
import { NodeError } from '../report/errors.js'
import type { NodeProgress } from '../report/progress.js'
import type { GroupOrigin } from '../store/kept-group.js'
import type { GroupEnd } from './groups-in-progress.js'
import { giveBack, keepLease, type LeaseSource } from './held-lease.js'
import type { LeaseTiming } from './lease-timing.js'
import { dutySignal, isUrgent, type PauseControl } from './pause-control.js'

export interface PlayParts extends LeaseSource {
  readonly key: PrivateKey
  readonly engine: Engine
  readonly outbox: Pick<Outbox, 'add'>
  readonly pauseControl: PauseControl
  readonly leaseTiming: LeaseTiming
  /** Number of groups in progress, this one included. */
  readonly inProgress: () => number
  readonly onProgress: (progress: NodeProgress) => void
}

/**
 * Generates the group of a lease, and puts it into the outbox. An urgent rest and the signal give the lease back.
 * @throws NodeError `bad_lease`, `broken_environment`, `unwritable`; EngineError
 */
export async function playGroup(
  lease: Lease,
  policy: LoadedPolicy,
  parts: PlayParts,
  closing: AbortSignal,
): Promise<GroupEnd> {
  const { host, leaseTiming, onProgress } = parts
  const { leaseId, version, groupSize: rollouts } = lease
  const startedMs = host.clock.elapsedMs()
  onProgress({ type: 'leased', leaseId, version, rollouts, inProgress: parts.inProgress() })
  const urgent = dutySignal(parts.pauseControl, isUrgent)
  const stopping = AbortSignal.any([closing, urgent.signal])
  const over = new AbortController()
  const lost = new AbortController()
  const signal = AbortSignal.any([stopping, lost.signal])
  let hasSlept = false
  const renewing = keepLease(lease, parts, AbortSignal.any([signal, over.signal]), (slept) => {
    hasSlept = slept
    lost.abort(new NodeError('bad_lease', `lease ${leaseId} is over`))
  })
  try {
    await generate(lease, policy, parts, { startedMs, signal })
    return { type: 'done' }
  } catch (error) {
    if (lost.signal.aborted && error === lost.signal.reason) {
      host.logger.child({ part: 'work' }).info({ lease: leaseId }, 'the lease ended before its group was ready')
      const why = leaseTiming.lost({ ms: host.clock.elapsedMs() - startedMs, hasSlept })
      return why === null ? { type: 'done' } : { type: 'too-slow', why }
    }
    await giveBack(lease, signal.aborted ? 'shutdown' : 'failed', parts)
    if (stopping.aborted && error === stopping.reason) return { type: 'done' }
    throw nodeErrorOf(error, lease)
  } finally {
    over.abort()
    urgent.close()
    await renewing
  }
}

async function generate(
  lease: Lease,
  policy: LoadedPolicy,
  { host, key, engine, outbox, leaseTiming, inProgress, onProgress }: PlayParts,
  { startedMs, signal }: { readonly startedMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const { leaseId, version, groupSize } = lease
  const { runtime, limits } = policy
  const task = taskOf(lease, policy)
  const seed = Buffer.from(lease.seed, 'hex')
  const group = await runGroup(task, groupSize, seed, engine, runtime, limits, signal)
  const generationMs = Math.round(host.clock.elapsedMs() - startedMs)
  const body = groupBody.encode(groupBodyOf(lease, group, engine.build, generationMs))
  const announcement = groupAnnouncementOf(lease, group, body)
  const sealed = await sealGroupAnnouncement(key, host.runId, announcement, body)
  const origin = originOf(lease, policy, host.peerId)
  await outbox.add({ leaseId, bodySha256: announcement.bodySha256, sealed, body, origin })
  leaseTiming.delivered(generationMs)
  const { rewards, tokensGenerated: tokens } = announcement
  onProgress({ type: 'group', leaseId, version, rewards, tokens, ms: generationMs, inProgress: inProgress() - 1 })
}

/** Defects of the task or of an environment stop the node: another lease of this run would fail in the same way. */
function nodeErrorOf(error: unknown, { taskId }: Lease): unknown {
  if (error instanceof EpisodeError || error instanceof ExampleError)
    return new NodeError('bad_lease', `task ${taskId}: ${error.message}`, { cause: error })
  if (error instanceof EnvironmentDefect)
    return new NodeError('broken_environment', `task ${taskId}: ${error.message}. Please report this.`, {
      cause: error,
    })
  return error
}

function originOf(lease: Lease, { manifest, limits }: LoadedPolicy, peerId: string): GroupOrigin {
  const { leaseId, index, policyId, version, taskId, task, seed, groupSize } = lease
  const { round, roundSecretHash, policy } = manifest
  return {
    peerId,
    lease: { leaseId, index, policyId, version, taskId, task: new TextDecoder().decode(task), seed, groupSize },
    round,
    roundSecretHash,
    limits,
    base: { name: policy.base.name, sha256: policy.base.ggufSha256, quantisation: policy.base.quantisation },
    adapterSha256: policy.adapter?.sha256 ?? null,
    toolCallFormat: policy.toolCallFormat,
    reward: policy.reward,
    cacheType: cacheTypeFor(policy),
  }
}

function taskOf(lease: Lease, { manifest }: LoadedPolicy): Task {
  const { leaseId, groupSize, taskId } = lease
  if (lease.policyId !== manifest.policyId) throw new NodeError('bad_lease', `lease ${leaseId} is for another policy`)
  const expected = manifest.limits.groupSize
  if (groupSize !== expected)
    throw new NodeError('bad_lease', `lease ${leaseId} is for ${groupSize} rollouts instead of ${expected}`)
  let content: unknown
  try {
    content = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(lease.task))
  } catch (cause) {
    throw new NodeError('bad_lease', `the task of lease ${leaseId} is not JSON`, { cause })
  }
  const task = parseTask(content)
  if (task.id !== taskId)
    throw new NodeError('bad_lease', `lease ${leaseId} names task ${taskId} and contains task ${task.id}`)
  return task
}
