import { z } from 'zod'
import { common, ref } from '../../kernel/fields.js'
import { descending } from '../../kernel/lists.js'
import { charge, clock, directoryAt, fileAt, touch } from '../changes.js'
import { isMain, matterOf, purposeOf } from '../matter.js'
import { byPath, currentUser, isObstacle, join, subtree, walk } from '../paths.js'
import { disposalObstacle, entryObstacle, isFile, removalObstacle } from '../rules.js'
import { choose, chooseDirectory, isInUse } from '../sampling.js'
import { type Context, directoryKey, type FilesystemView, fileKey, type Node, type TrashItem, tool } from '../schema.js'

const trashKey = () => ref('trash_item', 'Key of an item in the trash')

const madeItem = z.object({
  name: z.string(),
  trash_item: trashKey(),
  entries: z.int(),
  bytes: z.int(),
})

/** Takes an entry, with everything in it, out of the tree and into the trash. Whoever owns it goes on being charged. */
function throwAway(context: Context, node: Node): z.output<typeof madeItem> {
  const { db } = context
  const taken = [node, ...(node.kind === 'directory' ? subtree(db, node).sort(byPath) : [])]
  for (const { path } of taken) db.nodes.remove(path)
  touch(context, node.parent)
  const cut = join(node.parent, '').length
  const item = db.trash.insert({
    trash_item: context.nextId('trash'),
    name: node.name,
    origin: node.parent,
    trashed: clock(context),
    bytes: taken.reduce((sum, { bytes }) => sum + bytes, 0),
    content: taken.map(({ parent: _, ...entry }) => ({ ...entry, path: entry.path.slice(cut) })),
  })
  return { name: node.name, trash_item: item.trash_item, entries: taken.length, bytes: item.bytes }
}

/** Whether somebody would throw the file away: not what they work with, or have to keep. */
function isExpendable(node: Node): boolean {
  const purpose = purposeOf(node)
  if (!isFile(node) || purpose === 'team' || purpose === 'inbox') return false
  if (/old|copy|draft|blurred|backup/.test(node.name) || ['downloads', 'temporary', 'logs'].includes(purpose))
    return true
  return !['settings', 'script', 'invoice', 'readme', 'tasks', 'plan', 'table', 'minutes', 'topics'].includes(
    matterOf(node),
  )
}

const trashFile = tool({
  name: 'trash_file',
  description:
    'Put a file (or a link itself) into the trash, from which it can be restored. It goes on counting against the quota of its owner until the trash is emptied. Needs write permission on the directory, and in a sticky one ownership.',
  input: z.strictObject({ file: fileKey() }),
  output: madeItem,
  annotations: { readOnly: false, destructive: true },
  establishes: ['something_trashed'],
  sample(context) {
    const { db, bound } = context
    const user = currentUser(db)
    const chosen = choose(context, bound.file, (node) => isExpendable(node) && !removalObstacle(db, user, node), false)
    return chosen ? { file: chosen.path } : null
  },
  run({ file }, context) {
    const node = fileAt(context, file, false)
    context.unless(removalObstacle(context.db, currentUser(context.db), node))
    return throwAway(context, node)
  },
})

const trashDirectory = tool({
  name: 'trash_directory',
  description:
    'Put a directory with everything in it into the trash. Not possible while the working directory or a locked file is in it, or a directory in it that you may not empty.',
  input: z.strictObject({ directory: directoryKey() }),
  output: madeItem,
  annotations: { readOnly: false, destructive: true },
  establishes: ['something_trashed'],
  sample(context) {
    const { db, bound } = context
    const user = currentUser(db)
    const chosen = chooseDirectory(
      context,
      bound.directory,
      (node) => !isMain(node) && !isInUse(db, node) && !disposalObstacle(db, user, node),
      false,
    )
    return chosen ? { directory: chosen.path } : null
  },
  run({ directory }, context) {
    const node = directoryAt(context, directory, false)
    context.unless(disposalObstacle(context.db, currentUser(context.db), node))
    return throwAway(context, node)
  },
})

const listTrash = tool({
  name: 'list_trash',
  description: 'List what is in the trash, the latest first.',
  input: z.strictObject({}),
  output: z.object({
    found: z.int(),
    items: z.array(
      z.object({
        name: z.string(),
        trash_item: trashKey(),
        origin: z.string().describe('Where it was.'),
        bytes: z.int(),
      }),
    ),
  }),
  pages: { items: 'short' },
  annotations: { readOnly: true },
  needs: ['something_trashed'],
  sample: () => ({}),
  run(_, { db }) {
    const items = db.trash.list().sort(descending('trashed'))
    return { found: items.length, items }
  },
})

/** The directory that an item came from, if it is still there and takes it back. */
function canReturn(db: FilesystemView, item: TrashItem): boolean {
  const origin = walk(db, item.origin, false)
  return !isObstacle(origin) && !entryObstacle(db, currentUser(db), origin, item.name)
}

const restoreFromTrash = tool({
  name: 'restore_from_trash',
  description:
    'Put an item of the trash back where it was. That directory must still exist and have nothing of that name by now.',
  input: z.strictObject({ trash_item: trashKey() }),
  output: z.object({
    name: z.string(),
    file: fileKey().optional(),
    directory: directoryKey().optional(),
    entries: z.int(),
  }),
  annotations: { readOnly: false },
  sample({ db, random, bound }) {
    if (bound.trash_item !== undefined) {
      const item = db.trash.get(bound.trash_item)
      return item && canReturn(db, item) ? { trash_item: item.trash_item } : null
    }
    const items = db.trash.list((item) => canReturn(db, item))
    return items.length > 0 ? { trash_item: random.pick(items).trash_item } : null
  },
  run({ trash_item }, context) {
    const { rowOf, unless, db, fail } = context
    const item = rowOf('trash', trash_item)
    const origin = walk(db, item.origin, false)
    if (isObstacle(origin) && origin.code !== 'permission_denied') fail('origin_gone', `${item.origin} is gone.`)
    const directory = directoryAt(context, item.origin, false)
    unless(entryObstacle(db, currentUser(db), directory, item.name))
    for (const entry of item.content) {
      const path = join(directory.path, entry.path)
      db.nodes.insert({ ...entry, path, parent: path.slice(0, -entry.name.length - 1) || '/' })
    }
    db.trash.remove(trash_item)
    touch(context, directory.path)
    const path = join(directory.path, item.name)
    return {
      name: item.name,
      ...(item.content[0]!.kind === 'directory' ? { directory: path } : { file: path }),
      entries: item.content.length,
    }
  },
})

const emptyTrash = tool({
  name: 'empty_trash',
  description:
    'Delete what is in the trash for good, all of it or what was trashed before a date. This frees the quota.',
  input: z.strictObject({
    before: common('date', z.iso.date().optional().describe('YYYY-MM-DD; only what was trashed before that day.')),
  }),
  output: z.object({ deleted: z.int().describe('Items.'), freed_bytes: z.int(), left: z.int() }),
  annotations: { readOnly: false, destructive: true },
  establishes: ['trash_emptied'],
  needs: ['something_trashed'],
  sample({ db, random, bound, today }) {
    const items = db.trash.list()
    if (bound.before !== undefined)
      return items.some(({ trashed }) => trashed < bound.before!) ? { before: bound.before } : null
    if (items.length === 0) return null
    const day = random.pick(items).trashed.slice(0, 10)
    // Who has just thrown something away wants that gone too.
    if (items.some(({ trashed }) => trashed >= today())) return {}
    return random.chance(0.3) && items.some(({ trashed }) => trashed < day) ? { before: day } : {}
  },
  run({ before }, context) {
    const { db, fail } = context
    const items = db.trash.list(({ trashed }) => before === undefined || trashed < before)
    if (items.length === 0)
      fail('trash_is_empty', before === undefined ? 'The trash is empty.' : `Nothing was trashed before ${before}.`)
    for (const { trash_item, content } of items) {
      for (const { owner, bytes } of content) charge(context, owner, -bytes, -1)
      db.trash.remove(trash_item)
    }
    return {
      deleted: items.length,
      freed_bytes: items.reduce((sum, { bytes }) => sum + bytes, 0),
      left: db.trash.count(),
    }
  },
})

export const trashTools = [trashFile, trashDirectory, listTrash, restoreFromTrash, emptyTrash]
