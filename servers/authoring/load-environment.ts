import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Environment } from '../kernel/index.js'
import { EnvironmentFolderError } from './errors.js'
import { ENVIRONMENT_KIT } from './kit.js'
import { INDEX, readEnvironmentSource } from './source.js'

/**
 * Loads an environment from outside this package: the default export of `index.js` makes it with the kit. This runs the code of the
 * environment with all rights of the program. So callers load only folders that the user of the program has named.
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
        throw defect('its default export is not a function; write export default (kit) => kit.defineEnvironment({ … })')
      return make(ENVIRONMENT_KIT) as unknown
    })
    .catch((cause: unknown) => {
      throw cause instanceof EnvironmentFolderError ? cause : defect(problemOf(cause, folder), cause)
    })
  if (!isEnvironment(made))
    throw defect('its function does not return an environment; end it with return kit.defineEnvironment({ … })')
  return { ...made, codeSha256: sha256 }
}

const isEnvironment = (value: unknown): value is Environment =>
  typeof value === 'object' && value !== null && 'toolsByName' in value

/** Returns the message of a thrown value, with the place in the folder if the stack has one. */
export function problemOf(thrown: unknown, folder: string): string {
  if (!(thrown instanceof Error)) return String(thrown)
  const { message, stack = '' } = thrown
  const home = pathToFileURL(folder).href
  const place = stack.split('\n').find((line) => line.includes(`${home}/`))
  const at = place?.slice(place.indexOf(`${home}/`) + home.length + 1).replace(/\)$/, '')
  return at === undefined ? message : `${message} (${at})`
}
