import { randomBytes } from 'node:crypto'
import type { PrivateKey } from '@libp2p/interface'
import {
  groupBody,
  type Lease,
  type LeaseAsk,
  LIMITS,
  type PeerAddresses,
  REFUSALS,
  SwarmRefusal,
  sealGroupAnnouncement,
} from '../../proto/index.js'
import { calibratedName, type Engine, EngineError } from '../../rollout/engine/index.js'
import { EpisodeError, parseTask, runGroup, type Task } from '../../rollout/episode/index.js'
import { ExampleError } from '../../rollout/reward/index.js'
import { EnvironmentDefect } from '../../servers/kernel/index.js'
import { type KeptConnection, requestLeases, type SwarmHost, TransportError } from '../../swarm/index.js'
import { groupAnnouncementOf, groupBodyOf } from '../delivery/group-body.js'
import type { Outbox } from '../delivery/outbox.js'
import type { News } from '../network/news.js'
import { fetchAhead } from '../policy/fetch-ahead.js'
import type { LoadedPolicy, PolicyKeeper } from '../policy/policy-keeper.js'
import { cacheTypeFor } from '../policy/policy-runtime.js'
import { NodeError } from '../report/errors.js'
import { forTerminal, type NodeProgress } from '../report/progress.js'
import type { GroupOrigin } from '../store/kept-group.js'
import type { NodeStore } from '../store/store.js'
import { createGroupsInProgress, GROUP_DONE, type GroupsInProgress } from './groups-in-progress.js'
import { giveBack, keepLease, within } from './held-lease.js'
import { createLeaseTiming, type LeaseTiming } from './lease-timing.js'
import { isOffDuty, isUrgent, OPEN, type PauseControl, TURNED, turnedTo, waitForDuty } from './pause-control.js'
import { createReportedSpeed, type ReportedSpeed } from './reported-speed.js'
import { waitForRetry, waitForWork } from './wait-for-work.js'

export interface WorkLoopParts {
  readonly host: SwarmHost
  readonly key: PrivateKey
  readonly coordinator: string
  readonly engine: Engine
  readonly keeper: PolicyKeeper
  readonly outbox: Outbox
  readonly store: Pick<NodeStore, 'keepRounds'>
  readonly agent: string
  /** With the coordinator. */
  readonly connection: Pick<KeptConnection, 'connected' | 'problem'>
  /** The coordinator's announcements, and what becomes of the node's groups. */
  readonly news: News
  /** Hears which nodes hold the adapter in force. */
  readonly onProviders: (providers: readonly PeerAddresses[]) => void
  /** 0 .. 1, spreads what many nodes do at the same instant. */
  readonly random: () => number
  readonly onProgress: (progress: NodeProgress) => void
  /** When the node works, rests and ends. Default: it works until the signal fires. */
  readonly pauseControl?: PauseControl
  /** Called when a rest begins and nothing is under way. */
  readonly onRest?: () => Promise<void>
  /** Go on when the run is complete: it may be extended, and others may want its adapter. Default: true. */
  readonly stay?: boolean
  /** Resolves when the engine has lanes to spare, so that another group costs those in hand nothing. Default: one is made after the other. */
  readonly capacity?: (signal: AbortSignal) => Promise<void>
  /** How many tokens a second the engine samples in such a group, tried out; null: that took too long. Default: nobody knows. */
  readonly trySpeed?: (rollouts: number, signal: AbortSignal) => Promise<number | null>
}

/** Why the work came to an end: its signal fired, its owner wanted it to, or the run is complete. */
export type WorkEnd = 'closed' | 'finished' | 'complete'

/** Between two looks at whether groups have got their verdicts. */
const FULL_PAUSE_MS = 1000
/** How long a node that ends waits for the verdicts on its last groups: an audit takes minutes. */
const DELIVERY_MS = 120_000

/** How long a missing connection is no news. */
const PATIENCE_MS = 5000
/** Failures in a row of which each may be chance: a restart, a lost connection. */
const CHANCE_FAILURES = 2
/** How long a machine that is too slow for a run rests before it tries again: another program may have kept it busy. */
const TOO_SLOW_REST_MS = 6 * 3_600_000

/** Crashes of the engine in a row, without a finished group, after which it is not started again. */
const MAX_CRASHES = 3

/**
 * Works until the signal fires, the gate is turned to `finish`, or the run is complete: newest policy, a lease, a group,
 * again. What fails on the way to the coordinator is tried again, and so is a crash of the engine; a node that cannot do
 * the run's work at all stops.
 * @throws NodeError `wrong_base`, `incompatible`, `other_version`, `canary_failed`, `bad_lease`, `broken_environment`, `unwritable`; EngineError
 */
export async function workLoop(parts: WorkLoopParts, signal: AbortSignal): Promise<WorkEnd> {
  const { host, keeper, news, random, onProgress, pauseControl = OPEN, onRest = async () => undefined } = parts
  const logger = host.logger.child({ part: 'work' })
  let crashes = 0
  let failures = 0
  let told = ''
  const leaseTiming = createLeaseTiming()
  const speed = createReportedSpeed(
    parts.trySpeed && ((until) => parts.trySpeed!(keeper.loaded!.manifest.limits.groupSize, until)),
  )
  const retry = async (failed: number, turned: AbortSignal): Promise<void> => {
    const watch = news.listen()
    try {
      const loaded = keeper.loaded?.manifestId ?? null
      await waitForRetry({ clock: host.clock, random }, { loaded, failures: failed }, watch, turned)
    } finally {
      watch.close()
    }
  }
  const rest = async (why: string, untilMs: number | null): Promise<void> => {
    onProgress({ type: 'rest', why, untilMs })
    await onRest()
  }
  while (!signal.aborted) {
    const turned = turnedTo(pauseControl, isOffDuty)
    const onDuty = AbortSignal.any([signal, turned.signal])
    try {
      if (turned.signal.aborted) {
        const works = await waitForDuty(pauseControl, host.clock, {
          onRest: ({ why, untilMs }) => rest(why, untilMs),
          signal,
        })
        if (!works) return await deliver(parts, 'finished', signal)
        onProgress({ type: 'resumed' })
        continue
      }
      await untilConnected(parts, onDuty)
      const before = keeper.loaded
      const policy = await takeUp(parts, onDuty)
      const isComplete = await workUnder(
        policy,
        parts,
        { signal, onDuty },
        { leaseTiming, speed },
        {
          onAnswer: () => {
            failures = 0
            told = ''
          },
          onGroup: () => {
            crashes = 0
          },
        },
      )
      if (isComplete) return await deliver(parts, 'complete', signal)
      // A coordinator that names a manifest which it does not serve would be asked without a pause.
      if (policy === before && !onDuty.aborted) await retry(0, onDuty)
    } catch (error) {
      if (signal.aborted) return 'closed'
      if (error === TURNED) continue
      if (error instanceof EngineError && error.code === 'engine_crashed') {
        crashes += 1
        if (crashes >= MAX_CRASHES) throw error
        logger.warn({ error, crashes }, 'the engine crashed; it is started again')
      } else if (error instanceof TooSlow) {
        await rest(error.message, host.clock.now() + TOO_SLOW_REST_MS)
        await host.clock.sleep(TOO_SLOW_REST_MS, onDuty).catch(() => undefined)
        speed.forget()
        if (!onDuty.aborted) onProgress({ type: 'resumed' })
        continue
      } else if (error instanceof TransportError && error.code === 'other_version') {
        // Waiting would not help: one of the two programs has to be another.
        throw new NodeError('other_version', error.detail, { cause: error })
      } else if (error instanceof TransportError || error instanceof SwarmRefusal || isTimeout(error)) {
        logger.info({ error }, 'the coordinator cannot be worked with at the moment')
        failures += 1
        const { message } = error as Error
        if (failures > CHANCE_FAILURES && message !== told) {
          told = message
          onProgress({ type: 'trouble', detail: message })
        }
      } else throw error
      await retry(failures, onDuty).catch(() => undefined)
    } finally {
      turned.close()
    }
  }
  return 'closed'
}

/** Waits, for some time, until every group has its verdict; those that have none are kept for the next start. */
async function deliver(
  { outbox, host, onProgress }: WorkLoopParts,
  end: WorkEnd,
  signal: AbortSignal,
): Promise<WorkEnd> {
  let told = -1
  for (let leftMs = DELIVERY_MS; outbox.waiting.length > 0 && leftMs > 0; leftMs -= FULL_PAUSE_MS) {
    const waiting = outbox.waiting.length
    if (waiting !== told) onProgress({ type: 'finishing', waiting })
    told = waiting
    await host.clock.sleep(FULL_PAUSE_MS, signal)
  }
  return end
}

/** Loads the newest policy, if it is another one than before, and tells of it. */
async function takeUp({ keeper, store, onProgress }: WorkLoopParts, signal: AbortSignal): Promise<LoadedPolicy> {
  const before = keeper.loaded
  const policy = await keeper.update(signal)
  const { version, policyId, closedRounds } = policy.manifest
  if (policy !== before) await store.keepRounds(closedRounds)
  if (version !== before?.manifest.version)
    onProgress({ type: 'policy', version, versions: versionsOf(policy.manifest), policyId })
  return policy
}

/** How many versions the run is to have, as far as it says so. */
function versionsOf({ taskSpec }: LoadedPolicy['manifest']): number | null {
  const versions = Number(taskSpec.versions)
  return Number.isSafeInteger(versions) && versions > 0 ? versions : null
}

/** Waits for the coordinator, and says so when it takes long. @throws the signal's reason */
export async function untilConnected(
  { connection, onProgress, host: { clock } }: Pick<WorkLoopParts, 'connection' | 'onProgress' | 'host'>,
  signal: AbortSignal,
): Promise<void> {
  const arrived = new AbortController()
  let isTold = false
  clock.sleep(PATIENCE_MS, arrived.signal).then(
    () => {
      isTold = true
      onProgress({ type: 'offline', detail: connection.problem ?? 'no answer yet' })
    },
    () => undefined,
  )
  try {
    await connection.connected(signal)
    if (isTold) onProgress({ type: 'online' })
  } finally {
    arrived.abort()
  }
}

interface WorkSignals {
  readonly signal: AbortSignal
  /** Fires when the node is to rest or to finish: a lease that comes after that is given back. */
  readonly onDuty: AbortSignal
}

interface WorkEvents {
  onAnswer(): void
  onGroup(): void
}

/**
 * Groups for one policy, until the coordinator names another. Those in hand are finished before it ends.
 * @returns  whether the run is complete, and the node does not stay
 */
async function workUnder(
  loaded: LoadedPolicy,
  parts: WorkLoopParts,
  { signal, onDuty }: WorkSignals,
  known: Omit<GroupsInProgressParts, 'inProgress'>,
  events: WorkEvents,
): Promise<boolean> {
  const inProgress = createGroupsInProgress((over) => fetchAhead(parts, AbortSignal.any([signal, over])))
  try {
    const going = AbortSignal.any([onDuty, inProgress.broken])
    return await takeWork(loaded, parts, { inProgress, ...known }, { signal, onDuty: going }, events)
  } finally {
    await inProgress.settled()
  }
}

/** What of its leases a node works on, and how fast. */
interface GroupsInProgressParts {
  readonly inProgress: GroupsInProgress
  readonly leaseTiming: LeaseTiming
  readonly speed: ReportedSpeed
}

/** Waits until another group would cost those in hand nothing, and would be ready in time. */
async function capacityForMore(
  parts: WorkLoopParts,
  { inProgress, leaseTiming }: GroupsInProgressParts,
  signal: AbortSignal,
): Promise<void> {
  while (inProgress.count > 0) {
    const done = inProgress.next()
    const either = AbortSignal.any([signal, done])
    const capacity = leaseTiming.fitsBeside ? parts.capacity : undefined
    try {
      either.throwIfAborted()
      return await (capacity?.(either) ??
        new Promise<never>((_, reject) => {
          either.addEventListener('abort', () => reject(either.reason), { once: true })
        }))
    } catch (error) {
      signal.throwIfAborted()
      if (error !== GROUP_DONE) throw error
    }
  }
}

/** @param inProgress  what is begun, and goes on when this is over */
async function takeWork(
  loaded: LoadedPolicy,
  parts: WorkLoopParts,
  inProgress: GroupsInProgressParts,
  { signal, onDuty }: WorkSignals,
  { onAnswer, onGroup }: WorkEvents,
): Promise<boolean> {
  const { host, coordinator, outbox, agent, engine, news, random, onProgress, stay = true } = parts
  const { inProgress: inHand, leaseTiming, speed } = inProgress
  const making = new Set<string>()
  const isFull = (): boolean => outbox.waiting.length + inHand.count >= LIMITS.leasesHeld.value
  const waiting = { clock: host.clock, random }
  let policy = loaded
  let timesIdle = 0
  while (!onDuty.aborted) {
    await capacityForMore(parts, inProgress, onDuty)
    // Kept on disk and in memory until they have their verdicts: a coordinator that gives none gets no more of them.
    if (isFull()) onProgress({ type: 'trouble', detail: `${outbox.waiting.length} groups wait for their verdicts` })
    while (isFull()) await host.clock.sleep(FULL_PAUSE_MS, onDuty)
    const ask: LeaseAsk = {
      kind: 'ask',
      count: 1,
      policyId: policy.manifest.policyId,
      nonce: randomBytes(16).toString('hex'),
      holding: [...new Set([...outbox.waiting, ...making])],
      agent,
      backend: calibratedName(engine.build),
      tokensPerSecond: await speed.told(onDuty),
    }
    const watch = news.listen()
    const done = inHand.next()
    try {
      const response = await requestLeases(host, coordinator, ask, within(host.clock, signal))
      onAnswer()
      parts.onProviders(response.providers)
      const { leases, reason, detail } = response
      if (leases.length > ask.count) throw new NodeError('bad_lease', `${leases.length} leases instead of ${ask.count}`)
      if (response.manifestId !== policy.manifestId) {
        if (leases.length === 0) return false
        // A round was opened meanwhile. Its manifest is soon there, and a lease that is left lying counts against its node.
        await inHand.settled()
        policy = await takeUp(parts, signal)
      }
      for (const lease of leases) {
        // Other terms have come into force since it was given: what we would make by these is not what it asks for.
        const superseded = lease.configurationId !== policy.manifest.configurationId
        if (superseded || (policy !== loaded && lease.policyId !== policy.manifest.policyId)) {
          await giveBack(lease, 'superseded', parts)
          return false
        }
        if (onDuty.aborted) await giveBack(lease, 'shutdown', parts)
        else {
          const under = policy
          leaseTiming.leased(lease.deadlineMs - host.clock.now())
          making.add(lease.leaseId)
          inHand.begin(async () => {
            await workUnlessUrgent(lease, under, parts, inProgress, signal).finally(() => making.delete(lease.leaseId))
            onGroup()
          })
        }
      }
      timesIdle = leases.length > 0 ? 0 : timesIdle + 1
      if (timesIdle === 0) continue
      if (reason === 'too_slow') {
        if (await speed.again(onDuty)) continue
        throw new TooSlow(tooSlowFor(detail))
      }
      const tell = (): void => {
        if (inHand.count > 0) return
        onProgress({ type: 'idle', reason: reason ?? 'no_work', detail, waiting: outbox.waiting.length })
      }
      tell()
      if (reason === 'complete' && !stay) return true
      const idleness = { answer: response, under: policy.manifest, times: timesIdle, onSettled: tell }
      if (await waitForWork(waiting, idleness, watch, AbortSignal.any([onDuty, done]))) return false
    } catch (error) {
      // What there was no work for may be there now that one of its own is done.
      if (error !== GROUP_DONE || onDuty.aborted) throw error
      timesIdle = 0
    } finally {
      watch.close()
    }
  }
  return false
}

/** Finishes the group, unless the node has to rest at once. */
async function workUnlessUrgent(
  lease: Lease,
  policy: LoadedPolicy,
  parts: WorkLoopParts,
  inProgress: GroupsInProgressParts,
  signal: AbortSignal,
): Promise<void> {
  const urgent = turnedTo(parts.pauseControl ?? OPEN, isUrgent)
  try {
    await work(lease, policy, parts, inProgress, AbortSignal.any([signal, urgent.signal]))
  } finally {
    urgent.close()
  }
}

async function work(
  lease: Lease,
  policy: LoadedPolicy,
  parts: WorkLoopParts,
  { inProgress, leaseTiming }: GroupsInProgressParts,
  stopping: AbortSignal,
): Promise<void> {
  const { host, engine, outbox, key, onProgress } = parts
  const startedMs = host.clock.elapsedMs()
  const done = new AbortController()
  const { leaseId, version, groupSize: rollouts } = lease
  onProgress({ type: 'leased', leaseId, version, rollouts, inProgress: inProgress.count })
  const lost = new AbortController()
  const signal = AbortSignal.any([stopping, lost.signal])
  const renewing = keepLease(lease, parts, AbortSignal.any([signal, done.signal]), () => lost.abort(LOST))
  try {
    const task = taskOf(lease, policy)
    const made = await runGroup(
      task,
      lease.groupSize,
      Buffer.from(lease.seed, 'hex'),
      engine,
      policy.runtime,
      policy.limits,
      signal,
    )
    const generationMs = Math.round(host.clock.elapsedMs() - startedMs)
    const body = groupBody.encode(groupBodyOf(lease, made, engine.build, generationMs))
    const announcement = groupAnnouncementOf(lease, made, body)
    const sealed = await sealGroupAnnouncement(key, host.runId, announcement, body)
    const origin = originOf(lease, policy, host.peerId)
    await outbox.add({ leaseId: lease.leaseId, bodySha256: announcement.bodySha256, sealed, body, origin })
    const { rewards, tokensGenerated: tokens } = announcement
    leaseTiming.delivered(generationMs)
    onProgress({ type: 'group', leaseId, version, rewards, tokens, ms: generationMs, inProgress: inProgress.count - 1 })
  } catch (error) {
    if (error === LOST) {
      host.logger.child({ part: 'work' }).info({ lease: leaseId }, 'the lease ended before its group was ready')
      const why = leaseTiming.lost(host.clock.elapsedMs() - startedMs)
      if (why !== null) throw new TooSlow(why)
      return
    }
    await giveBack(lease, signal.aborted ? 'shutdown' : 'failed', parts)
    // Our worlds, or the limits of the manifest, cannot hold the task: no other lease of this run would fare better.
    if (error instanceof EpisodeError || error instanceof ExampleError)
      throw new NodeError('bad_lease', `task ${lease.taskId}: ${error.message}`, { cause: error })
    if (error instanceof EnvironmentDefect)
      throw new NodeError('broken_environment', `task ${lease.taskId}: ${error.message}. Please report this.`, {
        cause: error,
      })
    throw error
  } finally {
    done.abort()
    await renewing
  }
}

/** Why a group is left: its lease is over, so nobody would take it. */
const LOST = new Error('the lease is over')

const tooSlowFor = (detail: string): string =>
  `this machine is too slow for the run: ${detail === '' ? REFUSALS.too_slow.meaning : forTerminal(detail)}`

/** What the owner of a machine is told that is too slow for the run. */
class TooSlow extends Error {}

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

const isTimeout = (error: unknown): boolean => error instanceof DOMException && error.name === 'TimeoutError'
