import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type BlobDescription,
  type BlobRole,
  chunkLength,
  isSha256,
  LIMITS,
  type Sha256,
  sha256,
} from '../proto/index.js'
import { BlobError } from './errors.js'

/**
 * Files named by the SHA-256 of their content. What comes from the wire can only be a hash, so no name ever becomes a
 * path; a file appears under its hash only whole and synced. Disks change what they hold, so whoever reads a blob gets what
 * has its hash, or nothing.
 */
export interface BlobStore {
  readonly directory: string
  /** Where the blob is, or will be. @throws TypeError for anything but a hash */
  path(hash: Sha256): string
  /** Whether there is a file under the hash, whole or damaged. */
  has(hash: Sha256): Promise<boolean>
  /** Whether the blob is there and still has its hash; read piece by piece. @throws the signal's reason */
  isWhole(hash: Sha256, signal: AbortSignal): Promise<boolean>
  /** Resolves when the blob is there, whole: a damaged one is replaced. */
  put(content: Uint8Array): Promise<Sha256>
  /** Copies a file in. */
  putFile(source: string): Promise<Sha256>
  /** Puts a finished temporary file of this directory under its name. The caller has synced and checked it. */
  adopt(temporary: string, hash: Sha256): Promise<void>
  /** The whole blob; null when it is not there, or is no longer what its hash says. */
  read(hash: Sha256): Promise<Uint8Array | null>
  /** One chunk as the exchange numbers them, unchecked; null when the store has no such blob, or one that ends before. */
  readChunk(hash: Sha256, sizeBytes: number, index: number): Promise<Uint8Array | null>
  /** Hashes a stored blob chunk by chunk, for a manifest. @throws BlobError */
  describe(hash: Sha256, role: BlobRole): Promise<BlobDescription>
  list(): Promise<readonly Sha256[]>
  remove(hash: Sha256): Promise<void>
  /** Removes every blob and every partial download but those of these hashes. */
  prune(keep: ReadonlySet<Sha256>): Promise<void>
}

const TEMPORARY = '.put-'
const BLOB_FILE = /^(?:\.part-|\.have-)?([0-9a-f]{64})$/

/** Opens a store; leftovers of writes that a crash cut short are removed, partial downloads are kept. */
export async function createBlobStore(directory: string): Promise<BlobStore> {
  await mkdir(directory, { recursive: true })
  for (const name of await readdir(directory)) {
    if (name.startsWith(TEMPORARY)) await rm(join(directory, name), { force: true })
  }
  const temporaryPath = (): string => join(directory, TEMPORARY + randomBytes(12).toString('hex'))
  const path = (hash: Sha256): string => {
    if (!isSha256(hash)) throw new TypeError('a blob is named by 64 hex digits')
    return join(directory, hash)
  }

  const isWhole: BlobStore['isWhole'] = async (hash, signal) => {
    const file = await orNull(open(path(hash), 'r'))
    if (!file) return false
    try {
      const whole = createHash('sha256')
      const piece = new Uint8Array(LIMITS.chunkBytes.value)
      for (let at = 0; ; ) {
        signal.throwIfAborted()
        const { bytesRead } = await file.read(piece, 0, piece.length, at)
        if (bytesRead === 0) return whole.digest('hex') === hash
        whole.update(piece.subarray(0, bytesRead))
        at += bytesRead
      }
    } finally {
      await file.close()
    }
  }
  const read: BlobStore['read'] = async (hash) => {
    const bytes = await orNull(readFile(path(hash)))
    return bytes !== null && sha256(bytes) === hash ? bytes : null
  }

  const adopt = async (temporary: string, hash: Sha256): Promise<void> => {
    await rename(temporary, path(hash))
    await syncDirectory(directory)
  }

  const write = async (fill: (file: FileHandle) => Promise<Sha256>): Promise<Sha256> => {
    const temporary = temporaryPath()
    try {
      const file = await open(temporary, 'wx')
      let hash: Sha256
      try {
        hash = await fill(file)
        await file.sync()
      } finally {
        await file.close()
      }
      await adopt(temporary, hash)
      return hash
    } finally {
      await rm(temporary, { force: true })
    }
  }

  return {
    directory,
    path,
    adopt,

    has: (hash) => exists(path(hash)),
    isWhole,
    read,

    async put(content) {
      const hash = sha256(content)
      if (await read(hash)) return hash
      return write(async (file) => {
        await file.writeFile(content)
        return hash
      })
    },

    putFile: (source) =>
      write(async (file) => {
        const hash = createHash('sha256')
        let at = 0
        for await (const piece of createReadStream(source, { highWaterMark: LIMITS.chunkBytes.value })) {
          hash.update(piece)
          at = await writeAll(file, piece, at)
        }
        return hash.digest('hex')
      }),

    readChunk: (hash, sizeBytes, index) => readFileChunk(path(hash), sizeBytes, index),

    async describe(hash, role) {
      const described = await describeFile(path(hash), role)
      if (described.sha256 !== hash) throw new BlobError('blob_damaged', `${path(hash)} is not what its name says`)
      return described
    },

    list: async () => (await readdir(directory)).filter(isSha256),
    remove: (hash) => rm(path(hash), { force: true }),
    async prune(keep) {
      for (const name of await readdir(directory)) {
        const hash = BLOB_FILE.exec(name)?.[1]
        if (hash !== undefined && !keep.has(hash)) await rm(join(directory, name), { force: true })
      }
    },
  }
}

/**
 * Hashes a file, as a whole and chunk by chunk. It must not be empty.
 * @throws BlobError `blob_missing`; the signal's reason
 */
export async function describeFile(path: string, role: BlobRole, signal?: AbortSignal): Promise<BlobDescription> {
  const whole = createHash('sha256')
  const chunkSha256s: Sha256[] = []
  const file = await orNull(open(path, 'r'))
  if (!file) throw new BlobError('blob_missing', path)
  try {
    const { size } = await file.stat()
    for (let index = 0; index * LIMITS.chunkBytes.value < size; index += 1) {
      signal?.throwIfAborted()
      const chunk = await readAt(file, index * LIMITS.chunkBytes.value, chunkLength(size, index))
      whole.update(chunk)
      chunkSha256s.push(sha256(chunk))
    }
    return { role, sha256: whole.digest('hex'), sizeBytes: size, chunkSha256s }
  } finally {
    await file.close()
  }
}

/** One chunk of a file, unchecked; null when there is none, or one that ends before. */
export async function readFileChunk(path: string, sizeBytes: number, index: number): Promise<Uint8Array | null> {
  const file = await orNull(open(path, 'r'))
  if (!file) return null
  try {
    const length = chunkLength(sizeBytes, index)
    const end = index * LIMITS.chunkBytes.value + length
    return (await file.stat()).size < end ? null : await readAt(file, end - length, length)
  } finally {
    await file.close()
  }
}

/** @throws Error when the file is shorter than that */
export async function readAt(file: FileHandle, position: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, position + filled)
    if (bytesRead === 0) throw new Error(`the file ends at ${position + filled}, before ${position + length}`)
    filled += bytesRead
  }
  return bytes
}

/**
 * Writes all the bytes. A disk that fills up takes the first part of a write without an error, and says so at the next.
 * @returns  the position behind them
 */
export async function writeAll(file: Pick<FileHandle, 'write'>, bytes: Uint8Array, position: number): Promise<number> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done)
    if (bytesWritten === 0) throw new Error(`nothing was written at ${position + done}`)
    done += bytesWritten
  }
  return position + bytes.length
}

async function exists(path: string): Promise<boolean> {
  return (await orNull(stat(path)))?.isFile() ?? false
}

async function orNull<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (why) {
    if (why instanceof Error && 'code' in why && why.code === 'ENOENT') return null
    throw why
  }
}

/** A rename is safe from a power failure only when its directory is synced too. */
async function syncDirectory(directory: string): Promise<void> {
  // Windows cannot open a directory; NTFS journals the rename.
  if (process.platform === 'win32') return
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
