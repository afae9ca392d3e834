import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SNAKE_CASE } from '../kernel/define-environment.js'
import { EnvironmentFolderError } from './errors.js'

/** Folder of the template, next to the sources: the template is not compiled. */
const TEMPLATE = fileURLToPath(
  new URL(
    import.meta.url.includes('/dist/servers/') ? '../../../servers/authoring/template/' : './template/',
    import.meta.url,
  ),
)
/** Name and title of the template's environment. */
const [NAME, TITLE] = ['library', 'Library']

/**
 * Writes a small environment to begin with. Existing files are not overwritten.
 * @param name  name of the environment and of its folder
 * @param taken  names of other environments
 * @returns the paths of the files
 * @throws EnvironmentFolderError `bad_environment` for an invalid name, `name_taken` for an existing folder or the name of another environment
 */
export async function writeTemplate(name: string, parent: string, taken: Iterable<string> = []): Promise<string[]> {
  checkName(name)
  if (new Set(taken).has(name))
    throw new EnvironmentFolderError('name_taken', `an environment ${name} already exists: choose another name`)
  const title = `${name[0]!.toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`
  const files = new Map<string, string>()
  for (const file of (await readdir(TEMPLATE)).sort()) {
    const text = await readFile(join(TEMPLATE, file), 'utf8')
    files.set(file, text.replaceAll(NAME, name).replaceAll(TITLE, title))
  }
  return writeEnvironmentFolder(name, parent, files)
}

/**
 * Writes the folder of an environment. The folder must not exist.
 * @param name  name of the environment and of its folder
 * @returns the paths of the files
 * @throws EnvironmentFolderError as `writeTemplate`
 */
export async function writeEnvironmentFolder(
  name: string,
  parent: string,
  files: ReadonlyMap<string, string>,
): Promise<string[]> {
  checkName(name)
  const folder = join(parent, name)
  try {
    await mkdir(parent, { recursive: true })
    await mkdir(folder)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
    throw new EnvironmentFolderError(
      'name_taken',
      `${folder} exists already and was not changed; choose another name, or remove the folder`,
      { cause },
    )
  }
  const written: string[] = []
  for (const [file, text] of files) {
    await writeFile(join(folder, file), text, { flag: 'wx' })
    written.push(join(folder, file))
  }
  return written
}

function checkName(name: string): void {
  if (!SNAKE_CASE.test(name))
    throw new EnvironmentFolderError(
      'bad_environment',
      `"${name}" is not a valid name of an environment; write lower case letters and digits, joined by _, such as tool_shed`,
    )
}
