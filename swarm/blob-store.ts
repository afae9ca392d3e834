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
 * Files named by the SHA-256 of their content. Input from the wire can only be a hash, so no name from a peer becomes a path. A file
 * appears under its hash only when it is complete and synced. Disks may damage files, so a read returns content with the right hash, or
 * nothing.
 */
export interface BlobStore {
  readonly directory: string
  /** Returns the path of a blob, stored or not. @throws TypeError if the argument is not a hash */
  path(hash: Sha256): string
  /** Tests whether a file exists under the hash, intact or damaged. */
  has(hash: Sha256): Promise<boolean>
  /** Tests whether the blob exists and still has its hash. Reads it in pieces. @throws the signal's reason */
  isWhole(hash: Sha256, signal: AbortSignal): Promise<boolean>
  /** Stores a blob, and replaces a damaged copy. */
  put(content: Uint8Array): Promise<Sha256>
  /** Copies a file in. */
  putFile(source: string): Promise<Sha256>
  /** Moves a finished temporary file of this directory to its final name. The caller has synced and checked it. */
  adopt(temporary: string, hash: Sha256): Promise<void>
  /** Reads a whole blob; null if it is missing or its content no longer has the hash. */
  read(hash: Sha256): Promise<Uint8Array | null>
  /** Reads one chunk, unchecked; null if the blob is missing or too short. */
  readChunk(hash: Sha256, sizeBytes: number, index: number): Promise<Uint8Array | null>
  /** Hashes a stored blob chunk by chunk, for a manifest. @throws BlobError */
  describe(hash: Sha256, role: BlobRole): Promise<BlobDescription>
  list(): Promise<readonly Sha256[]>
  remove(hash: Sha256): Promise<void>
  /** Removes every blob and partial download except these. */
  prune(keep: ReadonlySet<Sha256>): Promise<void>
}

const TEMPORARY = '.put-'
const BLOB_FILE = /^(?:\.part-|\.have-)?([0-9a-f]{64})$/

/** Opens a store. Removes temporary files that a crash left, and keeps partial downloads. */
export async function createBlobStore(directory: string): Promise<BlobStore> {
  await mkdir(directory, { recursive: true })
  for (const name of await readdir(directory)) {
    if (name.startsWith(TEMPORARY)) await rm(join(directory, name), { force: true })
  }
  const temporaryPath = (): string => join(directory, TEMPORARY + randomBytes(12).toString('hex'))
  const path = (hash: Sha256): string => {
    if (!isSha256(hash)) throw new TypeError(`not a blob hash (64 lower-case hex digits): ${hash.slice(0, 80)}`)
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

  const syncNames = sharedSync(directory)
  const adopt = async (temporary: string, hash: Sha256): Promise<void> => {
    await rename(temporary, path(hash))
    await syncNames()
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
    } catch (why) {
      await rm(temporary, { force: true })
      throw why
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
      if (await read(hash)) {
        // An earlier call may have failed to sync the name, or not have finished.
        await syncNames()
        return hash
      }
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
      if (described.sha256 !== hash)
        throw new BlobError(
          'blob_damaged',
          `the content of ${path(hash)} does not have this hash; delete the file, and it is fetched again`,
        )
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
 * Hashes a file that is not empty, as a whole and chunk by chunk.
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

/** Reads one chunk of a file, unchecked; null if the file is missing or too short. */
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

/** Reads `length` bytes at a position. @throws Error if the file is too short */
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
 * Writes all bytes. A disk that fills up accepts the first part of a write without an error, and reports the error at the next write.
 * @returns  the position after the last byte
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

/** Returns a function that syncs a directory. Calls during a sync share the next one, which begins after all of them. */
function sharedSync(directory: string): () => Promise<void> {
  let running: Promise<void> = Promise.resolve()
  let next: Promise<void> | null = null
  const begin = (): Promise<void> => {
    next = null
    running = syncDirectory(directory)
    return running
  }
  return () => {
    next ??= running.then(begin, begin)
    return next
  }
}

/** A rename survives a power failure only if its directory is synced too. */
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
