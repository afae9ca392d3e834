import { createHash } from 'node:crypto'
import { type FileHandle, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type BlobDescription, chunkLength, LIMITS, type Sha256, sha256 } from '../proto/index.js'
import { type BlobStore, readAt, writeAll } from './blob-store.js'
import { TransportError } from './errors.js'

/** A download that survives its process: one file with the chunks, one with a map of the complete chunks. */
export interface PartialBlob {
  readonly description: BlobDescription
  /** Returns the indices of the missing chunks, ascending. */
  missing(): readonly number[]
  has(index: number): boolean
  /** Returns a bit for each chunk that is complete or in `expected`. */
  held(): Uint8Array
  /** Chunks that the origin is sending. */
  readonly expected: Set<number>
  /** Writes a chunk if it has the right hash. @returns  whether it has */
  write(index: number, chunk: Uint8Array): Promise<boolean>
  /** Reads a verified chunk, or returns null. */
  read(index: number): Promise<Uint8Array | null>
  /**
   * Checks the whole file, syncs it and moves it into the store.
   * @throws TransportError `bad_hash` if all chunks match but the file does not: the manifest is inconsistent
   */
  finish(): Promise<void>
  /** Closes the files, which stay for the next attempt. Idempotent. */
  close(): Promise<void>
}

/** Returns the paths of an unfinished download: the data, and the map of complete chunks. */
export const partialFiles = (directory: string, hash: Sha256): readonly [data: string, bitmap: string] => [
  join(directory, `.part-${hash}`),
  join(directory, `.have-${hash}`),
]

/**
 * Opens or resumes a download. The map is only a hint, written without syncing. Each chunk that it names is hashed again, so a crash
 * or a damaged disk costs at most those chunks.
 */
export async function openPartialBlob(store: BlobStore, description: BlobDescription): Promise<PartialBlob> {
  const { sizeBytes, chunkSha256s } = description
  const [dataPath, bitmapPath] = partialFiles(store.directory, description.sha256)
  const claimed = await readOptional(bitmapPath)
  const data = await openBoth(dataPath)
  const have = new Uint8Array(chunkSha256s.length)
  let opened: FileHandle | null = null
  try {
    await data.truncate(sizeBytes)
    for (const [index, hash] of chunkSha256s.entries()) {
      if (claimed?.[index] !== 1) continue
      const chunk = await readAt(data, index * LIMITS.chunkBytes.value, chunkLength(sizeBytes, index))
      if (sha256(chunk) === hash) have[index] = 1
    }
    opened = await open(bitmapPath, 'w')
    await writeAll(opened, have, 0)
  } catch (why) {
    await data.close()
    await opened?.close()
    throw why
  }
  const bitmap = opened
  const expected = new Set<number>()

  let closed = false
  const close = async (): Promise<void> => {
    if (closed) return
    closed = true
    await data.close()
    await bitmap.close()
  }

  return {
    description,
    missing: () => [...have.keys()].filter((index) => have[index] === 0),
    has: (index) => have[index] === 1,
    held: () => bitsOf(have.length, (index) => have[index] === 1 || expected.has(index)),
    expected,

    async write(index, chunk) {
      if (sha256(chunk) !== chunkSha256s[index]) return false
      if (have[index] === 1 || closed) return true
      await writeAll(data, chunk, index * LIMITS.chunkBytes.value)
      have[index] = 1
      await writeAll(bitmap, have.subarray(index, index + 1), index)
      return true
    },

    async read(index) {
      if (have[index] !== 1 || closed) return null
      return readAt(data, index * LIMITS.chunkBytes.value, chunkLength(sizeBytes, index))
    },

    async finish() {
      const whole = createHash('sha256')
      for (const index of chunkSha256s.keys()) {
        whole.update(await readAt(data, index * LIMITS.chunkBytes.value, chunkLength(sizeBytes, index)))
      }
      const fits = whole.digest('hex') === description.sha256
      if (fits) await data.sync()
      await close()
      if (fits) await store.adopt(dataPath, description.sha256)
      else await rm(dataPath, { force: true })
      await rm(bitmapPath, { force: true })
      if (!fits)
        throw new TransportError(
          'bad_hash',
          `all chunks match their hashes, but the whole file does not have the hash ${description.sha256}`,
        )
    },

    close,
  }
}

/** Packs one bit for each chunk, the first one the highest of its byte. */
export function bitsOf(chunks: number, isSet: (index: number) => boolean): Uint8Array {
  const bits = new Uint8Array(Math.ceil(chunks / 8))
  for (let index = 0; index < chunks; index += 1) if (isSet(index)) bits[index >> 3]! |= 0x80 >> (index & 7)
  return bits
}

/** Reads the bit of a chunk. */
export const bitAt = (bits: Uint8Array, index: number): boolean =>
  ((bits[index >> 3] ?? 0) & (0x80 >> (index & 7))) !== 0

async function readOptional(path: string): Promise<Uint8Array | null> {
  try {
    return await readFile(path)
  } catch (why) {
    if (why instanceof Error && 'code' in why && why.code === 'ENOENT') return null
    throw why
  }
}

/** Opens a file for reading and writing, and keeps its content. */
async function openBoth(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r+')
  } catch (why) {
    if (why instanceof Error && 'code' in why && why.code === 'ENOENT') return open(path, 'w+')
    throw why
  }
}
