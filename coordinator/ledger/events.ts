import type { RefusalCode } from '../../proto/index.js'

/** Stages 5 to 7 of judging: `none` when the group was not drawn for an audit, or was refused before. */
export type Audit = 'none' | 'passed' | 'failed'

/**
 * What happened in a run, one record each, in the order of the log. The log is the coordinator's only truth: whatever it
 * shows or decides is a fold over it.
 */
export type RunEvent =
  /** Version `version` is the policy in force, and round `round` is open. */
  | {
      readonly type: 'published'
      readonly atMs: number
      readonly round: number
      readonly version: number
      /** Trainer step that was published. */
      readonly step: number
      /** The step whose update made the adapter: `step` itself, or an earlier one when that changed nothing or rolled back. */
      readonly adapterStep: number
      readonly policyId: string
      readonly manifestId: string
      readonly adapterSha256: string
      /** Hex; its hash is in the manifest, the secret itself in the manifest of a later round. */
      readonly roundSecret: string
      /** Tasks that this round gives no leases for, see curriculum.ts. */
      readonly resting: string
    }
  /** A further round of the version in force: for keys that have registered since, or because a world is quarantined. */
  | {
      readonly type: 'reopened'
      readonly atMs: number
      readonly round: number
      readonly version: number
      readonly manifestId: string
      readonly roundSecret: string
      readonly resting: string
    }
  /** A key was seen for the first time, in round `round`: it gets leases of later rounds, whose secrets it could not know. */
  | { readonly type: 'registered'; readonly atMs: number; readonly node: string; readonly round: number }
  | {
      readonly type: 'leased'
      readonly atMs: number
      readonly leaseId: string
      readonly round: number
      /** Counts the leases of one node in one round; enters the seed. */
      readonly index: number
      readonly node: string
      readonly version: number
      readonly taskIndex: number
      /** Hex, 32 bytes. */
      readonly seed: string
      readonly deadlineMs: number
      /** As the node says: which calibration its work is judged by, and whether its draws can be replayed. */
      readonly backend: string
      readonly drawsReplay: boolean
    }
  /** The lease is still worked on, and lapses later. */
  | { readonly type: 'renewed'; readonly atMs: number; readonly leaseId: string; readonly deadlineMs: number }
  /** The lease is not worked on. Its owner gets it again before any other of the same version. */
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
      readonly audit: Audit
      /** Where the announcement came from, as a block of network addresses; null: not known, or this machine. */
      readonly addressBlock: string | null
      /** What each rollout says, as a short hash; none when not replayed. */
      readonly completions: readonly string[]
      /** Tool calls made in all rollouts, and rollouts that solved their task exactly; 0 when not replayed. */
      readonly calls: number
      readonly solved: number
    }
  /** An accepted group that was not in a batch yet was audited after all. */
  | {
      readonly type: 'audited'
      readonly atMs: number
      readonly leaseId: string
      readonly node: string
      readonly accepted: boolean
      readonly code: RefusalCode | null
      readonly detail: string
    }
  /** The world disagreed with itself when this lease's group was replayed: no more leases for its tasks. */
  | { readonly type: 'world-quarantined'; readonly atMs: number; readonly server: string; readonly leaseId: string }
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
  /** The batch could not be replayed, or the trainer could not use it; its groups are lost to training, and the step number is free again. */
  | {
      readonly type: 'batch-refused'
      readonly atMs: number
      readonly batchId: string
      readonly code: string
      readonly detail: string
    }
