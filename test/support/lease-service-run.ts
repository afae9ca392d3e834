import { createLeaseService, type LeaseAnswer, type LeaseService } from '../../coordinator/leases/lease-service.js'
import type { RunEvent } from '../../coordinator/ledger/events.js'
import { openRecorder, type Recorder } from '../../coordinator/ledger/recorder.js'
import type { RunConfiguration } from '../../coordinator/ledger/run-configuration.js'
import type { Task } from '../../rollout/episode/index.js'
import { createMetrics } from '../../swarm/index.js'
import { memoryLog } from './memory-log.js'
import { createMovedClock, type MovedClock } from './moved-clock.js'
import { agreed, hex, judged, published, reopened } from './run-events.js'

export const REGISTRATION_MS = 5000

/** A real lease service and a real run state, without a network, on a clock that the test moves. */
export interface ServiceRun {
  readonly recorder: Recorder
  readonly leases: LeaseService
  readonly clock: MovedClock
  /** Number of events in each write of the log. */
  readonly writes: readonly number[]
  ask(
    node: string,
    options?: { readonly count?: number; readonly holding?: readonly string[]; readonly tokensPerSecond?: number },
  ): Promise<LeaseAnswer>
  /** Accepts a group for an open lease, without an audit. */
  deliver(leaseId: string, change?: Parameters<typeof judged>[3]): Promise<void>
  publish(): Promise<void>
  /** Opens the next round, as the publisher does when keys wait. */
  openRound(): Promise<void>
  /** Keys that registered before the current round opened. */
  admit(nodes: readonly string[]): Promise<void>
}

/** Opens the run. @param addressBlockOf  address block of a node; default: unknown */
export async function openServiceRun(
  configuration: Partial<RunConfiguration>,
  addressBlockOf: (node: string) => string | null = () => null,
): Promise<ServiceRun> {
  const clock = createMovedClock()
  const log: RunEvent[] = [agreed(configuration), published(0)]
  const writes: number[] = []
  const recorder = await openRecorder(
    memoryLog(log, (events) => writes.push(events)),
    () => undefined,
  )
  const { state } = recorder
  const tasks = Array.from({ length: 3 }, (_, i) => ({ id: `task-${i}`, environments: [] }) as unknown as Task)
  const metrics = createMetrics()
  const leases = createLeaseService({
    tasks,
    recorder,
    registrationMs: REGISTRATION_MS,
    addressBlockOf,
    metrics,
    clock,
  })
  const nextRound = (): number => state.round!.round + 1
  const openRound = async (): Promise<void> => {
    await recorder.record(() => ({ ...reopened(nextRound(), state.current!.version), atMs: clock.now() }))
  }
  return {
    recorder,
    leases,
    clock,
    writes,
    openRound,
    ask: (node, { count = 1, holding = [...state.openLeasesOf(node).keys()], tokensPerSecond = 0 } = {}) =>
      leases.answer(
        {
          ...{ kind: 'ask', count, holding, policyId: hex(1), nonce: '' },
          ...{ agent: 'test', backend: 'cpu', tokensPerSecond },
        },
        node,
      ),
    async deliver(leaseId, change = {}) {
      const { node, version } = state.leases.get(leaseId)!
      await recorder.record(() => ({ ...judged(leaseId, node, version, change), atMs: clock.now() }))
    },
    async publish() {
      const version = state.current!.version + 1
      await recorder.record(() => ({ ...published(version, { round: nextRound() }), atMs: clock.now() }))
    },
    async admit(nodes) {
      for (const node of nodes)
        await recorder.record(() => ({ type: 'registered', atMs: clock.now(), node, round: state.round!.round }))
      await openRound()
    },
  }
}
