import { z } from 'zod'
import { common } from '../../kernel/fields.js'
import { ascending, descending } from '../../kernel/lists.js'
import { reachable } from '../lookup.js'
import { below, byPath, currentUser } from '../paths.js'
import { isFile, listingObstacle } from '../rules.js'
import { chooseDirectory } from '../sampling.js'
import { directoryKey, type FilesystemView, fileKey, type Node, tool } from '../schema.js'

/** Sizes as people name them. Kilobytes. */
const SIZES = [1, 2, 5, 100, 1000, 1500, 2000, 2500, 3000] as const
const KILOBYTE = 1000

/** The sizes that one to three files beneath the directory are above. */
function tellingSizes(db: FilesystemView, directory: Node): number[] {
  const sizes = below(db, currentUser(db), directory)
    .filter(isFile)
    .map(({ bytes }) => bytes)
  return SIZES.filter((size) => {
    const larger = sizes.filter((bytes) => bytes > size * KILOBYTE).length
    // Nobody looks for what every one of them is.
    return larger >= 1 && larger <= 3 && larger < sizes.length
  })
}

const findFilesBySize = tool({
  name: 'find_files_by_size',
  description:
    'Find the files beneath a directory that are larger than a number of kilobytes (1000 bytes each), the largest first.',
  input: z.strictObject({
    directory: directoryKey(),
    kilobytes: z.int().min(0).max(100_000).describe('Only files larger than this.'),
  }),
  output: z.object({
    found: z.int(),
    files: z.array(z.object({ name: z.string(), file: fileKey(), bytes: z.int() })),
  }),
  pages: { files: 'short' },
  annotations: { readOnly: true },
  sample(context) {
    const { db, random, bound } = context
    const user = currentUser(db)
    const chosen = chooseDirectory(
      context,
      bound.directory,
      (node) => !listingObstacle(user, node) && (bound.directory !== undefined || tellingSizes(db, node).length > 0),
    )
    if (!chosen) return null
    const sizes = tellingSizes(db, chosen.node)
    const kilobytes = bound.kilobytes ?? (sizes.length > 0 ? random.pick(sizes) : undefined)
    return kilobytes === undefined ? null : { directory: chosen.path, kilobytes }
  },
  run({ directory, kilobytes }, context) {
    const files = reachable(context, directory)
      .filter((node) => isFile(node) && node.bytes > kilobytes * KILOBYTE)
      .sort((a, b) => b.bytes - a.bytes || byPath(a, b))
    return {
      found: files.length,
      files: files.map((file) => ({ name: file.name, file: file.path, bytes: file.bytes })),
    }
  },
})

const findFilesByDate = tool({
  name: 'find_files_by_date',
  description:
    'Find the files beneath a directory that were last modified since a date (that day included, the newest first) or before it (the oldest first).',
  input: z.strictObject({
    directory: directoryKey(),
    when: z.enum(['since', 'before']).describe('since takes the date and later, before takes earlier days.'),
    date: common('date', z.iso.date().describe('YYYY-MM-DD')),
  }),
  output: z.object({
    found: z.int(),
    files: z.array(z.object({ name: z.string(), file: fileKey(), modified: z.string() })),
  }),
  pages: { files: 'short' },
  annotations: { readOnly: true },
  sample(context) {
    const { db, random, bound } = context
    const user = currentUser(db)
    const chosen = chooseDirectory(
      context,
      bound.directory,
      (node) =>
        !listingObstacle(user, node) &&
        (bound.directory !== undefined || db.nodes.by('parent', node.path).some(isFile)),
    )
    if (!chosen) return null
    const dates = below(db, user, chosen.node)
      .filter(isFile)
      .map(({ modified }) => modified.slice(0, 10))
      .sort()
    const when = bound.when ?? random.pick(['since', 'before'] as const)
    // A day near the end that is asked about: one to three files lie beyond it.
    const place = random.int(1, Math.min(3, Math.max(1, dates.length - 1)))
    const date = bound.date ?? dates.at(when === 'since' ? -place : place) ?? dates[0]
    return date === undefined || date > context.today() ? null : { directory: chosen.path, when, date }
  },
  run({ directory, when, date }, context) {
    const byAge = when === 'since' ? descending('modified') : ascending('modified')
    const files = reachable(context, directory)
      .filter((node) => isFile(node) && (when === 'since' ? node.modified >= date : node.modified < date))
      .sort((a, b) => byAge(a, b) || byPath(a, b))
    return {
      found: files.length,
      files: files.map(({ name, path, modified }) => ({ name, file: path, modified })),
    }
  },
})

export const sizeAndDateTools = [findFilesBySize, findFilesByDate]
