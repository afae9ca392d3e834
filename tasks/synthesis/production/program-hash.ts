import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { packageFile } from '../../../servers/data-file.js'

/** Packages whose code and data files decide which examples a plan gives. */
const PACKAGES = ['rollout/episode', 'rollout/reward', 'servers', 'tasks']

/** Returns the SHA-256 (hex) of that code and data: one version of the program must not finish what another has begun. */
export async function programHash(): Promise<string> {
  const root = join(import.meta.dirname, '..', '..', '..')
  const hash = createHash('sha256')
  const add = async (folder: string, part: string, extension: string): Promise<void> => {
    const names = await readdir(join(folder, part), { recursive: true })
    for (const name of names.filter((one) => extname(one) === extension).sort())
      hash.update(JSON.stringify([part, name])).update(await readFile(join(folder, part, name)))
  }
  for (const part of PACKAGES) await add(root, part, extname(import.meta.filename))
  for (const part of ['servers', 'tasks']) await add(packageFile('.'), part, '.yaml')
  return hash.digest('hex')
}
