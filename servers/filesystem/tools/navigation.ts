import { z } from 'zod'
import { descending, PAGE } from '../../kernel/lists.js'
import { directoryAt } from '../changes.js'
import { joinWithin } from '../contents.js'
import { below, byPath, currentUser, depthOf, permits, workingDirectory } from '../paths.js'
import { EXECUTE, isFile, listingObstacle } from '../rules.js'
import { chooseDirectory } from '../sampling.js'
import { directoryKey, directoryPath, fileKey, type Node, tool } from '../schema.js'

const changeDirectory = tool({
  name: 'change_directory',
  description:
    'Make a directory the working directory, from which relative paths and searches start. Paths may use `.`, `..` and `~`.',
  input: z.strictObject({ directory: directoryKey() }),
  output: z.object({ name: z.string(), directory: directoryKey(), entries: z.int() }),
  annotations: { readOnly: false },
  establishes: ['working_directory_chosen'],
  sample(context) {
    const { db, bound } = context
    const user = currentUser(db)
    const here = workingDirectory(db)
    const chosen = chooseDirectory(
      context,
      bound.directory,
      (node) => permits(user, node, EXECUTE) && (bound.directory !== undefined || node.path !== here),
    )
    return chosen ? { directory: chosen.path } : null
  },
  run({ directory }, context) {
    const node = directoryAt(context, directory)
    const user = currentUser(context.db)
    if (!permits(user, node, EXECUTE))
      context.fail('permission_denied', `${node.path} may not be entered by ${user.user}.`)
    context.db.session.update('current', { directory: node.path })
    return { name: node.name, directory: node.path, entries: context.db.nodes.by('parent', node.path).length }
  },
})

const showSession = tool({
  name: 'show_session',
  description:
    'Show the working directory, the current user with its groups, and what is used and free of the quota. The trash counts as used.',
  input: z.strictObject({}),
  output: z.object({
    name: z.string(),
    // Not a reference: nobody looks here for a directory.
    directory: directoryPath(),
    user: z.string(),
    groups: z.string(),
    used_bytes: z.int(),
    free_bytes: z.int(),
    free_entries: z.int().describe('Files and directories that may still be made.'),
  }),
  annotations: { readOnly: true },
  needs: ['working_directory_chosen', 'trash_emptied'],
  sample: () => ({}),
  run(_, { db }) {
    const { user, groups, quota_bytes, used_bytes, quota_entries, used_entries } = currentUser(db)
    const directory = workingDirectory(db)
    return {
      name: db.nodes.get(directory)!.name,
      directory,
      user,
      groups: groups.join(', '),
      used_bytes,
      free_bytes: quota_bytes - used_bytes,
      free_entries: quota_entries - used_entries,
    }
  },
})

const ORDERS = ['name', 'date', 'size'] as const

const byAge = descending('modified')

const arrange: Record<(typeof ORDERS)[number], (a: Node, b: Node) => number> = {
  name: byPath,
  date: (a, b) => byAge(a, b) || byPath(a, b),
  size: (a, b) => b.bytes - a.bytes || byPath(a, b),
}

const listDirectory = tool({
  name: 'list_directory',
  description: `List the directories and files in a directory, and how many links there are. Needs read and execute permission.`,
  input: z.strictObject({
    directory: directoryKey(),
    order: z
      .enum(ORDERS)
      .describe('By name, or by date with the newest first, or by size with the largest first; by name if not given.')
      .optional(),
  }),
  output: z.object({
    found: z.int(),
    directories: z.array(z.object({ name: z.string(), directory: directoryKey() })),
    files: z.array(z.object({ name: z.string(), file: fileKey(), bytes: z.int() })),
    links: z.int(),
  }),
  pages: { directories: 'short', files: 'short' },
  annotations: { readOnly: true },
  sample(context) {
    const { db, random, bound } = context
    const user = currentUser(db)
    const chosen = chooseDirectory(
      context,
      bound.directory,
      (node) => !listingObstacle(user, node) && db.nodes.by('parent', node.path).length > 0,
    )
    if (!chosen) return null
    const order = bound.order ?? (random.chance(0.3) ? random.pick(ORDERS) : undefined)
    const many = db.nodes.by('parent', chosen.node.path).filter(isFile).length > PAGE.short
    const page = many && random.chance(0.3) ? 2 : undefined
    return {
      directory: chosen.path,
      ...(order === undefined ? {} : { order }),
      ...(page === undefined ? {} : { page }),
    }
  },
  run({ directory, order }, context) {
    const { unless, db } = context
    const node = directoryAt(context, directory)
    unless(listingObstacle(currentUser(db), node))
    const entries = [...db.nodes.by('parent', node.path)].sort(arrange[order ?? 'name'])
    const shown = (fits: (entry: Node) => boolean): Node[] => entries.filter(fits)
    return {
      found: entries.length,
      directories: shown(({ kind }) => kind === 'directory').map(({ name, path }) => ({ name, directory: path })),
      files: shown(isFile).map(({ name, path, bytes }) => ({ name, file: path, bytes })),
      links: entries.filter(({ kind }) => kind === 'link').length,
    }
  },
})

/** Levels and characters that a tree shows. */
const TREE = { levels: 3, characters: 460 } as const

const showTree = tool({
  name: 'show_tree',
  description: `Show the directories beneath a directory as an indented tree, ${TREE.levels} levels deep, each with the number of files directly in it.`,
  input: z.strictObject({ directory: directoryKey() }),
  output: z.object({ name: z.string(), directories: z.int(), files: z.int(), tree: z.string() }),
  annotations: { readOnly: true },
  sample(context) {
    const { db, bound } = context
    const user = currentUser(db)
    const chosen = chooseDirectory(
      context,
      bound.directory,
      (node) =>
        !listingObstacle(user, node) && db.nodes.by('parent', node.path).some(({ kind }) => kind === 'directory'),
    )
    return chosen ? { directory: chosen.path } : null
  },
  run({ directory }, context) {
    const { unless, db } = context
    const root = directoryAt(context, directory)
    const user = currentUser(db)
    unless(listingObstacle(user, root))
    const all = below(db, user, root)
    const directories = all.filter(({ kind }) => kind === 'directory').sort(byPath)
    const counts = new Map<string, number>()
    for (const node of all) if (isFile(node)) counts.set(node.parent, (counts.get(node.parent) ?? 0) + 1)
    const base = depthOf(root.path)
    const lines = [root, ...directories]
      .filter(({ path }) => depthOf(path) - base <= TREE.levels)
      .map(
        ({ path, name }) =>
          `${'  '.repeat(depthOf(path) - base)}${path === '/' ? '' : name}/ (${counts.get(path) ?? 0})`,
      )
    return {
      name: root.name,
      directories: directories.length,
      files: all.filter(isFile).length,
      tree: joinWithin(lines, TREE.characters),
    }
  },
})

/** Size of a file that is worth a look when space gets short. Bytes. */
const LARGE = 100_000

const showDiskUsage = tool({
  name: 'show_disk_usage',
  description:
    'Add up the bytes of all files beneath a directory, and name the largest one. What may not be read is left out.',
  input: z.strictObject({ directory: directoryKey() }),
  output: z.object({
    bytes: z.int(),
    files: z.int(),
    directories: z.int(),
    largest: z.object({ name: z.string(), file: fileKey(), bytes: z.int() }).optional(),
  }),
  annotations: { readOnly: true },
  sample(context) {
    const user = currentUser(context.db)
    const { db, random, bound } = context
    const isListed = (node: Node): boolean => !listingObstacle(user, node)
    // Mostly where there is something that takes space.
    const isLarge = (node: Node): boolean => isListed(node) && below(db, user, node).some(({ bytes }) => bytes >= LARGE)
    const chosen =
      (random.chance(0.8) ? chooseDirectory(context, bound.directory, isLarge) : undefined) ??
      chooseDirectory(context, bound.directory, isListed)
    return chosen ? { directory: chosen.path } : null
  },
  run({ directory }, context) {
    const root = directoryAt(context, directory)
    const user = currentUser(context.db)
    context.unless(listingObstacle(user, root))
    const all = below(context.db, user, root)
    const files = all.filter(isFile)
    const largest = files.reduce<Node | undefined>(
      (top, file) => (top && arrange.size(top, file) <= 0 ? top : file),
      undefined,
    )
    return {
      bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
      files: files.length,
      directories: all.filter(({ kind }) => kind === 'directory').length,
      ...(largest && { largest: { name: largest.name, file: largest.path, bytes: largest.bytes } }),
    }
  },
})

export const navigationTools = [changeDirectory, showSession, listDirectory, showTree, showDiskUsage]
