import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SNAKE_CASE } from '../kernel/define-environment.js'
import { EnvironmentFolderError } from './errors.js'

/** The files lie beside the sources, and are no part of what is compiled. */
const TEMPLATE = fileURLToPath(
  new URL(
    import.meta.url.includes('/dist/servers/') ? '../../../servers/authoring/template/' : './template/',
    import.meta.url,
  ),
)
/** What the template's world is called, and the title of it. */
const [NAME, TITLE] = ['library', 'Library']

/**
 * Writes a world to begin with. Nothing that is there is written over.
 * @param name  of the world and of its folder
 * @returns the files
 * @throws EnvironmentFolderError `bad_environment` for a name that no world can have, `name_taken` for a folder that is there
 */
export async function writeTemplate(name: string, parent: string): Promise<string[]> {
  checkName(name)
  const title = `${name[0]!.toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`
  const files = new Map<string, string>()
  for (const file of (await readdir(TEMPLATE)).sort()) {
    const text = await readFile(join(TEMPLATE, file), 'utf8')
    files.set(file, text.replaceAll(NAME, name).replaceAll(TITLE, title))
  }
  return writeEnvironmentFolder(name, parent, files)
}

/**
 * Writes a world's folder, which must be new.
 * @param name  of the world and of its folder
 * @returns the files
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
      `${folder} is there already, and stays as it is. Choose another name, or remove it.`,
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
      `"${name}" cannot be the name of a world: lower case letters and digits, words joined by _, such as tool_shed`,
    )
}
