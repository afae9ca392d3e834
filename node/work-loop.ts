import { randomBytes } from 'node:crypto'
import type { PrivateKey } from '@libp2p/interface'
import { type Engine, EngineError } from '../engine/index.js'
import { EpisodeError, parseTask, runGroup, type Stage, type Task } from '../episode/index.js'
import {
  groupBody,
  type Lease,
  type LeaseAsk,
  type LeaseRequest,
  LIMITS,
  type ReturnReason,
  SwarmRefusal,
  sealGroupAnnouncement,
} from '../proto/index.js'
import { ExampleError } from '../reward/index.js'
import { WorldDefect } from '../servers/kernel/index.js'
import { type Clock, type KeptConnection, requestLeases, type SwarmHost, TransportError } from '../swarm/index.js'
import { NodeError } from './errors.js'
import { groupAnnouncementOf, groupBodyOf } from './group-body.js'
import type { GroupOrigin } from './kept-group.js'
import type { Outbox } from './outbox.js'
import type { LoadedPolicy, PolicyKeeper } from './policy-keeper.js'
import type { NodeProgress } from './progress.js'
import type { NodeStore } from './store.js'

export interface WorkLoopParts {
  readonly host: SwarmHost
  readonly key: PrivateKey
  readonly coordinator: string
  readonly engine: Engine
  readonly stage: Stage
  readonly keeper: PolicyKeeper
  readonly outbox: Outbox
  readonly store: Pick<NodeStore, 'keepRounds'>
  readonly agent: string
  /** With the coordinator. */
  readonly connection: Pick<KeptConnection, 'connected' | 'problem'>
  readonly onProgress: (progress: NodeProgress) => void
}

const REQUEST_TIMEOUT_MS = 15_000
/** Pause after a failure of the network; the connection itself is kept elsewhere. */
const RETRY_MS = 1000
const SHORTEST_PAUSE_MS = 100
/** The coordinator names the pause, up to 24 days: a run that has work again should not wait for its nodes. */
const LONGEST_PAUSE_MS = 60_000

/** Between two renewals of a lease. */
const SHORTEST_RENEWAL_MS = 5000
const LONGEST_RENEWAL_MS = 60_000

/** How long a missing connection is no news. */
const PATIENCE_MS = 5000
/** Failures in a row of which each may be chance: a restart, a lost connection. */
const CHANCE_FAILURES = 2
/** Crashes of the engine in a row, without a finished group, after which it is not started again. */
const MAX_CRASHES = 3

/**
 * Works until the signal fires: newest policy, a lease, a group, again. What fails on the way to the coordinator is
 * tried again, and so is a crash of the engine; a node that cannot do the run's work at all stops.
 * @throws NodeError `wrong_base`, `incompatible`, `canary_failed`, `bad_lease`, `broken_world`, `unwritable`; EngineError
 */
export async function workLoop(parts: WorkLoopParts, signal: AbortSignal): Promise<void> {
  const { host, keeper, onProgress } = parts
  let crashes = 0
  let failures = 0
  let told = ''
  while (!signal.aborted) {
    try {
      await untilConnected(parts, signal)
      const before = keeper.loaded
      const policy = await takeUp(parts, signal)
      await workUnder(policy, parts, signal, {
        onAnswer: () => {
          failures = 0
          told = ''
        },
        onGroup: () => {
          crashes = 0
        },
      })
      // A coordinator that names a manifest which it does not serve would be asked without a pause.
      if (policy === before) await host.clock.sleep(RETRY_MS, signal)
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof EngineError && error.code === 'engine_crashed') {
        crashes += 1
        if (crashes >= MAX_CRASHES) throw error
        host.logger.warn({ error, crashes }, 'the engine crashed; it is started again')
      } else if (error instanceof TransportError || error instanceof SwarmRefusal || isTimeout(error)) {
        host.logger.info({ error }, 'the coordinator cannot be worked with at the moment')
        failures += 1
        const { message } = error as Error
        if (failures > CHANCE_FAILURES && message !== told) {
          told = message
          onProgress({ type: 'trouble', detail: message })
        }
      } else throw error
      await host.clock.sleep(RETRY_MS, signal).catch(() => undefined)
    }
  }
}

/** Loads the newest policy, if it is another one than before, and tells of it. */
async function takeUp({ keeper, store, onProgress }: WorkLoopParts, signal: AbortSignal): Promise<LoadedPolicy> {
  const before = keeper.loaded
  const policy = await keeper.update(signal)
  const { version, policyId, closedRounds } = policy.manifest
  if (policy !== before) await store.keepRounds(closedRounds)
  if (version !== before?.manifest.version) onProgress({ type: 'policy', version, policyId })
  if (!policy.drawsReplay && before?.drawsReplay !== false) onProgress({ type: 'draws-differ' })
  return policy
}

async function untilConnected(
  { connection, onProgress, host: { clock } }: WorkLoopParts,
  signal: AbortSignal,
): Promise<void> {
  const arrived = new AbortController()
  clock.sleep(PATIENCE_MS, arrived.signal).then(
    () => onProgress({ type: 'offline', detail: connection.problem ?? 'no answer yet' }),
    () => undefined,
  )
  try {
    await connection.connected(signal)
  } finally {
    arrived.abort()
  }
}

/** Groups for one policy, until the coordinator names another. */
async function workUnder(
  loaded: LoadedPolicy,
  parts: WorkLoopParts,
  signal: AbortSignal,
  { onAnswer, onGroup }: { onAnswer(): void; onGroup(): void },
): Promise<void> {
  const { host, coordinator, outbox, agent, engine, onProgress } = parts
  const isFull = (): boolean => outbox.waiting.length >= LIMITS.leasesHeld.value
  let policy = loaded
  while (!signal.aborted) {
    // Kept on disk and in memory until they have their verdicts: a coordinator that gives none gets no more of them.
    if (isFull()) onProgress({ type: 'trouble', detail: `${outbox.waiting.length} groups wait for their verdicts` })
    while (isFull()) await host.clock.sleep(RETRY_MS, signal)
    const ask: LeaseAsk = {
      kind: 'ask',
      count: 1,
      policyId: policy.manifest.policyId,
      nonce: randomBytes(16).toString('hex'),
      holding: outbox.waiting,
      agent,
      backend: engine.build.backend,
      drawsReplay: policy.drawsReplay,
    }
    const response = await requestLeases(host, coordinator, ask, within(host.clock, signal))
    onAnswer()
    if (response.leases.length > ask.count)
      throw new NodeError('bad_lease', `${response.leases.length} leases instead of ${ask.count}`)
    if (response.manifestId !== policy.manifestId) {
      if (response.leases.length === 0) return
      // A round was opened meanwhile. Its manifest is soon there, and a lease that is left lying counts against its node.
      policy = await takeUp(parts, signal)
    }
    for (const lease of response.leases) {
      if (policy !== loaded && lease.policyId !== policy.manifest.policyId) return giveBack(lease, 'superseded', parts)
      await work(lease, policy, parts, signal)
      onGroup()
    }
    if (response.leases.length > 0) continue
    const { reason, detail } = response
    onProgress({ type: 'idle', reason: reason ?? 'no_work', detail, waiting: outbox.waiting.length })
    const pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, response.retryAfterMs))
    await host.clock.sleep(pauseMs, signal)
  }
}

async function work(lease: Lease, policy: LoadedPolicy, parts: WorkLoopParts, signal: AbortSignal): Promise<void> {
  const { host, engine, stage, outbox, key, onProgress } = parts
  const startedMs = host.clock.now()
  const done = new AbortController()
  const renewing = keepLease(lease, parts, AbortSignal.any([signal, done.signal]))
  try {
    const task = taskOf(lease, policy)
    const rollouts = await runGroup(
      task,
      lease.groupSize,
      Buffer.from(lease.seed, 'hex'),
      engine,
      stage,
      policy.limits,
      signal,
    )
    // A clock that is set back in between must not make the time negative.
    const generationMs = Math.max(0, Math.round(host.clock.now() - startedMs))
    const body = groupBody.encode(groupBodyOf(lease, rollouts, engine.build, generationMs))
    const announcement = groupAnnouncementOf(lease, rollouts, body)
    const sealed = await sealGroupAnnouncement(key, host.runId, announcement, body)
    const origin = originOf(lease, policy, host.peerId)
    await outbox.add({ leaseId: lease.leaseId, bodySha256: announcement.bodySha256, sealed, body, origin })
    const { rewards, tokensGenerated: tokens } = announcement
    onProgress({ type: 'group', leaseId: lease.leaseId, version: lease.version, rewards, tokens, ms: generationMs })
  } catch (error) {
    await giveBack(lease, signal.aborted ? 'shutdown' : 'failed', parts)
    // Our worlds, or the limits of the manifest, cannot hold the task: no other lease of this run would fare better.
    if (error instanceof EpisodeError || error instanceof ExampleError)
      throw new NodeError('bad_lease', `task ${lease.taskId}: ${error.message}`, { cause: error })
    if (error instanceof WorldDefect)
      throw new NodeError('broken_world', `task ${lease.taskId}: ${error.message}. Please report this.`, {
        cause: error,
      })
    throw error
  } finally {
    done.abort()
    await renewing
  }
}

/** A courtesy: without it the coordinator waits for the deadline. */
async function giveBack({ leaseId }: Lease, reason: ReturnReason, { host, coordinator }: WorkLoopParts): Promise<void> {
  const request: LeaseRequest = { kind: 'return', leaseIds: [leaseId], reason }
  await requestLeases(host, coordinator, request, host.clock.timeout(2000)).catch((error: unknown) =>
    host.logger.debug({ error }, 'the lease could not be given back'),
  )
}

/** Tells the coordinator that a lease is still worked on, each time half of what is left of it is over. */
async function keepLease(lease: Lease, { host, coordinator }: WorkLoopParts, signal: AbortSignal): Promise<void> {
  const { leaseId } = lease
  let { deadlineMs } = lease
  for (;;) {
    // The deadline is by the coordinator's clock, and ours may be far from it.
    const halfMs = Math.min(LONGEST_RENEWAL_MS, Math.max(SHORTEST_RENEWAL_MS, (deadlineMs - host.clock.now()) / 2))
    try {
      await host.clock.sleep(halfMs, signal)
      const request: LeaseRequest = { kind: 'renew', leaseIds: [leaseId] }
      const { renewed } = await requestLeases(host, coordinator, request, within(host.clock, signal))
      deadlineMs = renewed.find((one) => one.leaseId === leaseId)?.deadlineMs ?? deadlineMs
    } catch (error) {
      if (signal.aborted) return
      host.logger.debug({ lease: leaseId, error }, 'a lease could not be renewed yet')
    }
  }
}

function originOf(lease: Lease, { manifest, limits, drawsReplay }: LoadedPolicy, peerId: string): GroupOrigin {
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
    drawsReplay,
  }
}

function taskOf(lease: Lease, { manifest }: LoadedPolicy): Task {
  if (lease.policyId !== manifest.policyId)
    throw new NodeError('bad_lease', `lease ${lease.leaseId} is for another policy`)
  const { groupSize } = manifest.limits
  if (lease.groupSize !== groupSize)
    throw new NodeError(
      'bad_lease',
      `lease ${lease.leaseId} is for ${lease.groupSize} rollouts instead of ${groupSize}`,
    )
  let content: unknown
  try {
    content = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(lease.task))
  } catch (cause) {
    throw new NodeError('bad_lease', `the task of lease ${lease.leaseId} is not JSON`, { cause })
  }
  const task = parseTask(content)
  if (task.id !== lease.taskId)
    throw new NodeError('bad_lease', `lease ${lease.leaseId} names another task than it holds`)
  return task
}

const within = (clock: Clock, signal: AbortSignal): AbortSignal =>
  AbortSignal.any([signal, clock.timeout(REQUEST_TIMEOUT_MS)])

const isTimeout = (error: unknown): boolean => error instanceof DOMException && error.name === 'TimeoutError'
