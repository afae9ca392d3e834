import { z } from 'zod'
import {
  archiveContent,
  type Content,
  directoryAt,
  directoryContent,
  fileAt,
  type Inner,
  make,
  makeTree,
} from '../changes.js'
import { packedBytes } from '../contents.js'
import { type Purpose, purposeOf } from '../matter.js'
import { archiveNamesOf } from '../naming.js'
import { below, byPath, currentUser, nameOf, permits, walk, workingDirectory } from '../paths.js'
import { entryObstacle, listingObstacle, quotaObstacle, READ, readObstacle } from '../rules.js'
import { choose, chooseDirectory, free, isFresh, isShort } from '../sampling.js'
import {
  type Context,
  directoryKey,
  type FilesystemView,
  fileKey,
  LIMITS,
  type Member,
  type Node,
  nameField,
  tool,
  type User,
} from '../schema.js'

const ENDING = '.zip'

/** The readable text files and photos beneath a directory, as an archive holds them. */
function membersOf(db: FilesystemView, user: User, directory: Node): Member[] {
  const cut = directory.path.length - directory.name.length
  return below(db, user, directory)
    .sort(byPath)
    .flatMap((node) => {
      const { kind, path, mode, bytes, text, photo } = node
      return (kind === 'text' || kind === 'photo') && permits(user, node, READ)
        ? [{ path: path.slice(cut), kind, mode, bytes, text, photo }]
        : []
    })
}

const createArchive = tool({
  name: 'create_archive',
  description: `Pack the readable text files and photos beneath a directory, at most ${LIMITS.members}, into a new zip archive in the working directory. Links and other archives are left out.`,
  input: z.strictObject({
    directory: directoryKey('Directory that is packed'),
    name: nameField.describe('Name of the archive; .zip is added if it is missing.'),
  }),
  output: z.object({ name: z.string(), file: fileKey('Path of the archive'), files: z.int(), bytes: z.int() }),
  annotations: { readOnly: false },
  needs: ['working_directory_chosen'],
  sample(context) {
    const { db, random, bound } = context
    const user = currentUser(db)
    const here = walk(db, workingDirectory(db))
    if ('code' in here || !isShort(here)) return null
    const chosen = chooseDirectory(context, bound.directory, (node) => {
      // Nobody packs again what has just been unpacked.
      if (node.parent === '' || isFresh(context, node) || listingObstacle(user, node)) return false
      const members = membersOf(db, user, node)
      if (members.length === 0 || members.length > LIMITS.members) return false
      return !quotaObstacle(db, user.user, packedBytes(members), 1)
    })
    if (!chosen) return null
    const name = free(
      random,
      bound.name,
      archiveNamesOf(chosen.node),
      (candidate) => entryObstacle(db, user, here, withEnding(candidate)) !== undefined,
    )
    return name === undefined ? null : { directory: chosen.path, name }
  },
  run({ directory, name }, context) {
    const { unless, db, fail } = context
    const user = currentUser(db)
    const source = directoryAt(context, directory)
    unless(listingObstacle(user, source))
    const members = membersOf(db, user, source)
    if (source.parent === '') fail('archive_too_large', 'The whole file system does not go into an archive.')
    if (members.length === 0) fail('nothing_to_pack', `There is nothing to pack in ${source.path}.`)
    if (members.length > LIMITS.members)
      fail('archive_too_large', `${source.path} holds ${members.length} files; ${LIMITS.members} go into an archive.`)
    const archive = make(
      context,
      directoryAt(context, '.'),
      withEnding(name),
      archiveContent(members, packedBytes(members)),
    )
    return { name: archive.name, file: archive.path, files: members.length, bytes: archive.bytes }
  },
})

const withEnding = (name: string): string => (name.endsWith(ENDING) ? name : name + ENDING)

/** The archive a path leads to; ends the call if it is something else or may not be read. */
function archiveAt(context: Context, path: string): Node {
  const node = fileAt(context, path)
  if (node.kind !== 'archive') context.fail('not_an_archive', `${node.path} is a ${node.kind}, not an archive.`)
  context.unless(readObstacle(currentUser(context.db), node))
  return node
}

const listArchive = tool({
  name: 'list_archive',
  description: 'List the files in a zip archive, without unpacking it.',
  input: z.strictObject({ file: fileKey('Path of an archive') }),
  output: z.object({
    name: z.string(),
    found: z.int(),
    members: z.array(z.object({ member: z.string(), bytes: z.int() })),
  }),
  pages: { members: 'short' },
  annotations: { readOnly: true },
  sample(context) {
    const user = currentUser(context.db)
    const chosen = choose(context, context.bound.file, (node) => node.kind === 'archive' && !readObstacle(user, node))
    return chosen ? { file: chosen.path } : null
  },
  run({ file }, context) {
    const { name, members } = archiveAt(context, file)
    return {
      name,
      found: members.length,
      members: members.map(({ path, bytes }) => ({ member: path, bytes })),
    }
  },
})

/** Name of the directory that an archive was made of, which all its members begin with. */
const rootOf = ({ members }: Node): string => members[0]!.path.split('/')[0]!

/** What the directories are for in which people unpack things. */
const UNPACKED_IN: readonly Purpose[] = ['downloads', 'projects', 'project', 'temporary', 'home', 'drop', 'team']

const extractArchive = tool({
  name: 'extract_archive',
  description:
    'Unpack a zip archive into a directory: a new directory with the name of the packed one, which must be free there. What it makes is yours and counts against the quota.',
  input: z.strictObject({
    file: fileKey('Path of an archive'),
    directory: directoryKey('Directory in which it is unpacked'),
  }),
  output: z.object({
    name: z.string(),
    directory: directoryKey('The new directory'),
    files: z.int(),
    bytes: z.int(),
  }),
  annotations: { readOnly: false },
  sample(context) {
    const { db, bound } = context
    const user = currentUser(db)
    const chosen = choose(context, bound.file, (node) => {
      if (node.kind !== 'archive' || readObstacle(user, node)) return false
      const bytes = node.members.reduce((sum, member) => sum + member.bytes, 0)
      return !quotaObstacle(db, user.user, bytes, 2 * node.members.length + 1)
    })
    const place =
      chosen &&
      chooseDirectory(
        context,
        bound.directory,
        (node) =>
          node.path.length < 26 &&
          node.path.split('/').length <= 5 &&
          UNPACKED_IN.includes(purposeOf(node)) &&
          !entryObstacle(db, user, node, rootOf(chosen.node)),
      )
    return chosen && place ? { file: chosen.path, directory: place.path } : null
  },
  run({ file, directory }, context) {
    const archive = archiveAt(context, file)
    const root = rootOf(archive)
    const inner = new Map<string, Inner>()
    const add = (path: string, content: Content): void => {
      const within = path.slice(0, path.lastIndexOf('/'))
      if (within !== root && !inner.has(within)) add(within, directoryContent())
      inner.set(path, { within, path, name: nameOf(path), content })
    }
    for (const { path, ...content } of archive.members) add(path, { ...content, target: null, members: [] })
    const place = directoryAt(context, directory)
    const top = makeTree(context, place, root, directoryContent(), root, [...inner.values()])
    return {
      name: root,
      directory: top.path,
      files: archive.members.length,
      bytes: archive.members.reduce((sum, { bytes }) => sum + bytes, 0),
    }
  },
})

export const archiveTools = [createArchive, listArchive, extractArchive]
