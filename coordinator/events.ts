import type { RefusalCode } from '../proto/index.js'

/**
 * What happened in a run, one record each, in the order of the log. The log is the coordinator's only truth: whatever it
 * shows or decides is a fold over it.
 */
export type RunEvent =
  /** Version `version` is the policy in force; its round is open. */
  | {
      readonly type: 'published'
      readonly atMs: number
      readonly version: number
      /** Trainer step the adapter comes from. */
      readonly step: number
      readonly policyId: string
      readonly manifestId: string
      readonly adapterSha256: string
      /** Hex; its hash is in the manifest, the secret itself in the manifest of a later round. */
      readonly roundSecret: string
    }
  | {
      readonly type: 'leased'
      readonly atMs: number
      readonly leaseId: string
      /** Counts the leases of one node in one round; enters the seed. */
      readonly index: number
      readonly node: string
      readonly version: number
      readonly taskIndex: number
      /** Hex, 32 bytes. */
      readonly seed: string
      readonly deadlineMs: number
    }
  | { readonly type: 'released'; readonly atMs: number; readonly leaseId: string; readonly reason: string }
  | {
      readonly type: 'judged'
      readonly atMs: number
      readonly leaseId: string
      readonly node: string
      readonly version: number
      readonly bodySha256: string
      readonly accepted: boolean
      readonly code: RefusalCode | null
      readonly detail: string
      readonly credit: number
      /** Recomputed rewards of an accepted group, in rollout order; claimed ones when the body was not needed. */
      readonly rewards: readonly number[]
      /** The accepted group has no reward variance: it teaches nothing and its body was not pulled. */
      readonly flat: boolean
      /** Tool calls made in all rollouts, and rollouts that solved their task exactly; 0 when not replayed. */
      readonly calls: number
      readonly solved: number
    }
  /** The groups of these leases make training step `step`. */
  | {
      readonly type: 'batched'
      readonly atMs: number
      readonly batchId: string
      readonly step: number
      readonly leaseIds: readonly string[]
    }
  | {
      readonly type: 'trained'
      readonly atMs: number
      readonly batchId: string
      readonly step: number
      /** The trainer left the policy as it was, for example because a gradient was not finite. */
      readonly skipped: boolean
    }
  /** The trainer could not use the batch; its groups are lost to training, and the step number is free again. */
  | {
      readonly type: 'batch-refused'
      readonly atMs: number
      readonly batchId: string
      readonly code: string
      readonly detail: string
    }
