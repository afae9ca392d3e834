import { readFile, stat } from 'node:fs/promises'
import { NodeError } from '../report/errors.js'

/** @throws NodeError `bad_folder` for a file that is not there or too large */
export async function readBounded(path: string, most: number): Promise<Uint8Array> {
  const found = await stat(path).catch(unlessMissing)
  if (found === null)
    throw new NodeError('bad_folder', `${path} is not there: name a folder that "adapters pull" has made`)
  if (!found.isFile() || found.size > most) throw new NodeError('bad_folder', `${path} is no file of at most ${most} B`)
  return readFile(path)
}

/** For what the file system says of a path. @returns  null where nothing is there. @throws what else it says */
export const unlessMissing = (error: NodeJS.ErrnoException): null => {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
  throw error
}
