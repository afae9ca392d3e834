import { createHash } from 'node:crypto'
import { type FileHandle, open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import type { LogHead } from './log-chain.js'
import { StoreError } from './store-error.js'

/** Where a log's head is kept, apart from the database: what befalls the one rarely befalls the other. */
export const headFileOf = (logFolder: string): string => `${logFolder}.head`

/** The file that says how far a log reaches. */
export interface HeadFile {
  readonly path: string
  /** The newest head that is on disk; null: there is no file yet. */
  readonly newest: LogHead | null
  /** Resolves when the head is on disk. Until then the one before it is. */
  write(head: LogHead): Promise<void>
  close(): Promise<void>
}

/**
 * The file has two of these, written in turn: what is torn by a power failure is the one that was being written, and the
 * other still holds. Replacing the file by a rename takes 3 to 10 times as long, because the file system's journal is written for it.
 */
const SLOT_BYTES = 4096

const slotSchema = z.object({
  count: z.int().min(0),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  check: z.string(),
})

const checkOf = ({ count, hash }: LogHead): string =>
  createHash('sha256').update(`${count} ${hash}`).digest('hex').slice(0, 16)

const slotOf = ({ count, hash }: LogHead): string =>
  `${JSON.stringify({ count, hash, check: checkOf({ count, hash }) }).padEnd(SLOT_BYTES - 1)}\n`

function parseSlot(text: string): LogHead | null {
  try {
    const { check, ...head } = slotSchema.parse(JSON.parse(text))
    return check === checkOf(head) ? head : null
  } catch {
    return null
  }
}

/** @throws StoreError `unreadable` when neither of its two places holds a head */
export async function openHeadFile(path: string): Promise<HeadFile> {
  const text = await readFile(path, 'latin1').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  const slots = text === null ? [] : [0, 1].map((i) => parseSlot(text.slice(i * SLOT_BYTES, (i + 1) * SLOT_BYTES)))
  const [first = null, second = null] = slots
  let newest = first && second ? (second.count > first.count ? second : first) : (first ?? second)
  if (text !== null && newest === null)
    throw new StoreError('unreadable', `${path} is damaged: it no longer says how far the log reaches`)
  /** Where the next head goes: where the newest is not. */
  let next = newest !== null && newest === first ? 1 : 0
  let file: FileHandle | null = null
  /** Heads are written one at a time, some hundred a second: each in new memory would be work for the collector. */
  const slot = Buffer.alloc(SLOT_BYTES)
  return {
    path,
    get newest() {
      return newest
    },
    async write(head) {
      if (newest === null) await create(path, head)
      else {
        file ??= await open(path, 'r+')
        slot.write(slotOf(head), 'latin1')
        await writeWhole(file, slot, next * SLOT_BYTES)
        await file.datasync()
        next = 1 - next
      }
      newest = head
    },
    async close() {
      await file?.close()
      file = null
    },
  }
}

/** There is no head at all, or a whole one that no power failure takes away again. */
async function create(path: string, head: LogHead): Promise<void> {
  const draft = `${path}.tmp`
  const file = await open(draft, 'w', 0o600)
  try {
    await writeWhole(file, Buffer.from(slotOf(head).repeat(2), 'latin1'), 0)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
  await syncFolderOf(path)
}

/** Makes a rename last. */
export async function syncFolderOf(path: string): Promise<void> {
  // Windows cannot open a folder; NTFS journals the rename.
  if (process.platform === 'win32') return
  const folder = await open(dirname(path), 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** A disk that fills up takes the first part of a write without an error. */
async function writeWhole(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done)
    if (bytesWritten === 0) throw new Error(`${bytes.length - done} B were not written`)
    done += bytesWritten
  }
}
