import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'

/** Rooms whose code decides which examples a plan gives. */
const ROOMS = ['rollout/episode', 'rollout/reward', 'servers', 'tasks']

/** SHA-256 of that code, so that what one version of it has begun is not finished by another. */
export async function programHash(): Promise<string> {
  const root = join(import.meta.dirname, '..', '..', '..')
  const extension = extname(import.meta.filename)
  const hash = createHash('sha256')
  for (const room of ROOMS) {
    const names = await readdir(join(root, room), { recursive: true })
    for (const name of names.filter((one) => extname(one) === extension).sort())
      hash.update(JSON.stringify([room, name])).update(await readFile(join(root, room, name)))
  }
  return hash.digest('hex')
}
