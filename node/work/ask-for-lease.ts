import { randomBytes } from 'node:crypto'
import { type Lease, type LeaseAsk, type LeaseResponse, LIMITS } from '../../proto/index.js'
import { calibratedName } from '../../rollout/engine/index.js'
import { requestLeases } from '../../swarm/index.js'
import { aborted } from '../network/aborted.js'
import type { LoadedPolicy } from '../policy/policy-keeper.js'
import { NodeError } from '../report/errors.js'
import { giveBack, within } from './held-lease.js'
import { playGroup } from './play-group.js'
import { updatePolicy, type Worker } from './work-parts.js'
import type { WorkEvent, Working } from './work-state.js'

/** Pause between two looks at the groups without a verdict. */
const FULL_PAUSE_MS = 1000

/** The state `asking`: waits for capacity, asks for a lease, and begins its group. */
export async function askForLease({ policy }: Working, worker: Worker, signal: AbortSignal): Promise<WorkEvent> {
  const { host, coordinator, groups, watch, closing } = worker
  signal.throwIfAborted()
  await untilCapacity(worker, signal)
  await untilVerdicts(worker, signal)
  const ask = await askUnder(policy, worker, signal)
  watch.forget()
  const groupEnded = groups.next()
  const answer = await requestLeases(host, coordinator, ask, within(host.clock, closing))
  worker.onProviders(answer.providers)
  const { leases, manifestId } = answer
  if (leases.length > 1) throw new NodeError('bad_lease', `${leases.length} leases instead of 1`)
  const [lease] = leases
  if (manifestId !== policy.manifestId)
    return lease === undefined ? { type: 'outdated' } : takeOverRound(lease, policy, worker, signal)
  if (lease !== undefined) return take(lease, policy, worker, signal)
  if (answer.reason !== 'too_slow') reportIdle(answer, worker)
  return { type: 'no-lease', answer, groupEnded }
}

/** Reports that there is no work, unless groups are in progress. */
export function reportIdle({ reason, detail }: LeaseResponse, { groups, outbox, onProgress }: Worker): void {
  if (groups.leaseIds.length > 0) return
  onProgress({ type: 'idle', reason: reason ?? 'no_work', detail, waiting: outbox.waiting.length })
}

/** Waits until another group would not slow down those in progress, and would be ready in time. */
async function untilCapacity({ groups, leaseTiming, capacity }: Worker, signal: AbortSignal): Promise<void> {
  while (groups.leaseIds.length > 0) {
    const either = AbortSignal.any([signal, groups.next()])
    if (leaseTiming.hasTimeForAnother && capacity) {
      const isFree = await capacity(either).then(
        () => true,
        (error: unknown) => {
          if (!either.aborted) throw error
          return false
        },
      )
      if (isFree) return
    } else await aborted(either)
    signal.throwIfAborted()
  }
}

/** Waits while too many groups have no verdict: all of them are kept on disk and in memory. */
async function untilVerdicts({ groups, outbox, host, onProgress }: Worker, signal: AbortSignal): Promise<void> {
  const isFull = (): boolean => outbox.waiting.length + groups.leaseIds.length >= LIMITS.leasesHeld.value
  if (isFull()) onProgress({ type: 'trouble', detail: `${outbox.waiting.length} groups wait for their verdicts` })
  while (isFull()) await host.clock.sleep(FULL_PAUSE_MS, signal)
}

const askUnder = async (
  { manifest }: LoadedPolicy,
  { outbox, groups, agent, engine, speed }: Worker,
  signal: AbortSignal,
): Promise<LeaseAsk> => ({
  kind: 'ask',
  count: 1,
  policyId: manifest.policyId,
  nonce: randomBytes(16).toString('hex'),
  holding: [...new Set([...outbox.waiting, ...groups.leaseIds])],
  agent,
  backend: calibratedName(engine.build),
  tokensPerSecond: await speed.measured(signal),
})

/** A round was opened since the last update. Its manifest is needed now, because an unused lease counts against its node. */
async function takeOverRound(
  lease: Lease,
  before: LoadedPolicy,
  worker: Worker,
  signal: AbortSignal,
): Promise<WorkEvent> {
  await worker.groups.settled()
  if (worker.groups.stopped.aborted) {
    await giveBack(lease, 'shutdown', worker)
    return { type: 'groups-stopped' }
  }
  const policy = await updatePolicy(worker, worker.closing)
  if (policy !== before && lease.policyId !== policy.manifest.policyId) return superseded(lease, worker)
  return take(lease, policy, worker, signal)
}

async function take(lease: Lease, policy: LoadedPolicy, worker: Worker, signal: AbortSignal): Promise<WorkEvent> {
  const { host, groups, leaseTiming, closing } = worker
  // The lease is of another revision of the run configuration: a group under this one would be rejected.
  if (lease.configurationId !== policy.manifest.configurationId) return superseded(lease, worker)
  if (signal.aborted) await giveBack(lease, 'shutdown', worker)
  else {
    leaseTiming.leased(lease.deadlineMs - host.clock.now())
    const parts = { ...worker, inProgress: () => groups.leaseIds.length }
    groups.begin(lease.leaseId, () => playGroup(lease, policy, parts, closing))
  }
  return { type: 'leased', policy }
}

async function superseded(lease: Lease, worker: Worker): Promise<WorkEvent> {
  await giveBack(lease, 'superseded', worker)
  return { type: 'outdated' }
}
