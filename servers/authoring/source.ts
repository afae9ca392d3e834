import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import canonicalize from 'canonicalize'
import { init, parse } from 'es-module-lexer'
import { EnvironmentFolderError } from './errors.js'

/** The file of an environment's folder that makes the environment. */
export const INDEX = 'index.js'
/** Limits of one environment. The largest one of this package has 35 files with 130 kB. */
const MOST_FILES = 256
const MOST_BYTES = 4 << 20

/** The code of an environment: the files that its index imports, directly or not. Other files of the folder are not part of it. */
export interface EnvironmentSource {
  /** Relative to the folder, with `/` between the parts, in alphabetical order. */
  readonly files: readonly string[]
  /** SHA-256 (hex) over the names and bytes of these files. */
  readonly sha256: string
}

/**
 * Reads the files of an environment and checks that they import nothing else.
 * @throws EnvironmentFolderError `no_environment` without an index, `bad_environment` for a file that is not a module or too large,
 *   `foreign_import` for an import from outside the folder
 */
export async function readEnvironmentSource(folder: string): Promise<EnvironmentSource> {
  await init
  const hashes = new Map<string, string>()
  const open = [INDEX]
  let bytes = 0
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (hashes.has(file)) continue
    const content = await contentOf(folder, file)
    bytes += content.length
    if (hashes.size === MOST_FILES || bytes > MOST_BYTES)
      throw new EnvironmentFolderError(
        'bad_environment',
        `${folder}: the environment is too large; it may have at most ${MOST_FILES} files and ${MOST_BYTES} bytes`,
      )
    hashes.set(file, createHash('sha256').update(content).digest('hex'))
    if (!file.endsWith('.json')) open.push(...importsOf(folder, file, content.toString('utf8')))
  }
  const files = [...hashes.keys()].sort()
  const named = files.map((file) => [file, hashes.get(file)!])
  return { files, sha256: createHash('sha256').update(canonicalize(named)!).digest('hex') }
}

async function contentOf(folder: string, file: string): Promise<Buffer> {
  try {
    return await readFile(join(folder, file))
  } catch (cause) {
    if (file === INDEX)
      throw new EnvironmentFolderError(
        'no_environment',
        `${folder} has no readable ${INDEX}, so it is not an environment; "prove-server new <name>" writes one to begin with`,
        { cause },
      )
    throw new EnvironmentFolderError(
      'bad_environment',
      `${join(folder, file)} is imported, but cannot be read; add the file or remove the import`,
      {
        cause,
      },
    )
  }
}

/** Returns the files that a module imports. */
function importsOf(folder: string, file: string, code: string): string[] {
  const where = join(folder, file)
  const foreign = (what: string): never => {
    throw new EnvironmentFolderError(
      'foreign_import',
      `${where} imports ${what}; an environment imports only files from inside the folder, and gets everything else from the kit`,
    )
  }
  return modulesOf(where, code).flatMap((module) => {
    if (module.type === 'import-meta') return []
    if (module.type !== 'static' && module.type !== 'reexport-star') return foreign('a module at run time')
    const { specifier } = module
    if (!/^\.\.?\//.test(specifier)) return foreign(`"${specifier}"`)
    const path = relative(folder, join(folder, dirname(file), specifier))
    if (path.startsWith('..') || isAbsolute(path)) return foreign(`"${specifier}"`)
    return [path.replaceAll(sep, '/')]
  })
}

function modulesOf(where: string, code: string) {
  const noModule = (why: string, cause?: unknown) =>
    new EnvironmentFolderError('bad_environment', `${where} is not a JavaScript module: ${why}`, { cause })
  let parsed: ReturnType<typeof parse>
  try {
    parsed = parse(code)
  } catch (cause) {
    throw noModule((cause as Error).message, cause)
  }
  const [imports, , , hasModuleSyntax] = parsed
  // Node.js would load a file without module syntax as CommonJS, whose `require` can load anything.
  if (!hasModuleSyntax || !/\.m?js$/.test(where)) throw noModule('write a .js file with import or export')
  return imports
}
