import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { CodedError } from '../../common/errors/index.js'
import {
  type GroupAnnouncement,
  ID_BYTES,
  type OpenedGroupAnnouncement,
  openGroupAnnouncement,
  SwarmRefusal,
  sha256,
} from '../../proto/index.js'

// An announcement that a node has signed is proof against it. Bodies are stored with the announcements, not with those of accepted
// groups: a thief may have announced a body that another node's group needs, and it must remain when the proof is removed.

export const PROOF_LIMITS = {
  proofs: {
    value: 256,
    unit: 'count',
    reason: 'more than anybody reads; a key causes one or two, then it is quarantined',
  },
  bytes: {
    value: 268_435_456,
    unit: 'B',
    reason: '64 of the largest bodies of the protocol; usual bodies have a tenth of that size',
  },
} as const

/** A proof is missing or damaged. */
export class ProofError extends CodedError<'not_kept' | 'damaged'> {}

/** Stores proofs that nodes have lied. The oldest proofs are removed first. */
export interface ProofStore {
  /** Resolves when the proof is on disk. @param body  null when it did not arrive */
  keep(leaseId: string, sealed: Uint8Array, body: Uint8Array | null): Promise<void>
  drop(leaseId: string): Promise<void>
}

/** A stored proof, without its content. */
export interface KeptProof {
  readonly leaseId: string
  readonly keptAtMs: number
  readonly announcementBytes: number
  /** null: the body did not arrive, or its size alone was false. */
  readonly bodyBytes: number | null
}

/** A verified proof. */
export interface Proof {
  readonly leaseId: string
  /** Node that has signed it. */
  readonly node: string
  readonly announcement: GroupAnnouncement
  /** The signed bytes. */
  readonly sealed: Uint8Array
  /** Body whose hash is in the announcement. */
  readonly body: Uint8Array | null
}

const ANNOUNCEMENT = '.announcement'
const BODY = '.body'
const LEASE_ID = new RegExp(`^[0-9a-f]{${2 * ID_BYTES}}$`)

/** Returns the path of a file. @throws TypeError if the name is no lease id, so that no other name becomes a path */
function pathOf(folder: string, leaseId: string, kind: typeof ANNOUNCEMENT | typeof BODY): string {
  if (!LEASE_ID.test(leaseId)) throw new TypeError(`the name of a proof has ${2 * ID_BYTES} hex digits`)
  return join(folder, leaseId + kind)
}

/** Opens the store. Only one process may use a folder. @param limits  for tests */
export async function openProofStore(
  folder: string,
  limits: { readonly proofs: number; readonly bytes: number } = {
    proofs: PROOF_LIMITS.proofs.value,
    bytes: PROOF_LIMITS.bytes.value,
  },
): Promise<ProofStore> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const names = new Set(await readdir(folder))
  for (const name of names) {
    // Left by a kill between the two files, or during a write.
    const half = name.endsWith(BODY) && !names.has(name.slice(0, -BODY.length) + ANNOUNCEMENT)
    if (half || !(name.endsWith(ANNOUNCEMENT) || name.endsWith(BODY))) await rm(join(folder, name), { force: true })
  }
  /** Bytes of each proof, in the order of age. */
  const sizes = new Map<string, number>()
  for (const { leaseId, announcementBytes, bodyBytes } of (await listProofs(folder)).toReversed())
    sizes.set(leaseId, announcementBytes + (bodyBytes ?? 0))

  const drop = async (leaseId: string): Promise<void> => {
    sizes.delete(leaseId)
    await rm(pathOf(folder, leaseId, ANNOUNCEMENT), { force: true })
    await rm(pathOf(folder, leaseId, BODY), { force: true })
  }
  const write = (path: string, bytes: Uint8Array): Promise<void> =>
    writeFileAtomic(path, Buffer.from(bytes), { mode: 0o600 })

  return {
    drop,
    async keep(leaseId, sealed, body) {
      await drop(leaseId)
      // The announcement last, because a body alone is no proof.
      if (body) await write(pathOf(folder, leaseId, BODY), body)
      await write(pathOf(folder, leaseId, ANNOUNCEMENT), sealed)
      sizes.set(leaseId, sealed.length + (body?.length ?? 0))
      const total = (): number => [...sizes.values()].reduce((sum, size) => sum + size, 0)
      while (sizes.size > limits.proofs || total() > limits.bytes) {
        const [oldest] = sizes.keys()
        if (oldest === undefined || oldest === leaseId) break
        await drop(oldest)
      }
    },
  }
}

/** Lists stored proofs, the newest first, without reading them. `openProof` verifies one. */
export async function listProofs(folder: string): Promise<KeptProof[]> {
  const names = await readdir(folder).catch((why: NodeJS.ErrnoException): string[] => {
    if (why.code === 'ENOENT') return []
    throw why
  })
  const found: KeptProof[] = []
  for (const name of names) {
    const leaseId = name.slice(0, -ANNOUNCEMENT.length)
    if (!name.endsWith(ANNOUNCEMENT) || !LEASE_ID.test(leaseId)) continue
    const { size, mtimeMs } = await stat(join(folder, name))
    const bodyBytes = names.includes(leaseId + BODY) ? (await stat(pathOf(folder, leaseId, BODY))).size : null
    found.push({ leaseId, keptAtMs: mtimeMs, announcementBytes: size, bodyBytes })
  }
  return found.sort((a, b) => b.keptAtMs - a.keptAtMs || (a.leaseId < b.leaseId ? 1 : -1))
}

/**
 * Reads and verifies a proof: the node's signature, run and lease, and the hash of the body.
 * @throws ProofError `not_kept`, or `damaged` when it proves nothing
 */
export async function openProof(folder: string, leaseId: string, runId: string): Promise<Proof> {
  if (!LEASE_ID.test(leaseId)) throw new ProofError('not_kept', `${leaseId} is no lease id`)
  const sealed = await readOrNull(pathOf(folder, leaseId, ANNOUNCEMENT))
  if (!sealed) throw new ProofError('not_kept', `no proof is stored for the group of lease ${leaseId}`)
  const damaged = (why: string, cause?: unknown): ProofError =>
    new ProofError('damaged', `the proof for lease ${leaseId}: ${why}`, { cause })
  let opened: OpenedGroupAnnouncement
  try {
    opened = await openGroupAnnouncement(sealed, runId)
  } catch (cause) {
    throw cause instanceof SwarmRefusal ? damaged(cause.message, cause) : cause
  }
  const { announcement, signer } = opened
  if (announcement.leaseId !== leaseId) throw damaged(`it is about lease ${announcement.leaseId}`)
  const body = await readOrNull(pathOf(folder, leaseId, BODY))
  if (body && sha256(body) !== announcement.bodySha256) throw damaged('the body is not the announced one')
  return { leaseId, node: signer, announcement, sealed, body }
}

async function readOrNull(path: string): Promise<Uint8Array | null> {
  return readFile(path).catch((why: NodeJS.ErrnoException) => {
    if (why.code === 'ENOENT') return null
    throw why
  })
}
