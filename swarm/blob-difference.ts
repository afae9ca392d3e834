import { createHash, randomBytes } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type BrotliOptions, brotliCompress, brotliDecompress, constants } from 'node:zlib'
import {
  type AdapterDifference,
  applyMoves,
  type BlobDescription,
  DIFFERENCE_BLOCK_BYTES,
  movesOf,
  refusal,
  type Sha256,
  type SwarmRefusal,
} from '../proto/index.js'
import { type BlobStore, readAt, writeAll } from './blob-store.js'

/** Node.js 20 has no zstd. Brotli's level 4 gives smaller files than 5 here, in a third of its time. */
const PARAMS = { [constants.BROTLI_PARAM_QUALITY]: 4 }
/** A larger difference is not published: nodes that pass on the whole adapter anyway would store both. */
const MOST_OF_WHOLE = 0.75
/** Length of a compressed block, as 4 big-endian bytes before it. */
const LENGTH_BYTES = 4
/** Brotli makes no block longer than this. */
const MOST_COMPRESSED = DIFFERENCE_BLOCK_BYTES + 1024

/** Looked up at each call, because simulations count what is under way. */
const compress = (content: Uint8Array, options: BrotliOptions) => promisify(brotliCompress)(content, options)
const decompress = (content: Uint8Array, options: BrotliOptions) => promisify(brotliDecompress)(content, options)

type Store = Pick<BlobStore, 'adopt' | 'describe' | 'directory' | 'has' | 'path' | 'putFile'>

/** Stores the difference between two stored adapters. @returns  null if their sizes differ, or it would save little */
export async function storeDifference(
  store: Store,
  from: Sha256,
  to: Pick<BlobDescription, 'sha256' | 'sizeBytes'>,
  signal: AbortSignal,
): Promise<AdapterDifference | null> {
  if (from === to.sha256 || !(await store.has(from))) return null
  const temporary = temporaryIn(store)
  try {
    const isSmall = await withFiles(store.path(from), store.path(to.sha256), async (earlier, later) => {
      if ((await earlier.stat()).size !== to.sizeBytes) return false
      const file = await open(temporary, 'wx', 0o600)
      try {
        return (await writeDifference(file, earlier, later, to.sizeBytes, signal)) <= MOST_OF_WHOLE * to.sizeBytes
      } finally {
        await file.close()
      }
    })
    return isSmall ? { from, blob: await store.describe(await store.putFile(temporary), 'adapter-difference') } : null
  } finally {
    await rm(temporary, { force: true })
  }
}

/** @returns the length of the difference */
async function writeDifference(
  file: FileHandle,
  earlier: FileHandle,
  later: FileHandle,
  sizeBytes: number,
  signal: AbortSignal,
): Promise<number> {
  let written = 0
  for (const { at, length } of blocksOf(sizeBytes)) {
    signal.throwIfAborted()
    const moves = movesOf(await readAt(earlier, at, length), await readAt(later, at, length))
    const block = await compress(moves, { params: PARAMS })
    const head = new Uint8Array(LENGTH_BYTES)
    new DataView(head.buffer).setUint32(0, block.length)
    written = await writeAll(file, block, await writeAll(file, head, written))
  }
  return written
}

/**
 * Makes an adapter from the one before it and their difference, both in the store, and stores it.
 * @throws SwarmRefusal `malformed` if the difference is damaged, or the result has another hash; file system errors
 */
export async function applyDifference(
  store: Store,
  { from, blob }: AdapterDifference,
  adapter: Pick<BlobDescription, 'sha256' | 'sizeBytes'>,
  signal: AbortSignal,
): Promise<void> {
  const temporary = temporaryIn(store)
  const damaged = (why: string): SwarmRefusal => refusal('malformed', `the difference ${blob.sha256}: ${why}`)
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await withFiles(store.path(from), store.path(blob.sha256), async (earlier, difference) => {
        if ((await earlier.stat()).size !== adapter.sizeBytes) throw damaged(`${from} has another size`)
        const hash = createHash('sha256')
        let position = 0
        for (const { at, length } of blocksOf(adapter.sizeBytes)) {
          signal.throwIfAborted()
          if (position + LENGTH_BYTES > blob.sizeBytes) throw damaged('it is too short')
          const head = await readAt(difference, position, LENGTH_BYTES)
          const size = new DataView(head.buffer).getUint32(0)
          position += LENGTH_BYTES + size
          if (size > MOST_COMPRESSED || position > blob.sizeBytes) throw damaged(`a block of ${size} B`)
          // A few bytes may expand to gigabytes, so the output is bounded.
          const moves = await decompress(await readAt(difference, position - size, size), {
            maxOutputLength: length,
          }).catch((why: Error) => {
            throw damaged(why.message)
          })
          if (moves.length !== length) throw damaged(`${moves.length} B for a block of ${length} B`)
          const later = applyMoves(await readAt(earlier, at, length), moves)
          hash.update(later)
          await writeAll(file, later, at)
        }
        if (position !== blob.sizeBytes) throw damaged('it is too long')
        if (hash.digest('hex') !== adapter.sha256) throw damaged(`it does not give ${adapter.sha256}`)
      })
      await file.sync()
    } finally {
      await file.close()
    }
    await store.adopt(temporary, adapter.sha256)
  } finally {
    await rm(temporary, { force: true })
  }
}

function* blocksOf(sizeBytes: number): Generator<{ readonly at: number; readonly length: number }> {
  for (let at = 0; at < sizeBytes; at += DIFFERENCE_BLOCK_BYTES)
    yield { at, length: Math.min(DIFFERENCE_BLOCK_BYTES, sizeBytes - at) }
}

async function withFiles<T>(
  first: string,
  second: string,
  work: (first: FileHandle, second: FileHandle) => Promise<T>,
): Promise<T> {
  const one = await open(first, 'r')
  try {
    const other = await open(second, 'r')
    try {
      return await work(one, other)
    } finally {
      await other.close()
    }
  } finally {
    await one.close()
  }
}

/** `createBlobStore` removes files with this name at the next start. */
const temporaryIn = ({ directory }: Store): string => join(directory, `.put-${randomBytes(12).toString('hex')}`)
