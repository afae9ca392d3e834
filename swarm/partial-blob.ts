import { createHash } from 'node:crypto'
import { type FileHandle, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type BlobDescription, chunkLength, LIMITS, type Sha256, sha256 } from '../proto/index.js'
import { type BlobStore, readAt, writeAll } from './blob-store.js'
import { TransportError } from './errors.js'

/** A download that survives its process: the chunks so far in one file, and which they are in another. */
export interface PartialBlob {
  readonly description: BlobDescription
  /** Indices that are not there yet, ascending. */
  missing(): readonly number[]
  has(index: number): boolean
  /** A bit for each chunk that is there, or will soon be: `expected` are under way. */
  held(): Uint8Array
  readonly expected: Set<number>
  /** Takes a chunk if it has the right hash. @returns  whether it had */
  write(index: number, chunk: Uint8Array): Promise<boolean>
  /** A chunk that was verified, or null. */
  read(index: number): Promise<Uint8Array | null>
  /**
   * Checks the whole file, syncs it and puts it into the store.
   * @throws TransportError `bad_hash` when the chunks fit but the whole does not: the manifest contradicts itself
   */
  finish(): Promise<void>
  /** Releases the file; what is there stays for the next attempt. Idempotent. */
  close(): Promise<void>
}

/** Where a store keeps an unfinished download: what is there, and which chunks these are. */
export const partialFiles = (directory: string, hash: Sha256): readonly [data: string, bitmap: string] => [
  join(directory, `.part-${hash}`),
  join(directory, `.have-${hash}`),
]

/**
 * Opens or resumes a download. The bitmap is only a hint, written without syncing: each chunk that it claims is hashed
 * again, so that a crash at any instant, or a damaged disk, costs at most those chunks.
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
      if (!fits) throw new TransportError('bad_hash', `all chunks fit, but the whole is not ${description.sha256}`)
    },

    close,
  }
}

/** One bit for each of a blob's chunks, the first one the highest of its byte. */
export function bitsOf(chunks: number, isSet: (index: number) => boolean): Uint8Array {
  const bits = new Uint8Array(Math.ceil(chunks / 8))
  for (let index = 0; index < chunks; index += 1) if (isSet(index)) bits[index >> 3]! |= 0x80 >> (index & 7)
  return bits
}

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

/** Opens for reading and writing, keeping what is there. */
async function openBoth(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r+')
  } catch (why) {
    if (why instanceof Error && 'code' in why && why.code === 'ENOENT') return open(path, 'w+')
    throw why
  }
}
