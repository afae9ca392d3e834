import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import canonicalize from 'canonicalize'
import { init, parse } from 'es-module-lexer'
import { EnvironmentFolderError } from './errors.js'

/** The file of a world's folder that makes it. */
export const INDEX = 'index.js'
/** Files and bytes that one world may have: the largest of ours has 35 files with 130 kB. */
const MOST_FILES = 256
const MOST_BYTES = 4 << 20

/** What a world consists of: the files that its index reaches by imports, and nothing else that lies in the folder. */
export interface EnvironmentSource {
  /** Relative to the folder, with `/` between the parts, in alphabetical order. */
  readonly files: readonly string[]
  /** SHA-256 (hex) over the names and bytes of these files: two programs with the same play in the same world. */
  readonly sha256: string
}

/**
 * Reads the files of a world, and makes sure that they are all of it.
 * @throws EnvironmentFolderError `no_environment`; `bad_environment` for what is no module, or too much; `foreign_import` for an import of anything but
 *   a file of the folder
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
        `${folder}: a world has at most ${MOST_FILES} files and ${MOST_BYTES} bytes`,
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
        `${folder} has no ${INDEX} that could be read, and so is no world. "prove-server new <name>" writes one to begin with.`,
        { cause },
      )
    throw new EnvironmentFolderError('bad_environment', `${join(folder, file)} is imported and cannot be read`, {
      cause,
    })
  }
}

/** The files that a module imports. */
function importsOf(folder: string, file: string, code: string): string[] {
  const where = join(folder, file)
  const foreign = (what: string): never => {
    throw new EnvironmentFolderError(
      'foreign_import',
      `${where} imports ${what}. A world imports only files of its own folder; what it needs else is in the kit that its function is given.`,
    )
  }
  return modulesOf(where, code).flatMap((module) => {
    if (module.type === 'import-meta') return []
    if (module.type !== 'static' && module.type !== 'reexport-star') return foreign('something while it runs')
    const { specifier } = module
    if (!/^\.\.?\//.test(specifier)) return foreign(`"${specifier}"`)
    const path = relative(folder, join(folder, dirname(file), specifier))
    if (path.startsWith('..') || isAbsolute(path)) return foreign(`"${specifier}"`)
    return [path.replaceAll(sep, '/')]
  })
}

function modulesOf(where: string, code: string) {
  const noModule = (why: string, cause?: unknown) =>
    new EnvironmentFolderError('bad_environment', `${where} is no JavaScript module: ${why}`, { cause })
  let parsed: ReturnType<typeof parse>
  try {
    parsed = parse(code)
  } catch (cause) {
    throw noModule((cause as Error).message, cause)
  }
  const [imports, , , hasModuleSyntax] = parsed
  // Without any, Node.js would take it for CommonJS, whose `require` gets at everything.
  if (!hasModuleSyntax || !/\.m?js$/.test(where)) throw noModule('it is a .js file with import or export')
  return imports
}
