import { z } from 'zod'
import { ref } from '../../kernel/fields.js'
import { directoryAt, linkContent, make, reach } from '../changes.js'
import { type Purpose, purposeOf } from '../matter.js'
import { linkNamesOf } from '../naming.js'
import { below, byPath, currentUser, isObstacle, walk } from '../paths.js'
import { entryObstacle, listingObstacle, quotaObstacle } from '../rules.js'
import { choose, chooseDirectory, free, isShort } from '../sampling.js'
import { directoryKey, type FilesystemView, fileKey, type Node, nameField, tool } from '../schema.js'

const LINK_PATH = 'Path of a symbolic link'
const linkKey = () => ref('link', LINK_PATH)
const linkPath = () => z.string().min(1).max(80).describe(LINK_PATH)
const STATES = ['working', 'broken'] as const

/** A link is broken if what it leads to is missing, out of reach, or itself. */
const stateOf = (db: FilesystemView, link: Node): (typeof STATES)[number] =>
  isObstacle(walk(db, link.path)) ? 'broken' : 'working'

const findLinks = tool({
  name: 'find_links',
  description: 'Find the symbolic links beneath a directory that work, or those that lead nowhere.',
  input: z.strictObject({ directory: directoryKey(), state: z.enum(STATES).describe('Whether their targets exist.') }),
  output: z.object({
    found: z.int(),
    // Not a reference: the target is told, so nobody asks for it.
    links: z.array(z.object({ name: z.string(), link: linkPath(), target: z.string() })),
  }),
  pages: { links: 'short' },
  annotations: { readOnly: true },
  sample(context) {
    const { db, random, bound } = context
    const user = currentUser(db)
    const statesIn = (node: Node) => {
      const links = below(db, user, node).filter(({ kind }) => kind === 'link')
      return STATES.filter(
        (state) => state === (bound.state ?? state) && links.some((link) => stateOf(db, link) === state),
      )
    }
    const fits = (node: Node): boolean => !listingObstacle(user, node) && statesIn(node).length > 0
    const chosen = chooseDirectory(context, bound.directory, fits)
    if (!chosen) return null
    const states = statesIn(chosen.node)
    // Few look for links of which nothing is to be mended.
    const state = states.includes('broken') && random.chance(0.7) ? 'broken' : random.pick(states)
    return { directory: chosen.path, state }
  },
  run({ directory, state }, context) {
    const { unless, db } = context
    const node = directoryAt(context, directory)
    const user = currentUser(db)
    unless(listingObstacle(user, node))
    const links = below(db, user, node)
      .filter((entry) => entry.kind === 'link' && stateOf(db, entry) === state)
      .sort(byPath)
    return {
      found: links.length,
      links: links.map(({ name, path, target }) => ({ name, link: path, target: target! })),
    }
  },
})

const readLink = tool({
  name: 'read_link',
  description: 'Show where a symbolic link points, and the file or directory that it leads to in the end.',
  input: z.strictObject({ link: linkKey() }),
  output: z.object({
    name: z.string(),
    target: z.string(),
    state: z.string(),
    file: fileKey().optional(),
    directory: directoryKey().optional(),
  }),
  annotations: { readOnly: true },
  sample(context) {
    const chosen = choose(context, context.bound.link, ({ kind }) => kind === 'link', false)
    return chosen ? { link: chosen.path } : null
  },
  run({ link }, context) {
    const node = reach(context, link, false)
    if (node.target === null) return context.fail('not_a_link', `${node.path} is not a symbolic link.`)
    const end = walk(context.db, node.path)
    if (isObstacle(end)) return { name: node.name, target: node.target, state: 'broken' }
    return {
      name: end.name,
      target: node.target,
      state: 'working',
      ...(end.kind === 'directory' ? { directory: end.path } : { file: end.path }),
    }
  },
})

/** What the directories are for in which people make links. */
const LINKED_FROM: readonly Purpose[] = ['home', 'shortcuts', 'notes', 'project', 'docs', 'drafts', 'drop', 'team']

const createLink = tool({
  name: 'create_link',
  description: 'Make a symbolic link to an existing file or directory. It breaks when its target is moved or removed.',
  input: z.strictObject({
    file: fileKey('Path of the file or directory that the link points to'),
    directory: directoryKey('Directory in which the link is made'),
    name: nameField.describe('Name of the link.'),
  }),
  output: z.object({ name: z.string(), link: linkKey(), target: z.string() }),
  annotations: { readOnly: false },
  sample(context) {
    const { db, random, bound } = context
    const user = currentUser(db)
    if (quotaObstacle(db, user.user, 0, 1)) return null
    const target = choose(context, bound.file, (node) => node.kind === 'text' || bound.file !== undefined)
    const refuses = (node: Node, name: string): boolean => entryObstacle(db, user, node, name) !== undefined
    if (!target) return null
    const names = bound.name === undefined ? linkNamesOf(target.node) : [bound.name]
    const place = chooseDirectory(
      context,
      bound.directory,
      (node) =>
        isShort(node) &&
        LINKED_FROM.includes(purposeOf(node)) &&
        node.path !== target.node.parent &&
        names.some((name) => !refuses(node, name)),
    )
    if (!place) return null
    const name = free(random, bound.name, names, (candidate) => refuses(place.node, candidate))
    return name === undefined ? null : { file: target.path, directory: place.path, name }
  },
  run({ file, directory, name }, context) {
    const target = reach(context, file)
    const link = make(context, directoryAt(context, directory), name, linkContent(target.path))
    return { name, link: link.path, target: target.path }
  },
})

export const linkTools = [findLinks, readLink, createLink]
