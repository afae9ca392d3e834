import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../../common/control/index.js'

export interface FileDigest {
  readonly size: number
  /** Hex. */
  readonly sha256: string
}

const PIECE_BYTES = 1024 * 1024

/** Computes size and hash of a file, which is read in pieces. */
export async function digestFile(path: string, signal: AbortSignal): Promise<FileDigest> {
  const hash = createHash('sha256')
  let size = 0
  // A stream that is created with an aborted signal would throw an unhandled error.
  signal.throwIfAborted()
  for await (const piece of createReadStream(path, { highWaterMark: PIECE_BYTES, signal })) {
    hash.update(piece)
    size += piece.length
  }
  return { size, sha256: hash.digest('hex') }
}

/** A new private file that is written piece by piece. */
export interface NewFile {
  write(bytes: Uint8Array | string): Promise<void>
  /** Resolves when the file is on disk. */
  finish(): Promise<FileDigest>
  /** Closes an unfinished file; does nothing otherwise. */
  close(): Promise<void>
}

/** Creates a file. @throws the system's error, EEXIST when the file exists already */
export async function createFile(path: string): Promise<NewFile> {
  await mkdir(dirname(path), { recursive: true, mode: PRIVATE_FOLDER })
  let file: FileHandle | null = await open(path, 'wx', PRIVATE_FILE)
  const hash: Hash = createHash('sha256')
  let size = 0
  const close = async (): Promise<void> => {
    await file?.close()
    file = null
  }
  return {
    close,
    async write(content) {
      const bytes = typeof content === 'string' ? Buffer.from(content) : content
      hash.update(bytes)
      size += bytes.length
      await file!.appendFile(bytes)
    },
    async finish() {
      await file!.sync()
      await close()
      return { size, sha256: hash.digest('hex') }
    },
  }
}

/** Copies a file to a private, synced file. @returns  size and hash of the copy */
export async function copyFile(source: string, target: string, signal: AbortSignal): Promise<FileDigest> {
  const from = await open(source, 'r')
  try {
    const copy = await createFile(target)
    try {
      signal.throwIfAborted()
      for await (const piece of from.createReadStream({ highWaterMark: PIECE_BYTES, signal, autoClose: false }))
        await copy.write(piece)
      return await copy.finish()
    } finally {
      await copy.close()
    }
  } finally {
    await from.close()
  }
}

/** Makes the names in a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  // Windows cannot open a folder; NTFS journals names.
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
