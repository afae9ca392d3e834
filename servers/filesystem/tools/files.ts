import { z } from 'zod'
import { copyOf, directoryAt, erase, fileAt, make, reach, refill, relocate } from '../changes.js'
import { belongsIn } from '../matter.js'
import { newNamesOf } from '../naming.js'
import { currentUser, join } from '../paths.js'
import { changeObstacle, entryObstacle, isFile, quotaObstacle, readObstacle, removalObstacle } from '../rules.js'
import { choose, chooseDirectory, free, isShort, newArchive } from '../sampling.js'
import { type Context, directoryKey, fileKey, type Node, nameField, type Sampling, tool } from '../schema.js'

const ifExists = z.enum(['overwrite', 'keep']).optional()
const status = z.enum(['moved', 'copied', 'replaced'])

/** Whether somebody would take the file elsewhere: the archive that has just been made, if there is one, and no file that says that another is in use. */
const isMovable = (node: Node, made: Node | undefined): boolean =>
  isFile(node) && !node.name.endsWith('.lock') && (made === undefined || node === made)

/** A directory where the file belongs and that takes something called `name`; where something of that name is, only if it was bound. */
function placeFor(context: Sampling, bound: string | undefined, file: Node, name: string, from: string) {
  const user = currentUser(context.db)
  return chooseDirectory(
    context,
    bound,
    (node) =>
      isShort(node) &&
      node.path !== from &&
      belongsIn(file, node) &&
      entryObstacle(context.db, user, node, name) === undefined,
  )
}

/** The file of that name in the directory, if there is one that may be replaced; ends the call if it may not. */
function toReplace(
  context: Context,
  directory: Node,
  name: string,
  source: Node,
  choice: 'overwrite' | 'keep' | undefined,
): Node | undefined {
  const path = join(directory.path, name)
  const existing = context.db.nodes.get(path)
  if (!existing) return undefined
  if (choice === 'keep') context.fail('already_exists', `${path} exists already.`)
  if (existing.kind === 'directory') context.fail('is_a_directory', `${path} is a directory and cannot be replaced.`)
  if (existing.path === source.path) context.fail('same_file', `${path} is there already.`)
  return existing
}

const moveFile = tool({
  name: 'move_file',
  description:
    'Move a file (or a link itself) into another directory under the same name. A file of that name there is overwritten unless if_exists is keep, with which the call fails. Needs write permission on both directories.',
  input: z.strictObject({
    file: fileKey(),
    directory: directoryKey('Directory into which it is moved'),
    if_exists: ifExists.describe('What happens to a file of that name; overwrite if not given.'),
  }),
  output: z.object({ name: z.string(), file: fileKey('New path'), status }),
  annotations: { readOnly: false, destructive: true },
  sample(context) {
    const { db, random, bound } = context
    const user = currentUser(db)
    const made = newArchive(context)
    const fits = (node: Node): boolean => isMovable(node, made) && !removalObstacle(db, user, node)
    const chosen = choose(context, bound.file, fits, false)
    const place = chosen && placeFor(context, bound.directory, chosen.node, chosen.node.name, chosen.node.parent)
    if (!place) return null
    const choice = bound.if_exists ?? (random.chance(0.2) ? 'overwrite' : undefined)
    return { file: chosen.path, directory: place.path, ...(choice === undefined ? {} : { if_exists: choice }) }
  },
  run({ file, directory, if_exists }, context) {
    const { unless, db } = context
    const user = currentUser(db)
    const source = fileAt(context, file, false)
    const place = directoryAt(context, directory)
    unless(removalObstacle(db, user, source))
    const existing = toReplace(context, place, source.name, source, if_exists)
    if (existing) {
      unless(removalObstacle(db, user, existing))
      erase(context, existing)
    }
    unless(entryObstacle(db, user, place, source.name))
    const moved = relocate(context, source, place, source.name)
    return { name: moved.name, file: moved.path, status: existing ? ('replaced' as const) : ('moved' as const) }
  },
})

const renameFile = tool({
  name: 'rename_file',
  description: 'Give a file (or a link itself) another name in the same directory. The name must be free.',
  input: z.strictObject({ file: fileKey(), new_name: nameField.describe('New name with its ending, not a path.') }),
  output: z.object({ name: z.string(), file: fileKey('New path') }),
  annotations: { readOnly: false },
  sample(context) {
    const { db, random, bound } = context
    const user = currentUser(db)
    const chosen = choose(
      context,
      bound.file,
      (node) => isFile(node) && isShort(node) && !removalObstacle(db, user, node),
      false,
    )
    if (!chosen) return null
    const { node } = chosen
    const directory = db.nodes.get(node.parent)!
    const name = free(
      random,
      bound.new_name,
      newNamesOf(node),
      (candidate) => entryObstacle(db, user, directory, candidate) !== undefined,
    )
    return name === undefined ? null : { file: chosen.path, new_name: name }
  },
  run({ file, new_name }, context) {
    const { unless, db } = context
    const user = currentUser(db)
    const node = fileAt(context, file, false)
    unless(removalObstacle(db, user, node))
    const directory = db.nodes.get(node.parent)!
    unless(entryObstacle(db, user, directory, new_name))
    const renamed = relocate(context, node, directory, new_name)
    return { name: renamed.name, file: renamed.path }
  },
})

const copyFile = tool({
  name: 'copy_file',
  description:
    'Copy a file into a directory, under the same name or a new one; the copy is yours and counts against the quota. A file of that name there gets the new content (which needs write permission on it) unless if_exists is keep, with which the call fails. Links are followed.',
  input: z.strictObject({
    file: fileKey(),
    directory: directoryKey('Directory into which it is copied'),
    new_name: nameField.describe('Name of the copy; the same if not given.').optional(),
    if_exists: ifExists.describe('What happens to a file of that name; overwrite if not given.'),
  }),
  output: z.object({ name: z.string(), file: fileKey('Path of the copy'), bytes: z.int(), status }),
  annotations: { readOnly: false, destructive: true },
  sample(context) {
    const { db, random, bound } = context
    const user = currentUser(db)
    const made = newArchive(context)
    const chosen = choose(
      context,
      bound.file,
      (node) => isMovable(node, made) && !readObstacle(user, node) && !quotaObstacle(db, user.user, node.bytes, 1),
    )
    // Nobody has a file copied to where it is.
    if (!chosen || bound.directory === chosen.node.parent) return null
    const { node } = chosen
    const others = newNamesOf(node)
    const newName = bound.new_name ?? (others.length > 0 && random.chance(0.3) ? random.pick(others) : undefined)
    const plain = chosen.path.slice(chosen.path.lastIndexOf('/') + 1)
    const place = placeFor(context, bound.directory, node, newName ?? plain, newName === undefined ? node.parent : '')
    if (!place) return null
    const choice = bound.if_exists ?? (random.chance(0.2) ? 'overwrite' : undefined)
    return {
      file: chosen.path,
      directory: place.path,
      ...(newName === undefined ? {} : { new_name: newName }),
      ...(choice === undefined ? {} : { if_exists: choice }),
    }
  },
  run({ file, directory, new_name, if_exists }, context) {
    const { unless, db } = context
    const user = currentUser(db)
    const source = fileAt(context, file)
    const place = directoryAt(context, directory)
    unless(readObstacle(user, source))
    const name = new_name ?? fileAt(context, file, false).name
    if (!toReplace(context, place, name, source, if_exists)) {
      const copy = make(context, place, name, copyOf(source))
      return { name, file: copy.path, bytes: copy.bytes, status: 'copied' as const }
    }
    const existing = reach(context, join(place.path, name))
    if (existing.kind === 'directory') context.fail('is_a_directory', `${existing.path} is a directory.`)
    if (existing.path === source.path) context.fail('same_file', `Both paths lead to ${source.path}.`)
    unless(changeObstacle(db, user, existing))
    const copy = refill(context, existing, copyOf(source))
    return { name: copy.name, file: copy.path, bytes: copy.bytes, status: 'replaced' as const }
  },
})

export const fileTools = [moveFile, renameFile, copyFile]
