import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'

/** Folders whose code determines the examples of a plan. */
const FOLDERS = ['rollout/episode', 'rollout/reward', 'servers', 'tasks']

/** Returns the SHA-256 of that code, so that another version of the program does not resume a synthesis. */
export async function programHash(): Promise<string> {
  const root = join(import.meta.dirname, '..', '..', '..')
  const extension = extname(import.meta.filename)
  const hash = createHash('sha256')
  for (const folder of FOLDERS) {
    const names = await readdir(join(root, folder), { recursive: true })
    for (const name of names.filter((one) => extname(one) === extension).sort())
      hash.update(JSON.stringify([folder, name])).update(await readFile(join(root, folder, name)))
  }
  return hash.digest('hex')
}
