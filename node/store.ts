import { Level } from 'level'
import { z } from 'zod'
import { isRefusalCode, type RefusalCode, type Verdict } from '../proto/index.js'
import { NodeError } from './errors.js'

/** A finished group that waits for its verdict. */
export interface PendingGroup {
  readonly leaseId: string
  readonly bodySha256: string
  /** The signed announcement, as it is sent. */
  readonly sealed: Uint8Array
  readonly body: Uint8Array
}

/** What a node must not forget: groups without a verdict, and the verdicts it was given. One process per directory. */
export interface NodeStore {
  pending(): Promise<PendingGroup[]>
  /** Resolves when the group is on disk. */
  addPending(group: PendingGroup): Promise<void>
  /** Forgets a group that will never get a verdict. */
  removePending(leaseId: string): Promise<void>
  body(bodySha256: string): Promise<Uint8Array | null>
  /** Number of verdicts on record: where to ask the coordinator to go on from. @throws NodeError `unreadable` */
  verdictCount(): Promise<number>
  /**
   * Appends verdicts from position `from` on, passing over those already on record, and in the same write forgets the
   * groups they settle: a group with a verdict would otherwise be offered for ever. @returns the new ones
   */
  addVerdicts(from: number, verdicts: readonly Verdict[]): Promise<Verdict[]>
  /** @throws NodeError `unreadable` when a record is damaged */
  verdicts(): Promise<Verdict[]>
  close(): Promise<void>
}

const verdictSchema: z.ZodType<Verdict> = z.strictObject({
  leaseId: z.string(),
  bodySha256: z.string(),
  accepted: z.boolean(),
  code: z
    .string()
    .refine((value): value is RefusalCode => isRefusalCode(value))
    .nullable(),
  detail: z.string(),
  credit: z.number().min(0),
  receivedAtMs: z.number(),
})

const key = (position: number): string => String(position).padStart(12, '0')

/**
 * @param runId  a node may take part in several runs; their records never meet
 * @throws NodeError `in_use`, `unreadable`
 */
export async function openNodeStore(directory: string, runId: string): Promise<NodeStore> {
  const db = new Level<string, unknown>(directory)
  await open(db, directory)
  const announcements = db.sublevel<string, Uint8Array>(`${runId}:announcements`, { valueEncoding: 'view' })
  const bodies = db.sublevel<string, Uint8Array>(`${runId}:bodies`, { valueEncoding: 'view' })
  const hashes = db.sublevel<string, string>(`${runId}:hashes`, { valueEncoding: 'utf8' })
  const ledger = db.sublevel<string, string>(`${runId}:verdicts`, { valueEncoding: 'utf8' })
  const verdictCount = async (): Promise<number> => {
    const [last] = await ledger.keys({ reverse: true, limit: 1 }).all()
    if (last !== undefined && !/^\d{12}$/.test(last)) throw damaged(directory, `a verdict at ${JSON.stringify(last)}`)
    return last === undefined ? 0 : Number(last) + 1
  }
  const forgetting = async (leaseId: string) => {
    const bodySha256 = await hashes.get(leaseId)
    if (bodySha256 === undefined) return []
    return [
      { type: 'del' as const, sublevel: announcements, key: leaseId },
      { type: 'del' as const, sublevel: bodies, key: bodySha256 },
      { type: 'del' as const, sublevel: hashes, key: leaseId },
    ]
  }
  return {
    async pending() {
      const groups: PendingGroup[] = []
      for await (const [leaseId, bodySha256] of hashes.iterator()) {
        const [sealed, body] = await Promise.all([announcements.get(leaseId), bodies.get(bodySha256)])
        if (sealed && body) groups.push({ leaseId, bodySha256, sealed, body })
      }
      return groups
    },
    addPending({ leaseId, bodySha256, sealed, body }) {
      return db
        .batch()
        .put(leaseId, sealed, { sublevel: announcements })
        .put(bodySha256, body, { sublevel: bodies })
        .put(leaseId, bodySha256, { sublevel: hashes })
        .write({ sync: true })
    },
    async removePending(leaseId) {
      await db.batch(await forgetting(leaseId))
    },
    body: async (bodySha256) => (await bodies.get(bodySha256)) ?? null,
    verdictCount,
    async addVerdicts(from, verdicts) {
      const known = await verdictCount()
      const fresh = from > known ? [] : verdicts.slice(known - from)
      const records = fresh.map((value, i) => ({
        type: 'put' as const,
        sublevel: ledger,
        key: key(known + i),
        value: JSON.stringify(value),
      }))
      const settled = await Promise.all(verdicts.map(({ leaseId }) => forgetting(leaseId)))
      await db.batch([...records, ...settled.flat()], { sync: true })
      return fresh
    },
    async verdicts() {
      const records: Verdict[] = []
      for await (const [place, text] of ledger.iterator()) records.push(readVerdict(text, place, directory))
      return records
    },
    close: () => db.close(),
  }
}

async function open(db: Level<string, unknown>, directory: string): Promise<void> {
  try {
    await db.open()
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error
    if (cause instanceof Error && 'code' in cause && cause.code === 'LEVEL_LOCKED') {
      throw new NodeError(
        'in_use',
        `another process works with ${directory}; stop it, or give this one another --data-dir`,
        { cause },
      )
    }
    throw new NodeError('unreadable', `${directory}: ${(cause as Error).message}`, { cause })
  }
}

const damaged = (directory: string, what: string): NodeError =>
  new NodeError('unreadable', `${directory} is damaged: ${what}`)

function readVerdict(text: string, place: string, directory: string): Verdict {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    throw damaged(directory, `verdict ${place} is not JSON`)
  }
  const verdict = verdictSchema.safeParse(content)
  if (!verdict.success) throw damaged(directory, `verdict ${place}`)
  return verdict.data
}
