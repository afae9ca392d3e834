import { readFile, stat } from 'node:fs/promises'
import { NodeError } from '../report/errors.js'

/** Reads a file of at most `most` bytes. @throws NodeError `bad_folder` for a missing or larger file */
export async function readBounded(path: string, most: number): Promise<Uint8Array> {
  const found = await stat(path).catch(unlessMissing)
  if (found === null) throw new NodeError('bad_folder', `${path} does not exist: give a folder from "adapters pull"`)
  if (!found.isFile() || found.size > most)
    throw new NodeError('bad_folder', `${path} is not a file of at most ${most} B`)
  return readFile(path)
}

/** Handles an error of the file system. @returns null for a missing file. @throws any other error */
export const unlessMissing = (error: NodeJS.ErrnoException): null => {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
  throw error
}
