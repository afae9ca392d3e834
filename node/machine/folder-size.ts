import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Returns the bytes in all files of a folder. Files that disappear during the count do not count. */
export async function folderSize(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true }).catch(ifGone<string[]>([]))
  let bytes = 0
  for (const name of entries) {
    const found = await lstat(join(folder, name)).catch(ifGone(null))
    if (found?.isFile()) bytes += found.size
  }
  return bytes
}

const ifGone =
  <T>(otherwise: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code === 'ENOENT') return otherwise
    throw error
  }
