import { randomBytes } from 'node:crypto'
import canonicalize from 'canonicalize'
import { type Task, taskIndex } from '../episode/index.js'
import { type Lease, type LeaseRequest, type LeaseResponse, type RefusalCode, refusal } from '../proto/index.js'
import type { Clock } from '../swarm/index.js'
import type { RunConfig } from './config.js'
import { leaseSeed } from './lease-seed.js'
import type { Recorder } from './recorder.js'
import type { LeaseRecord, RunState } from './run-state.js'

/** How long a node without work should wait before it asks again. */
const RETRY_MS = 500

export interface LeaseDesk {
  /** Answers a node's request. @throws SwarmRefusal */
  answer(request: LeaseRequest, node: string): Promise<LeaseResponse>
  /** Releases leases that are past their deadline. */
  releaseLapsed(): Promise<void>
}

export function createLeaseDesk(
  config: RunConfig,
  tasks: readonly Task[],
  recorder: Recorder,
  clock: Clock,
): LeaseDesk {
  const encodedTasks = new Map<string, Uint8Array>()
  const encode = (task: Task): Uint8Array => {
    let encoded = encodedTasks.get(task.id)
    if (!encoded) {
      encoded = new TextEncoder().encode(canonicalize(task)!)
      encodedTasks.set(task.id, encoded)
    }
    return encoded
  }

  /** Why `node` gets no further lease now, or `null`. */
  const objection = (state: RunState, node: string, policyId: string): RefusalCode | null => {
    const { current } = state
    if (!current) return 'no_work'
    if (current.version >= config.versions) return 'paused'
    if (policyId !== current.policyId) return 'wrong_policy'
    if ([...state.openLeases.values()].filter((lease) => lease.node === node).length >= config.leases.perNode)
      return 'too_many_leases'
    // Work that could not be used before it is too old is not handed out (docs/protocol.md, "Leases").
    const usable = state.trainable(config.maxStaleness).length + (state.pendingBatch ? config.batchGroups : 0)
    return usable + state.openLeases.size >= (config.maxStaleness + 1) * config.batchGroups ? 'no_work' : null
  }

  const grant = (state: RunState, node: string, policyId: string): LeaseRecord | null => {
    if (objection(state, node, policyId)) return null
    const { version, roundSecret } = state.current!
    const index = state.nextLeaseIndex(node, version)
    const seed = leaseSeed(Buffer.from(roundSecret, 'hex'), policyId, node, index)
    const now = clock.now()
    return {
      type: 'leased',
      atMs: now,
      leaseId: randomBytes(16).toString('hex'),
      index,
      node,
      version,
      taskIndex: taskIndex(seed, tasks.length),
      seed: seed.toString('hex'),
      deadlineMs: now + config.leases.durationMs,
    }
  }

  const toWire = (record: LeaseRecord, policyId: string): Lease => {
    const task = tasks[record.taskIndex]!
    const { leaseId, index, version, seed, deadlineMs } = record
    return {
      leaseId,
      index,
      policyId,
      version,
      taskId: task.id,
      task: encode(task),
      seed,
      deadlineMs,
      groupSize: config.groupSize,
    }
  }

  const release = (leaseId: string, node: string | null, reason: string): Promise<unknown> =>
    recorder.record((state) => {
      const lease = state.openLeases.get(leaseId)
      if (!lease || (node !== null && lease.node !== node)) return null
      return { type: 'released', atMs: clock.now(), leaseId, reason }
    })

  const response = (part: Partial<LeaseResponse>): LeaseResponse => {
    const { current } = recorder.state
    if (!current) throw refusal('no_work', 'no policy is published yet')
    return {
      leases: [],
      renewed: [],
      retryAfterMs: RETRY_MS,
      manifestId: current.manifestId,
      reason: null,
      detail: '',
      ...part,
    }
  }

  return {
    async answer(request, node) {
      if (request.kind === 'return') {
        for (const leaseId of request.leaseIds) await release(leaseId, node, request.reason)
        return response({})
      }
      if (request.kind === 'renew') {
        const held = request.leaseIds.flatMap((leaseId) => recorder.state.openLeases.get(leaseId) ?? [])
        const own = held.filter((lease) => lease.node === node && lease.deadlineMs > clock.now())
        return response({ renewed: own.map(({ leaseId, deadlineMs }) => ({ leaseId, deadlineMs })) })
      }
      // A node that restarted has forgotten what it does not list.
      for (const lease of [...recorder.state.openLeases.values()]) {
        if (lease.node === node && !request.holding.includes(lease.leaseId))
          await release(lease.leaseId, node, 'forgotten')
      }
      const leases: Lease[] = []
      while (leases.length < request.count) {
        const record = await recorder.record((state) => grant(state, node, request.policyId))
        if (!record) break
        leases.push(toWire(record, request.policyId))
      }
      const reason = leases.length < request.count ? objection(recorder.state, node, request.policyId) : null
      return response({ leases, reason, retryAfterMs: leases.length > 0 ? 0 : RETRY_MS })
    },
    async releaseLapsed() {
      const now = clock.now()
      for (const { leaseId, deadlineMs } of [...recorder.state.openLeases.values()]) {
        if (deadlineMs < now) await release(leaseId, null, 'lapsed')
      }
    },
  }
}
