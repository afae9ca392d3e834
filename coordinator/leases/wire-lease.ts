import canonicalize from 'canonicalize'
import type { Lease } from '../../proto/index.js'
import type { Task } from '../../rollout/episode/index.js'
import type { LeaseRecord, RunState } from '../ledger/run-state.js'

/** Returns a function that writes a recorded lease as the message that its node gets. Encodes each task once. */
export function createLeaseWriter(tasks: readonly Task[]): (record: LeaseRecord, state: RunState) => Lease {
  const encodedTasks = new Map<string, Uint8Array>()
  const encode = (task: Task): Uint8Array => {
    let encoded = encodedTasks.get(task.id)
    if (!encoded) {
      encoded = new TextEncoder().encode(canonicalize(task)!)
      encodedTasks.set(task.id, encoded)
    }
    return encoded
  }
  return (record, state) => {
    const task = tasks[record.taskIndex]!
    const { policyId, configurationId, configuration } = state.roundOf(record)
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
      groupSize: configuration.groupSize,
      configurationId,
    }
  }
}
