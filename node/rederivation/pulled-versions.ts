import { join } from 'node:path'
import { PUBLISHED_FILES } from '../../proto/index.js'
import type { AdapterLibrary } from '../adapters/library.js'
import { NodeError } from '../report/errors.js'

/**
 * Returns a function that downloads a version with all its files, once.
 * @param folder  folder for the versions
 */
export function pulledVersions(library: Pick<AdapterLibrary, 'first' | 'pull'>, folder: string) {
  const known = new Map<number, string>()
  return async (version: number, signal: AbortSignal): Promise<string> => {
    const before = known.get(version)
    if (before !== undefined) return before
    const sealed = await library.first(version, signal)
    const place = join(folder, String(version))
    const { left } = await library.pull(sealed, place, 'all', signal)
    const needed = left.filter((name) => PUBLISHED_FILES.some((file) => file.name === name))
    if (needed.length > 0)
      throw new NodeError(
        'no_such_version',
        `no source has ${needed.join(', ')} of version ${version} any more: name a mirror of the run with --from`,
      )
    known.set(version, place)
    return place
  }
}
