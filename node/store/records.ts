import { z } from 'zod'
import type { Verdict } from '../../proto/index.js'
import { type ClosedRound, closedRoundSchema, type KeptGroup } from './kept-group.js'
import { type LedgerTotals, totalsOf } from './ledger.js'
import { type NodeStore, verdictSchema } from './store.js'

/** The verdicts on a node's groups in one run. */
export interface RunLedger {
  readonly run: string
  readonly totals: LedgerTotals
  /** Verdicts that were on record, and that damage to the disk has removed. */
  readonly missing: number
  /** In their order. */
  readonly verdicts: readonly Verdict[]
}

/** Schema of a `RunLedger`. */
export const runLedger: z.ZodType<RunLedger> = z.strictObject({
  run: z.string(),
  totals: z.strictObject({
    groups: z.number(),
    accepted: z.number(),
    refused: z.number(),
    revoked: z.number(),
    credit: z.number(),
    reasons: z.array(z.strictObject({ code: z.string(), groups: z.number() })),
  }),
  missing: z.number(),
  verdicts: z.array(verdictSchema),
})

/** Reads the verdicts of all runs. @throws NodeError `unreadable` */
export async function readLedgers(stores: ReadonlyMap<string, NodeStore>): Promise<RunLedger[]> {
  const ledgers: RunLedger[] = []
  for (const [run, store] of stores) {
    const verdicts = await store.verdicts()
    ledgers.push({ run, totals: totalsOf(verdicts), missing: await store.missingVerdicts(), verdicts })
  }
  return ledgers
}

/** The newest group with a verdict, with the data to verify it. */
export interface LastGroup {
  readonly run: string
  readonly group: KeptGroup
  /** All verdicts on the group. The last one counts. */
  readonly verdicts: readonly Verdict[]
  readonly closedRounds: readonly ClosedRound[]
}

/** A `LastGroup` without its group. */
export const lastGroupFrame = z.strictObject({
  run: z.string(),
  verdicts: z.array(verdictSchema),
  closedRounds: z.array(closedRoundSchema),
})

/** Reads the group with the newest verdict of all runs. @throws NodeError `unreadable` */
export async function readLastGroup(stores: ReadonlyMap<string, NodeStore>): Promise<LastGroup | null> {
  let last: LastGroup | null = null
  for (const [run, store] of stores) {
    const group = await store.keptGroup()
    if (group === null) continue
    const { leaseId } = group.origin.lease
    const verdicts = (await store.verdicts()).filter((verdict) => verdict.leaseId === leaseId)
    const found = { run, group, verdicts, closedRounds: await store.rounds() }
    if (last === null || newest(found) > newest(last)) last = found
  }
  return last
}

const newest = ({ verdicts }: LastGroup): number => Math.max(0, ...verdicts.map(({ receivedAtMs }) => receivedAtMs))
