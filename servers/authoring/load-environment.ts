import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Environment } from '../kernel/index.js'
import { EnvironmentFolderError } from './errors.js'
import { ENVIRONMENT_KIT } from './kit.js'
import { INDEX, readEnvironmentSource } from './source.js'

/**
 * Loads a world that lies outside this package: `index.js`, whose default export makes it of the kit. This runs its code, which may do
 * whatever the program may; so only folders are loaded that the user of the program has named.
 * @param folder  an absolute path
 * @throws EnvironmentFolderError `no_environment`, `bad_environment`, `foreign_import`
 */
export async function loadEnvironmentFolder(folder: string): Promise<Environment> {
  const { sha256 } = await readEnvironmentSource(folder)
  const index = join(folder, INDEX)
  const defect = (problem: string, cause?: unknown) =>
    new EnvironmentFolderError('bad_environment', `${index}: ${problem}`, { cause })
  const made = await import(pathToFileURL(index).href)
    .then(({ default: make }: { default?: unknown }) => {
      if (typeof make !== 'function')
        throw defect('its default export is no function: export default (kit) => kit.defineServer({ … })')
      return make(ENVIRONMENT_KIT) as unknown
    })
    .catch((cause: unknown) => {
      throw cause instanceof EnvironmentFolderError ? cause : defect(problemOf(cause, folder), cause)
    })
  if (!isEnvironment(made)) throw defect('its function returns no world: end it with return kit.defineServer({ … })')
  return { ...made, codeSha256: sha256 }
}

const isEnvironment = (value: unknown): value is Environment =>
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
