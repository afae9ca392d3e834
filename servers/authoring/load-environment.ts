import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ServerDefinition } from '../kernel/index.js'
import { WorldFolderError } from './errors.js'
import { WORLD_KIT } from './kit.js'
import { INDEX, readWorldSource } from './source.js'

/**
 * Loads a world that lies outside this package: `index.js`, whose default export makes it of the kit. This runs its code, which may do
 * whatever the program may; so only folders are loaded that the user of the program has named.
 * @param folder  an absolute path
 * @throws WorldFolderError `no_world`, `bad_world`, `foreign_import`
 */
export async function loadWorldFolder(folder: string): Promise<ServerDefinition> {
  const { sha256 } = await readWorldSource(folder)
  const index = join(folder, INDEX)
  const defect = (problem: string, cause?: unknown) =>
    new WorldFolderError('bad_world', `${index}: ${problem}`, { cause })
  const made = await import(pathToFileURL(index).href)
    .then(({ default: make }: { default?: unknown }) => {
      if (typeof make !== 'function')
        throw defect('its default export is no function: export default (kit) => kit.defineServer({ … })')
      return make(WORLD_KIT) as unknown
    })
    .catch((cause: unknown) => {
      throw cause instanceof WorldFolderError ? cause : defect(problemOf(cause, folder), cause)
    })
  if (!isServer(made)) throw defect('its function returns no world: end it with return kit.defineServer({ … })')
  return { ...made, codeSha256: sha256 }
}

const isServer = (value: unknown): value is ServerDefinition =>
  typeof value === 'object' && value !== null && 'toolsByName' in value

/** What was thrown, and where in the folder, as far as the stack knows. */
export function problemOf(thrown: unknown, folder: string): string {
  if (!(thrown instanceof Error)) return String(thrown)
  const { message, stack = '' } = thrown
  const home = pathToFileURL(folder).href
  const place = stack.split('\n').find((line) => line.includes(`${home}/`))
  const at = place?.slice(place.indexOf(`${home}/`) + home.length + 1).replace(/\)$/, '')
  return at === undefined ? message : `${message} (${at})`
}
