import { createHash } from 'node:crypto'
import { type FileHandle, open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import type { LogHead } from './log-chain.js'
import { StoreError } from './store-error.js'

/** Returns the path of a log's head, which is kept outside of the database so that one fault rarely damages both. */
export const headFileOf = (logFolder: string): string => `${logFolder}.head`

/** File that says how many events a log must have. */
export interface HeadFile {
  readonly path: string
  /** The newest head on disk; null: no file yet. */
  readonly newest: LogHead | null
  /** Resolves when the head is on disk. Until then the previous head remains valid. */
  write(head: LogHead): Promise<void>
  close(): Promise<void>
}

/**
 * Size of one of the file's two copies, which are written in turn: a power failure only damages the copy that is being written. Replacing
 * the file by a rename takes 3 to 10 times as long, because it writes the journal of the file system.
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

/** Opens the head file. @throws StoreError `unreadable` when neither copy contains a head */
export async function openHeadFile(path: string): Promise<HeadFile> {
  const text = await readFile(path, 'latin1').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  const slots = text === null ? [] : [0, 1].map((i) => parseSlot(text.slice(i * SLOT_BYTES, (i + 1) * SLOT_BYTES)))
  const [first = null, second = null] = slots
  let newest = first && second ? (second.count > first.count ? second : first) : (first ?? second)
  if (text !== null && newest === null)
    throw new StoreError('unreadable', `${path} is damaged, so the length of the log is unknown`)
  /** Index of the copy for the next head: the one without the newest head. */
  let next = newest !== null && newest === first ? 1 : 0
  let file: FileHandle | null = null
  /** Reused for every write, because some hundred heads are written per second. */
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

/** Creates the file atomically and durably. */
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

/** Makes a rename durable. */
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

/** Writes all bytes. A disk that fills up writes the first part without an error. */
async function writeWhole(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done)
    if (bytesWritten === 0) throw new Error(`${bytes.length - done} B were not written`)
    done += bytesWritten
  }
}
