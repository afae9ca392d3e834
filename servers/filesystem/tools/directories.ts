import { z } from 'zod'
import { copyOf, directoryAt, directoryContent, erase, make, makeTree, relocate } from '../changes.js'
import { isMain, shelvesIn } from '../matter.js'
import { copyNamesOf, directoryNamesIn } from '../naming.js'
import { currentUser, isWithin, join, permits, subtree } from '../paths.js'
import {
  entryObstacle,
  listingObstacle,
  quotaObstacle,
  readObstacle,
  relocationObstacle,
  removalObstacle,
} from '../rules.js'
import { chooseDirectory, free, isInUse, isShort } from '../sampling.js'
import { type Context, directoryKey, type FilesystemView, type Node, nameField, tool } from '../schema.js'

const makeDirectory = tool({
  name: 'make_directory',
  description: 'Make a new, empty directory in an existing one. Needs write permission there.',
  input: z.strictObject({
    directory: directoryKey('Directory in which the new one is made'),
    name: nameField.describe('Name of the new directory.'),
  }),
  output: z.object({ name: z.string(), directory: directoryKey('The new directory'), mode: z.string() }),
  annotations: { readOnly: false },
  sample(context) {
    const { db, random, bound } = context
    const user = currentUser(db)
    if (quotaObstacle(db, user.user, 0, 1)) return null
    const refuses = (node: Node, name: string): boolean => entryObstacle(db, user, node, name) !== undefined
    const names = (node: Node): readonly string[] => (bound.name === undefined ? directoryNamesIn(node) : [bound.name])
    const place = chooseDirectory(
      context,
      bound.directory,
      (node) => isShort(node) && names(node).some((name) => !refuses(node, name)),
    )
    const name = place && free(random, bound.name, names(place.node), (candidate) => refuses(place.node, candidate))
    return place && name !== undefined ? { directory: place.path, name } : null
  },
  run({ directory, name }, context) {
    const made = make(context, directoryAt(context, directory), name, directoryContent())
    return { name, directory: made.path, mode: '755' }
  },
})

const removeDirectory = tool({
  name: 'remove_directory',
  description: 'Remove an empty directory for good. The working directory cannot be removed.',
  input: z.strictObject({ directory: directoryKey() }),
  output: z.object({ name: z.string(), removed: z.string().describe('Its former path.') }),
  annotations: { readOnly: false, destructive: true },
  sample(context) {
    const { db, bound } = context
    const user = currentUser(db)
    const chosen = chooseDirectory(
      context,
      bound.directory,
      (node) =>
        db.nodes.by('parent', node.path).length === 0 &&
        !removalObstacle(db, user, node) &&
        db.session.get('current')!.directory !== node.path,
      false,
    )
    return chosen ? { directory: chosen.path } : null
  },
  run({ directory }, context) {
    const { unless, db, fail } = context
    const node = directoryAt(context, directory, false)
    unless(removalObstacle(db, currentUser(db), node))
    if (db.nodes.by('parent', node.path).length > 0) fail('directory_not_empty', `${node.path} is not empty.`)
    refuseWorkingDirectory(context, node)
    erase(context, node)
    return { name: node.name, removed: node.path }
  },
})

function refuseWorkingDirectory({ db, fail }: Context, node: Node): void {
  if (db.session.get('current')!.directory === node.path)
    fail('directory_in_use', `${node.path} is the working directory.`)
}

function refuseItself({ fail }: Context, source: Node, place: Node): void {
  if (isWithin(place.path, source.path)) fail('into_itself', `${place.path} is ${source.path} or lies in it.`)
}

/** Whether nothing lies in the directory: somebody makes another rather than move or copy it. */
const isEmpty = (db: FilesystemView, { path }: Node): boolean => db.nodes.by('parent', path).length === 0

const moveDirectory = tool({
  name: 'move_directory',
  description:
    'Move a directory with everything in it into another directory. An empty directory of the same name there is replaced. Nothing in it may be locked.',
  input: z.strictObject({
    directory: directoryKey('Directory that is moved'),
    into_directory: directoryKey('Directory into which it is moved'),
  }),
  output: z.object({
    name: z.string(),
    directory: directoryKey('New path'),
    moved: z.int().describe('Entries in it, which moved with it.'),
  }),
  annotations: { readOnly: false },
  sample(context) {
    const { db, bound } = context
    const user = currentUser(db)
    const chosen = chooseDirectory(
      context,
      bound.directory,
      (node) =>
        node.path.length < 40 &&
        !isMain(node) &&
        !isInUse(db, node) &&
        !isEmpty(db, node) &&
        !relocationObstacle(db, user, node),
      false,
    )
    if (!chosen) return null
    const { path, name, parent } = chosen.node
    const depth = (place: Node): boolean => place.path.split('/').length <= 5
    const place = chooseDirectory(
      context,
      bound.into_directory,
      (node) =>
        !isWithin(node.path, path) &&
        node.path !== parent &&
        node.path.length < 26 &&
        shelvesIn(chosen.node, node) &&
        depth(node) &&
        !entryObstacle(db, user, node, name),
    )
    return place ? { directory: chosen.path, into_directory: place.path } : null
  },
  run({ directory, into_directory }, context) {
    const { unless, db, fail } = context
    const user = currentUser(db)
    const source = directoryAt(context, directory, false)
    const place = directoryAt(context, into_directory)
    refuseItself(context, source, place)
    unless(relocationObstacle(db, user, source))
    const existing = db.nodes.get(join(place.path, source.name))
    if (existing) {
      if (existing.path === source.path) fail('same_file', `${source.path} is there already.`)
      if (existing.kind !== 'directory') fail('not_a_directory', `${existing.path} is in the way.`)
      if (db.nodes.by('parent', existing.path).length > 0)
        fail('directory_not_empty', `${existing.path} is in the way and not empty.`)
      refuseWorkingDirectory(context, existing)
      unless(removalObstacle(db, user, existing))
      erase(context, existing)
    }
    unless(entryObstacle(db, user, place, source.name))
    const moved = subtree(db, source).length
    const placed = relocate(context, source, place, source.name)
    return { name: placed.name, directory: placed.path, moved }
  },
})

/** The entries of a directory that is to be copied; ends the call if one of them may not be read. */
function readableSubtree(context: Context, directory: Node): Node[] {
  const { unless, db } = context
  const user = currentUser(db)
  unless(listingObstacle(user, directory))
  const entries = subtree(db, directory)
  for (const node of entries) {
    if (node.kind === 'directory') unless(listingObstacle(user, node))
    else if (node.kind !== 'link') unless(readObstacle(user, node))
  }
  return entries
}

const copyDirectory = tool({
  name: 'copy_directory',
  description:
    'Copy a directory with everything in it into another directory, under the same name or a new one, which must be free. All of it must be readable; the copy is yours and counts against the quota.',
  input: z.strictObject({
    directory: directoryKey('Directory that is copied'),
    into_directory: directoryKey('Directory into which it is copied'),
    new_name: nameField.describe('Name of the copy; the same if not given.').optional(),
  }),
  output: z.object({
    name: z.string(),
    directory: directoryKey('Path of the copy'),
    copied: z.int().describe('Entries in it, which were copied with it.'),
    bytes: z.int(),
  }),
  annotations: { readOnly: false },
  sample(context) {
    const { db, random, bound } = context
    const user = currentUser(db)
    const fits = (node: Node): boolean => {
      if (node.path.length >= 40 || isEmpty(db, node) || !permits(user, node, 5)) return false
      const entries = subtree(db, node)
      const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0)
      return (
        entries.length <= 30 &&
        entries.every((entry) => entry.kind === 'link' || permits(user, entry, entry.kind === 'directory' ? 5 : 4)) &&
        !quotaObstacle(db, user.user, bytes, entries.length + 1)
      )
    }
    const chosen = chooseDirectory(context, bound.directory, fits)
    if (!chosen) return null
    const { path, parent } = chosen.node
    const newName = bound.new_name ?? (random.chance(0.35) ? random.pick(copyNamesOf(chosen.node)) : undefined)
    const place = chooseDirectory(
      context,
      bound.into_directory,
      (node) =>
        !isWithin(node.path, path) &&
        (newName !== undefined || node.path !== parent) &&
        node.path.length < 26 &&
        shelvesIn(chosen.node, node) &&
        node.path.split('/').length <= 5 &&
        !entryObstacle(db, user, node, newName ?? chosen.node.name),
    )
    if (!place) return null
    return {
      directory: chosen.path,
      into_directory: place.path,
      ...(newName === undefined ? {} : { new_name: newName }),
    }
  },
  run({ directory, into_directory, new_name }, context) {
    const source = directoryAt(context, directory)
    const place = directoryAt(context, into_directory)
    refuseItself(context, source, place)
    const entries = readableSubtree(context, source)
    const copy = makeTree(
      context,
      place,
      new_name ?? source.name,
      copyOf(source),
      source.path,
      entries.map((entry) => ({ within: entry.parent, path: entry.path, name: entry.name, content: copyOf(entry) })),
    )
    return {
      name: copy.name,
      directory: copy.path,
      copied: entries.length,
      bytes: entries.reduce((sum, { bytes }) => sum + bytes, 0),
    }
  },
})

export const directoryTools = [makeDirectory, removeDirectory, moveDirectory, copyDirectory]
