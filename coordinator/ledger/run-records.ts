import { BatchedOnTrust } from './batched-on-trust.js'
import { Batches } from './batches.js'
import { Curriculum } from './curriculum.js'
import type { EventOf } from './events.js'
import { Groups } from './groups.js'
import { Keys } from './keys.js'
import { Leases } from './leases.js'
import { Orders } from './orders.js'
import { Rounds } from './rounds.js'
import { type FoldImage, known } from './state-snapshot.js'

/** What is remembered of a run. Which event changes what of it, the fold knows. */
export interface Books {
  writtenBy: string | null
  readonly rounds: Rounds
  readonly registered: Map<string, number>
  readonly teams: Map<string, string>
  keysWaiting: number
  readonly leases: Leases
  readonly groups: Groups
  readonly keys: Keys
  /** Versions whose adapter was rolled back: what they sampled is not trained on. */
  readonly withdrawn: Set<number>
  readonly quarantinedWorlds: Set<string>
  readonly orders: Orders
  wokenSinceRound: boolean
  readonly curriculum: Curriculum
  readonly batches: Batches
  scores: readonly EventOf<'scored'>[]
  readonly batchedOnTrust: BatchedOnTrust
  /** Nodes that were caught since the last batch was formed. */
  readonly caughtSinceBatch: Set<string>
}

/** Those of a run of which nothing is known. */
export function openBooks(): Books {
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
    quarantinedWorlds: new Set(),
    orders: new Orders(),
    wokenSinceRound: false,
    curriculum: new Curriculum(),
    batches: new Batches(),
    scores: [],
    batchedOnTrust: new BatchedOnTrust(),
    caughtSinceBatch: new Set(),
  }
}

/** Everything they hold, as it is now. Events and verdicts are shared with them: they never change. */
export function imageOf(books: Books): FoldImage {
  const { pause, announcement, rollback, ...orders } = books.orders.image
  return {
    ...books.rounds.image,
    registered: [...books.registered],
    teams: [...books.teams],
    ...books.keys.image,
    ...books.leases.image,
    ...books.groups.image,
    scores: books.scores,
    rests: books.curriculum.entries,
    withdrawn: [...books.withdrawn],
    quarantinedWorlds: [...books.quarantinedWorlds],
    ...orders,
    ...books.batches.image,
    ...books.batchedOnTrust.image,
    caughtSinceBatch: [...books.caughtSinceBatch],
    rest: [
      {
        writtenBy: books.writtenBy,
        keysWaiting: books.keysWaiting,
        unprovenYield: books.keys.unprovenYield,
        usualTokens: books.keys.usualTokens,
        pendingBatch: books.batches.pending?.batchId ?? null,
        wokenSinceRound: books.wokenSinceRound,
        ...{ pause, announcement, rollback },
      },
    ],
  }
}

/** @throws CheckpointError for an image that does not hold together */
export function booksOf(image: FoldImage): Books {
  const { writtenBy, keysWaiting, unprovenYield, usualTokens, pendingBatch, wokenSinceRound, ...standing } = known(
    image.rest[0],
    'the rest',
  )
  const rounds = Rounds.of(image)
  const leases = Leases.of(image)
  for (const lease of leases.all.values()) rounds.roundOf(lease)
  const orders = Orders.of({ ...image, ...standing })
  const keys = Keys.of(image, leases.open)
  keys.unprovenYield = unprovenYield
  keys.usualTokens = usualTokens
  const groups = Groups.of(image, leases.all)
  for (const node of orders.banned.keys()) groups.usable.shutOut(node)
  for (const { node, standing } of keys.all.values()) if (standing.isHeldBack) groups.usable.shutOut(node)
  const pending = image.batches.find(({ batchId }) => batchId === pendingBatch)
  return {
    ...{ writtenBy, rounds, keysWaiting, leases, groups, keys, orders, wokenSinceRound },
    registered: new Map(image.registered),
    teams: new Map(image.teams),
    withdrawn: new Set(image.withdrawn),
    quarantinedWorlds: new Set(image.quarantinedWorlds),
    curriculum: Curriculum.of(image.rests),
    batches: Batches.of(image, pendingBatch === null ? undefined : known(pending, pendingBatch)),
    scores: image.scores,
    batchedOnTrust: BatchedOnTrust.of(image),
    caughtSinceBatch: new Set(image.caughtSinceBatch),
  }
}
