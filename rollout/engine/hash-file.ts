import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'

/** Returns the SHA-256 (hex) of a file of any size. @throws the file system's error; the signal's reason */
export async function hashFile(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash, { ...(signal ? { signal } : {}) })
  return hash.digest('hex')
}
