import { BatchedOnTrust } from './batched-on-trust.js'
import { Batches } from './batches.js'
import { Curriculum } from './curriculum.js'
import type { EventOf } from './events.js'
import { Groups } from './groups.js'
import { Keys } from './keys.js'
import { Leases } from './leases.js'
import { Orders } from './orders.js'
import { Rounds } from './rounds.js'
import { known, type StateSnapshot } from './state-snapshot.js'
import { VerdictTrees } from './verdict-trees.js'

/** Mutable records of a run. The reducer knows which event changes which of them. */
export interface RunRecords {
  writtenBy: string | null
  readonly rounds: Rounds
  readonly registered: Map<string, number>
  readonly teams: Map<string, string>
  keysWaiting: number
  readonly leases: Leases
  readonly groups: Groups
  readonly keys: Keys
  /** Versions that were rolled back: groups of them are not trained on. */
  readonly withdrawn: Set<number>
  readonly quarantinedEnvironments: Set<string>
  readonly orders: Orders
  enabledSinceRound: boolean
  unattended: EventOf<'unattended'> | null
  strain: EventOf<'strained'> | null
  readonly curriculum: Curriculum
  readonly batches: Batches
  readonly verdictTrees: VerdictTrees
  scores: readonly EventOf<'scored'>[]
  readonly batchedOnTrust: BatchedOnTrust
  /** Nodes that were caught since the last batch was formed. */
  readonly caughtSinceBatch: Set<string>
}

/** Returns the records of a run without events. */
export function openRecords(): RunRecords {
  const leases = new Leases()
  return {
    writtenBy: null,
    rounds: new Rounds(),
    registered: new Map(),
    teams: new Map(),
    keysWaiting: 0,
    leases,
    groups: new Groups(),
    keys: new Keys(leases.open),
    withdrawn: new Set(),
    quarantinedEnvironments: new Set(),
    orders: new Orders(),
    enabledSinceRound: false,
    unattended: null,
    strain: null,
    curriculum: new Curriculum(),
    batches: new Batches(),
    verdictTrees: new VerdictTrees(),
    scores: [],
    batchedOnTrust: new BatchedOnTrust(),
    caughtSinceBatch: new Set(),
  }
}

/** Returns a snapshot of the records. Events and verdicts are shared with it, because they never change. */
export function snapshotOf(records: RunRecords): StateSnapshot {
  const { pause, announcement, rollback, ...orders } = records.orders.snapshot
  const { verdictLeaves, verdictStep } = records.verdictTrees.snapshot
  return {
    ...records.rounds.snapshot,
    registered: [...records.registered],
    teams: [...records.teams],
    ...records.keys.snapshot,
    ...records.leases.snapshot,
    ...records.groups.snapshot,
    verdictLeaves,
    scores: records.scores,
    curriculum: records.curriculum.entries,
    withdrawn: [...records.withdrawn],
    quarantinedEnvironments: [...records.quarantinedEnvironments],
    ...orders,
    ...records.batches.snapshot,
    ...records.batchedOnTrust.snapshot,
    caughtSinceBatch: [...records.caughtSinceBatch],
    rest: [
      {
        writtenBy: records.writtenBy,
        keysWaiting: records.keysWaiting,
        unprovenYield: records.keys.unprovenYield,
        usualTokens: records.keys.usualTokens,
        pendingBatch: records.batches.pending?.batchId ?? null,
        verdictStep,
        enabledSinceRound: records.enabledSinceRound,
        unattended: records.unattended,
        strain: records.strain,
        ...{ pause, announcement, rollback },
      },
    ],
  }
}

/** Restores records from a snapshot. @throws CheckpointError if it is inconsistent */
export function recordsOf(snapshot: StateSnapshot): RunRecords {
  const {
    writtenBy,
    keysWaiting,
    unprovenYield,
    usualTokens,
    pendingBatch,
    verdictStep,
    enabledSinceRound,
    unattended,
    strain,
    ...inForce
  } = known(snapshot.rest[0], 'the rest')
  const rounds = Rounds.of(snapshot)
  const leases = Leases.of(snapshot)
  for (const lease of leases.all.values()) rounds.roundOf(lease)
  const orders = Orders.of({ ...snapshot, ...inForce })
  const keys = Keys.of(snapshot, leases.open)
  keys.unprovenYield = unprovenYield
  keys.usualTokens = usualTokens
  const groups = Groups.of(snapshot, leases.all)
  for (const node of orders.banned.keys()) groups.usable.exclude(node)
  for (const { node, reputation } of keys.all.values()) if (reputation.isHeldBack) groups.usable.exclude(node)
  const pending = snapshot.batches.find(({ batchId }) => batchId === pendingBatch)
  return {
    ...{ writtenBy, rounds, keysWaiting, leases, groups, keys, orders, enabledSinceRound, unattended, strain },
    registered: new Map(snapshot.registered),
    teams: new Map(snapshot.teams),
    withdrawn: new Set(snapshot.withdrawn),
    quarantinedEnvironments: new Set(snapshot.quarantinedEnvironments),
    curriculum: Curriculum.of(snapshot.curriculum),
    batches: Batches.of(snapshot, pendingBatch === null ? undefined : known(pending, pendingBatch)),
    verdictTrees: VerdictTrees.of(snapshot, verdictStep),
    scores: snapshot.scores,
    batchedOnTrust: BatchedOnTrust.of(snapshot),
    caughtSinceBatch: new Set(snapshot.caughtSinceBatch),
  }
}
