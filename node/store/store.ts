import { existsSync } from 'node:fs'
import { Level } from 'level'
import { z } from 'zod'
import { isRefusalCode, LIMITS, type RefusalCode, type Verdict } from '../../proto/index.js'
import type { KnownPeer } from '../../swarm/index.js'
import { NodeError } from '../report/errors.js'
import {
  type ClosedRound,
  closedRoundSchema,
  type GroupOrigin,
  groupOriginSchema,
  type KeptGroup,
} from './kept-group.js'
import { openVerdictCounts, type VerdictCounts } from './verdict-counts.js'

/** A finished group that waits for its verdict. */
export interface PendingGroup {
  readonly leaseId: string
  readonly bodySha256: string
  /** The signed announcement. */
  readonly sealed: Uint8Array
  readonly body: Uint8Array
  /** Missing: the node cannot verify the group again. */
  readonly origin?: GroupOrigin
}

/**
 * Records of a node for one run: groups without a verdict, all verdicts, and the newest group with a verdict, which the owner can verify.
 * One process per directory.
 */
export interface NodeStore {
  /** Reads the groups without a verdict. */
  pending(): Promise<PendingGroup[]>
  /** Resolves when the group is on disk. @throws NodeError `unwritable`, after which every write fails */
  addPending(group: PendingGroup): Promise<void>
  /** Forgets a group that will never get a verdict. */
  removePending(leaseId: string): Promise<void>
  /** Reads the body of a group without a verdict, or of the newest group with one: the coordinator's disk may have lost it. */
  body(bodySha256: string): Promise<Uint8Array | null>
  /** Returns the position after the newest verdict on record, from which the node asks the coordinator to continue. @throws NodeError `unreadable` */
  verdictCount(): Promise<number>
  /**
   * Appends verdicts from position `from` on, except those on record. The same write removes the groups with these verdicts, because a
   * group on record is offered again, and keeps the last one of them. The coordinator drops old verdicts, so a gap is possible.
   * @returns the new verdicts
   */
  addVerdicts(from: number, verdicts: readonly Verdict[]): Promise<Verdict[]>
  /** Reads all verdicts in their order. A lease with an audit may have several. @throws NodeError `unreadable` for a damaged record */
  verdicts(): Promise<Verdict[]>
  /** Returns how many verdicts were on record and are not any more. @param isReported  from now on, they count as never recorded */
  missingVerdicts(isReported?: boolean): Promise<number>
  /** Reads the last verdict on a lease. @throws NodeError `unreadable` */
  verdictOn(leaseId: string): Promise<Verdict | null>
  /** Reads the newest group with a verdict. @throws NodeError `unreadable` */
  keptGroup(): Promise<KeptGroup | null>
  /** Replaces the closed rounds on record. @throws NodeError `unwritable` */
  keepRounds(rounds: readonly ClosedRound[]): Promise<void>
  /** Reads the closed rounds. @throws NodeError `unreadable` */
  rounds(): Promise<ClosedRound[]>
  /** Replaces the reached nodes on record, which the next start dials. */
  keepPeers(peers: readonly KnownPeer[]): Promise<void>
  /** Reads the reached nodes. A damaged record counts as empty, because other nodes know more nodes. */
  peers(): Promise<readonly KnownPeer[]>
  /** Replaces the signed notice of the coordinator's addresses. */
  keepNotice(sealed: Uint8Array): Promise<void>
  notice(): Promise<Uint8Array | null>
  close(): Promise<void>
}

/** Schema of a verdict on record. */
export const verdictSchema: z.ZodType<Verdict> = z.strictObject({
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

const peersSchema: z.ZodType<readonly KnownPeer[]> = z
  .array(
    z.strictObject({
      peerId: z.string(),
      addresses: z.array(z.string()).min(1).max(LIMITS.addressesPerPeer.value),
      reachedAtMs: z.number(),
    }),
  )
  .max(LIMITS.peersKept.value)

const keptSchema = z.strictObject({ bodySha256: z.string(), origin: groupOriginSchema })
/** Key of a record without siblings. */
const ONLY = 'newest'

const key = (position: number): string => String(position).padStart(12, '0')

/**
 * Opens the records of one run in a data directory. Runs never share records.
 * @throws NodeError `in_use`, `unreadable`
 */
export async function openNodeStore(directory: string, runId: string): Promise<NodeStore> {
  return (await openNodeDatabase(directory)).storeOf(runId)
}

/** The records of all runs in a data directory. */
export interface NodeDatabase {
  /** Returns the records of a run. Closing them closes the database. */
  storeOf(runId: string): NodeStore
  /** Returns the records of every run. */
  stores(): Promise<ReadonlyMap<string, NodeStore>>
  close(): Promise<void>
}

/** Opens a data directory. @throws NodeError `in_use`, `unreadable` */
export async function openNodeDatabase(directory: string, { createIfMissing = true } = {}): Promise<NodeDatabase> {
  const db = new Level<string, unknown>(directory, { createIfMissing })
  await open(db, directory)
  const counts = openVerdictCounts(directory)
  return {
    storeOf: (runId) => storeOf(db, { directory, counts }, runId),
    async stores() {
      const runs = new Set<string>()
      // LevelDB has no list of sublevels, but their keys begin with their names.
      for await (const name of db.keys()) {
        const [, runId] = /^!([^!:]+):/.exec(name) ?? []
        if (runId !== undefined) runs.add(runId)
      }
      return new Map([...runs].map((runId) => [runId, storeOf(db, { directory, counts }, runId)]))
    },
    close: () => db.close(),
  }
}

/**
 * Opens the records of every run in a data directory, without joining a run.
 * @throws NodeError `nothing_kept` if no node has worked there, `in_use`, `unreadable`
 */
export async function openNodeStores(
  directory: string,
): Promise<{ readonly stores: ReadonlyMap<string, NodeStore>; close(): Promise<void> }> {
  if (!existsSync(directory))
    throw new NodeError('nothing_kept', `no node has worked in ${directory}: give the --data-dir of the node`)
  const database = await openNodeDatabase(directory, { createIfMissing: false })
  return { stores: await database.stores(), close: () => database.close() }
}

function sublevelsOf(db: Level<string, unknown>, runId: string) {
  return {
    announcements: db.sublevel<string, Uint8Array>(`${runId}:announcements`, { valueEncoding: 'view' }),
    bodies: db.sublevel<string, Uint8Array>(`${runId}:bodies`, { valueEncoding: 'view' }),
    hashes: db.sublevel<string, string>(`${runId}:hashes`, { valueEncoding: 'utf8' }),
    origins: db.sublevel<string, string>(`${runId}:origins`, { valueEncoding: 'utf8' }),
    ledger: db.sublevel<string, string>(`${runId}:verdicts`, { valueEncoding: 'utf8' }),
    /** Lease to the position of its last verdict. */
    lastVerdicts: db.sublevel<string, string>(`${runId}:last-verdicts`, { valueEncoding: 'utf8' }),
    kept: db.sublevel<string, string>(`${runId}:kept`, { valueEncoding: 'utf8' }),
    keptBody: db.sublevel<string, Uint8Array>(`${runId}:kept-body`, { valueEncoding: 'view' }),
    closedRounds: db.sublevel<string, string>(`${runId}:rounds`, { valueEncoding: 'utf8' }),
    peers: db.sublevel<string, string>(`${runId}:peers`, { valueEncoding: 'utf8' }),
    notices: db.sublevel<string, Uint8Array>(`${runId}:notices`, { valueEncoding: 'view' }),
  }
}

type Sublevels = ReturnType<typeof sublevelsOf>

type Write = (work: () => Promise<void>) => Promise<void>

/** On a full disk LevelDB (level 10.0.0) writes half a record, and the next start drops it and all later ones: no write follows a failed one. */
function writerIn(directory: string): Write {
  let broken: NodeError | null = null
  return async (work) => {
    if (broken) throw broken
    try {
      await work()
    } catch (cause) {
      broken = new NodeError(
        'unwritable',
        `${directory} could not be written: ${(cause as Error).message}. If the disk is full, free some space and start the node again; finished groups that were written are kept`,
        { cause },
      )
      throw broken
    }
  }
}

type Notes = Pick<NodeStore, 'keepRounds' | 'rounds' | 'keepPeers' | 'peers' | 'keepNotice' | 'notice'>

/** The records that a node keeps of the run and of other nodes. */
function notesIn({ closedRounds, peers, notices }: Sublevels, directory: string, write: Write): Notes {
  return {
    keepRounds: (rounds) => write(() => closedRounds.put(ONLY, JSON.stringify(rounds))),
    async rounds() {
      const text = await closedRounds.get(ONLY)
      return text === undefined ? [] : readRecord(text, z.array(closedRoundSchema), 'the closed rounds', directory)
    },
    keepPeers: (list) => write(() => peers.put(ONLY, JSON.stringify(list))),
    async peers() {
      const text = await peers.get(ONLY)
      try {
        return text === undefined ? [] : readRecord(text, peersSchema, 'the nodes that were reached', directory)
      } catch (why) {
        if (why instanceof NodeError) return []
        throw why
      }
    },
    keepNotice: (sealed) => write(() => notices.put(ONLY, sealed)),
    notice: async () => (await notices.get(ONLY)) ?? null,
  }
}

interface StorePlace {
  readonly directory: string
  readonly counts: VerdictCounts
}

function storeOf(db: Level<string, unknown>, { directory, counts }: StorePlace, runId: string): NodeStore {
  const sublevels = sublevelsOf(db, runId)
  const { announcements, bodies, hashes, origins, ledger, lastVerdicts, kept, keptBody } = sublevels
  const write = writerIn(directory)
  const readVerdict = (text: string, place: string): Verdict =>
    readRecord(text, verdictSchema, `verdict ${place}`, directory)
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
      { type: 'del' as const, sublevel: origins, key: leaseId },
    ]
  }
  /** Returns the last group with one of these verdicts that the node can verify again. */
  const lastWithOrigin = async (verdicts: readonly Verdict[]) => {
    for (const { leaseId } of verdicts.toReversed()) {
      const [bodySha256, origin] = await Promise.all([hashes.get(leaseId), origins.get(leaseId)])
      const body = bodySha256 === undefined ? undefined : await bodies.get(bodySha256)
      if (origin !== undefined && body !== undefined)
        return { record: `{"bodySha256":${JSON.stringify(bodySha256)},"origin":${origin}}`, body }
    }
    return null
  }
  const readKept: NodeStore['keptGroup'] = async () => {
    const [text, body] = await Promise.all([kept.get(ONLY), keptBody.get(ONLY)])
    if (text === undefined || body === undefined) return null
    return { ...readRecord(text, keptSchema, 'the kept group', directory), body }
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
    async addPending({ leaseId, bodySha256, sealed, body, origin }) {
      const batch = db
        .batch()
        .put(leaseId, sealed, { sublevel: announcements })
        .put(bodySha256, body, { sublevel: bodies })
        .put(leaseId, bodySha256, { sublevel: hashes })
      if (origin) batch.put(leaseId, JSON.stringify(origin), { sublevel: origins })
      await write(() => batch.write({ sync: true }))
    },
    async removePending(leaseId) {
      const forgotten = await forgetting(leaseId)
      await write(() => db.batch(forgotten))
    },
    async body(bodySha256) {
      const waiting = await bodies.get(bodySha256)
      if (waiting !== undefined) return waiting
      const newest = await readKept()
      return newest?.bodySha256 === bodySha256 ? newest.body : null
    },
    verdictCount,
    async addVerdicts(from, verdicts) {
      const known = await verdictCount()
      const first = Math.max(known, from)
      const fresh = verdicts.slice(first - from)
      const batch = db.batch()
      for (const [i, verdict] of fresh.entries()) {
        batch.put(key(first + i), JSON.stringify(verdict), { sublevel: ledger })
        batch.put(verdict.leaseId, key(first + i), { sublevel: lastVerdicts })
      }
      const last = await lastWithOrigin(verdicts)
      if (last !== null) {
        batch.put(ONLY, last.record, { sublevel: kept })
        batch.put(ONLY, last.body, { sublevel: keptBody })
      }
      for (const { leaseId } of verdicts)
        for (const { key: place, sublevel } of await forgetting(leaseId)) batch.del(place, { sublevel })
      await write(() => batch.write({ sync: true }))
      if (fresh.length > 0) await write(() => counts.add(runId, fresh.length))
      return fresh
    },
    async verdicts() {
      const records: Verdict[] = []
      for await (const [place, text] of ledger.iterator()) records.push(readVerdict(text, place))
      return records
    },
    async missingVerdicts(isReported = false) {
      const recorded = (await ledger.keys().all()).length
      const missing = Math.max(0, counts.of(runId) - recorded)
      if (isReported && missing > 0) await write(() => counts.reset(runId, recorded))
      return missing
    },
    async verdictOn(leaseId) {
      const place = await lastVerdicts.get(leaseId)
      const text = place === undefined ? undefined : await ledger.get(place)
      return text === undefined ? null : readVerdict(text, place!)
    },
    keptGroup: readKept,
    ...notesIn(sublevels, directory, write),
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
        `another process uses ${directory}: see \`prove-node status\`. Stop that process, or give this one another --data-dir`,
        { cause },
      )
    }
    throw damaged(directory, (cause as Error).message, cause)
  }
}

const damaged = (directory: string, what: string, cause?: unknown): NodeError =>
  new NodeError(
    'unreadable',
    `${directory} is damaged: ${what}. Keep a copy, then move the folder away and start the node again: mv ${directory} ${directory}.damaged. The key and the credit stay; the coordinator sends the newest ${LIMITS.verdictsKept.value} verdicts again, and groups without a verdict are lost`,
    { cause },
  )

function readRecord<T>(text: string, schema: z.ZodType<T>, what: string, directory: string): T {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    throw damaged(directory, `${what} is not JSON`)
  }
  const record = schema.safeParse(content)
  if (!record.success) throw damaged(directory, what)
  return record.data
}
