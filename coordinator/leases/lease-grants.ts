import { randomBytes } from 'node:crypto'
import { decodeTaskSet, type LeaseAsk } from '../../proto/index.js'
import { type Task, taskIndex } from '../../rollout/episode/index.js'
import { leaseSeed } from '../../rollout/verification/lease-seed.js'
import { type Clock, createRateLimit } from '../../swarm/index.js'
import type { LeaseRecord, RunState } from '../ledger/run-state.js'
import type { FirstLeases } from './first-leases.js'
import type { LeaseAdmission } from './lease-admission.js'
import { firstTermMs } from './lease-fit.js'
import { isWithheld } from './withheld-tasks.js'

/** Lease indices that the search for a task skips at most. With 99 % of the tasks withheld, half of all searches succeed. */
const MOST_SKIPPED_INDICES = 64

/**
 * Leases that one key may take again after it abandoned them. Each time adds two permanent records. A key that took and
 * abandoned leases without a pause would fill the disk and delay the events of all others.
 */
const RETAKEN_PER_MINUTE = 12
const RETAKEN_AT_ONCE = 16

export interface LeaseGrantParts {
  readonly tasks: readonly Task[]
  readonly admission: LeaseAdmission
  readonly firstLeases: FirstLeases
  /** Returns the block of network addresses that a node is connected from; null: unknown. */
  readonly addressBlockOf: (node: string) => string | null
  readonly clock: Clock
}

/** Returns a function that makes the next lease of a node; null: the node gets none now. */
export function createLeaseGrants({ tasks, admission, firstLeases, addressBlockOf, clock }: LeaseGrantParts) {
  const retaken = createRateLimit(clock, RETAKEN_PER_MINUTE, RETAKEN_AT_ONCE)

  return (state: RunState, node: string, ask: LeaseAsk): LeaseRecord | null => {
    if (admission.refusalOf(state, node, ask)) return null
    const now = clock.now()
    const { round, version, configuration } = state.round!
    const addressBlock = addressBlockOf(node)
    const isFirstLease = !admission.hasPlace(state, node)
    if (isFirstLease && !firstLeases.take(state, node, addressBlock)) return null
    // An unproven key has to renew its leases. With a longer first term it could hold them idle for longer.
    const time = state.kindOf(node) === 'proven' ? admission.groupTimeOf(state, node, ask) : null
    const deadlineMs = now + firstTermMs(configuration.leases.durationMs, time)
    const { agent, backend } = ask
    // A node gets the lease again that it abandoned, so waiting for an easier task gains nothing.
    const owed = state.owedLease(node)
    if (owed && !retaken.allow(node)) return null
    if (owed) return { ...owed, atMs: now, deadlineMs, backend, agent, addressBlock }
    const chosen = nextTask(state, node, tasks)
    if (!chosen) return null
    const leaseId = randomBytes(16).toString('hex')
    if (isFirstLease) firstLeases.note(leaseId)
    return {
      type: 'leased',
      atMs: now,
      leaseId,
      round,
      index: chosen.index,
      node,
      version,
      taskIndex: chosen.taskIndex,
      seed: chosen.seed.toString('hex'),
      deadlineMs,
      backend,
      agent,
      addressBlock,
    }
  }
}

/** Returns the node's next lease index of the round whose task is not withheld, with its seed; null: the search found none. */
function nextTask(state: RunState, node: string, tasks: readonly Task[]) {
  const { policyId, roundSecret, skippedTasks } = state.round!
  const isSkipped = decodeTaskSet(skippedTasks)
  const first = state.nextLeaseIndex(node)
  for (let index = first; index <= first + MOST_SKIPPED_INDICES; index++) {
    const seed = leaseSeed(Buffer.from(roundSecret, 'hex'), policyId, node, index)
    // `taskIndex` may still return a skipped task when the round skips nearly all tasks.
    const drawn = taskIndex(seed, tasks.length, isSkipped)
    if (!isWithheld(tasks[drawn]!, drawn, state)) return { index, seed, taskIndex: drawn }
  }
  return null
}
