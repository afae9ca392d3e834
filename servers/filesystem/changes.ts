import { timeOf } from '../kernel/dates.js'
import { byteLength } from './contents.js'
import { currentUser, isObstacle, isWithin, join, subtree, walk } from './paths.js'
import { entryObstacle, groupIn, placeObstacle, quotaObstacle } from './rules.js'
import type { Context, Member, Node, User } from './schema.js'

/** Content of an entry, without its location and its owner. */
export type Content = Pick<Node, 'kind' | 'mode' | 'bytes' | 'text' | 'target' | 'photo' | 'members'>

const NOTHING: Pick<Content, 'bytes' | 'text' | 'target' | 'photo' | 'members'> = {
  bytes: 0,
  text: '',
  target: null,
  photo: null,
  members: [],
}

export const directoryContent = (mode = 0o755): Content => ({ ...NOTHING, kind: 'directory', mode })
export const linkContent = (target: string): Content => ({ ...NOTHING, kind: 'link', mode: 0o777, target })
export const textContent = (text: string): Content => ({
  ...NOTHING,
  kind: 'text',
  mode: 0o644,
  text,
  bytes: byteLength(text),
})
export const archiveContent = (members: readonly Member[], bytes: number): Content => ({
  ...NOTHING,
  kind: 'archive',
  mode: 0o644,
  members: [...members],
  bytes,
})

/** Bits that a copy or an extracted file does not get: writing for group and others. */
const UMASK = 0o022

/** The content of `node` as a copy has it. */
export const copyOf = ({ kind, mode, bytes, text, target, photo, members }: Node): Content => ({
  kind,
  mode: kind === 'link' ? mode : mode & ~UMASK,
  bytes,
  text,
  target,
  photo,
  members,
})

/** Returns the entry that a path leads to. Ends the call if the path leads nowhere. */
export function reach({ db, fail }: Context, path: string, follow = true): Node {
  const found = walk(db, path, follow)
  return isObstacle(found) ? fail(found.code, found.detail) : found
}

export function directoryAt(context: Context, path: string, follow = true): Node {
  const node = reach(context, path, follow)
  return node.kind === 'directory' ? node : context.fail('not_a_directory', `${node.path} is not a directory.`)
}

/** A file of any kind, or a link that is not followed. */
export function fileAt(context: Context, path: string, follow = true): Node {
  const node = reach(context, path, follow)
  return node.kind === 'directory' ? context.fail('is_a_directory', `${node.path} is a directory.`) : node
}

/** The session's time to the minute, as modification times have it. */
export function clock({ now }: Context): string {
  const time = now()
  return `${time.slice(0, 10)} ${timeOf(time)}`
}

/** Books what `owner` gains (or gives back). Ends the call if that is over the quota. */
export function charge(context: Context, owner: string, bytes: number, entries: number): void {
  if (bytes === 0 && entries === 0) return
  context.unless(quotaObstacle(context.db, owner, bytes, entries))
  const { used_bytes, used_entries } = context.db.users.get(owner)!
  context.db.users.update(owner, { used_bytes: used_bytes + bytes, used_entries: used_entries + entries })
}

/** Puts something new, owned by the current user, into a directory. Ends the call if that cannot be. */
export function make(context: Context, directory: Node, name: string, content: Content): Node {
  const user = currentUser(context.db)
  context.unless(entryObstacle(context.db, user, directory, name))
  charge(context, user.user, content.bytes, 1)
  const time = clock(context)
  touch(context, directory.path, time)
  return insert(context, user, directory, name, content, time)
}

/** An entry that goes into a directory that is made in the same call. */
export interface Inner {
  /** Path of the directory it goes into, as the caller counts. */
  readonly within: string
  readonly path: string
  readonly name: string
  readonly content: Content
}

/**
 * Puts a new directory called `name` into another one, with everything in it. Ends the call if that cannot be.
 * @param source  what the entries call the new directory
 * @param inner   what goes into it, every directory before what goes into that
 */
export function makeTree(
  context: Context,
  directory: Node,
  name: string,
  content: Content,
  source: string,
  inner: readonly Inner[],
): Node {
  const user = currentUser(context.db)
  const top = make(context, directory, name, content)
  charge(
    context,
    user.user,
    inner.reduce((sum, entry) => sum + entry.content.bytes, 0),
    inner.length,
  )
  const made = new Map([[source, top]])
  for (const entry of inner) {
    const parent = made.get(entry.within)!
    context.unless(placeObstacle(join(parent.path, entry.name)))
    made.set(entry.path, insert(context, user, parent, entry.name, entry.content, top.modified))
  }
  return top
}

function insert({ db }: Context, user: User, directory: Node, name: string, content: Content, time: string): Node {
  return db.nodes.insert({
    path: join(directory.path, name),
    name,
    parent: directory.path,
    owner: user.user,
    group: groupIn(user, directory),
    sticky: false,
    modified: time,
    kind: content.kind,
    mode: content.mode,
    bytes: content.bytes,
    text: content.text,
    target: content.target,
    photo: content.photo,
    members: content.members,
  })
}

/** Gives a file another content; owner, group and permissions stay. Ends the call if the owner's quota is too small. */
export function refill(context: Context, node: Node, content: Content): Node {
  charge(context, node.owner, content.bytes - node.bytes, 0)
  const { kind, bytes, text, target, photo, members } = content
  return context.db.nodes.update(node.path, { kind, bytes, text, target, photo, members, modified: clock(context) })
}

/** Removes an entry that holds nothing, for good. */
export function erase(context: Context, node: Node): void {
  context.db.nodes.remove(node.path)
  charge(context, node.owner, -node.bytes, -1)
  touch(context, node.parent)
}

/** Something was put into the directory or taken out of it. */
export function touch(context: Context, directory: string, time = clock(context)): void {
  context.db.nodes.update(directory, { modified: time })
}

/**
 * Gives an entry, with everything in it, another place. The working directory goes along. The caller has checked what
 * stands against it; this ends the call if a path grows too long or too deep.
 */
export function relocate(context: Context, node: Node, directory: Node, name: string): Node {
  const { unless, db } = context
  const from = node.path
  const to = join(directory.path, name)
  const moved = node.kind === 'directory' ? subtree(db, node) : []
  const rebase = (path: string): string => to + path.slice(from.length)
  unless(placeObstacle(to))
  for (const { path } of moved) unless(placeObstacle(rebase(path)))
  for (const { path } of moved) db.nodes.remove(path)
  db.nodes.remove(from)
  const placed = db.nodes.insert({ ...node, path: to, name, parent: directory.path })
  for (const entry of moved) db.nodes.insert({ ...entry, path: rebase(entry.path), parent: rebase(entry.parent) })
  const session = db.session.get('current')!
  if (node.kind === 'directory' && isWithin(session.directory, from))
    db.session.update('current', { directory: rebase(session.directory) })
  // The old parent keeps its path: it cannot lie in what was moved.
  touch(context, node.parent)
  if (directory.path !== node.parent) touch(context, directory.path)
  return placed
}
