import { ascending } from '../kernel/lists.js'
import type { FailureCode, FilesystemView, Node, Obstacle, User } from './schema.js'
import { LIMITS } from './schema.js'

const EXECUTE = 1
/** Reading and execution: what listing a directory takes. */
const LIST = 5

/** The path of `name` in `directory`. */
export const join = (directory: string, name: string): string =>
  directory === '/' ? `/${name}` : `${directory}/${name}`

export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** Whether `path` is `directory` or lies in it. */
export const isWithin = (path: string, directory: string): boolean =>
  path === directory || directory === '/' || (path.startsWith(directory) && path[directory.length] === '/')

/** Levels below the root. */
export function depthOf(path: string): number {
  if (path === '/') return 0
  let levels = 0
  for (let i = 0; i < path.length; i++) if (path.charCodeAt(i) === 47) levels++
  return levels
}

/** The user who works in this session. */
export function currentUser(db: FilesystemView): User {
  return db.users.get(db.session.get('current')!.user)!
}

export const workingDirectory = (db: FilesystemView): string => db.session.get('current')!.directory

/** Whether the permission bits of `node` give `user` the right `bit`: 4 read, 2 write, 1 execute. */
export function permits({ user, groups }: User, { owner, group, mode }: Node, bit: number): boolean {
  const shift = owner === user ? 6 : groups.includes(group) ? 3 : 0
  return ((mode >> shift) & bit) === bit
}

const obstacle = (code: FailureCode, detail: string): Obstacle => ({ code, detail })

export const isObstacle = (found: Node | Obstacle): found is Obstacle => 'code' in found

/**
 * Follows a path as a shell does. The path is absolute, starts from the home directory (`~`), or starts from the working
 * directory. Every directory on the way must allow execution. After a link, `..` leads to the real parent of the entry that
 * the link leads to.
 * @param follow  whether a link at the end is followed too
 */
export function walk(db: FilesystemView, path: string, follow = true): Node | Obstacle {
  const user = currentUser(db)
  let start = workingDirectory(db)
  let rest = path
  if (path.startsWith('/')) start = '/'
  else if (path === '~' || path.startsWith('~/')) {
    start = user.home
    rest = path.slice(2)
  }
  const direct = db.nodes.get(path === start || rest === '' ? start : path.startsWith('/') ? path : join(start, rest))
  if (direct && !(follow && direct.target !== null) && isOpen(db, user, start, direct)) return direct
  return stepByStep(db, user, start, rest, follow)
}

/** Whether `user` may enter every directory from `start` to the one that `node` lies in. */
function isOpen(db: FilesystemView, user: User, start: string, node: Node): boolean {
  let current = node
  while (current.path !== start) {
    current = db.nodes.get(current.parent)!
    if (!permits(user, current, EXECUTE)) return false
  }
  return true
}

function stepByStep(db: FilesystemView, user: User, start: string, path: string, follow: boolean): Node | Obstacle {
  const pending = path.split('/').reverse()
  let current = db.nodes.get(start)!
  for (let hops = 0; pending.length > 0; ) {
    const segment = pending.pop()!
    if (current.kind !== 'directory') return obstacle('not_a_directory', `${current.path} is not a directory.`)
    if (segment === '' || segment === '.') continue
    if (!permits(user, current, EXECUTE))
      return obstacle('permission_denied', `${current.path} may not be entered by ${user.user}.`)
    if (segment === '..') {
      if (current.parent !== '') current = db.nodes.get(current.parent)!
      continue
    }
    const next = db.nodes.get(join(current.path, segment))
    if (!next) return obstacle(hops > 0 ? 'broken_link' : 'not_found', `There is no ${segment} in ${current.path}.`)
    if (next.target === null || (pending.length === 0 && !follow)) {
      current = next
      continue
    }
    if (++hops > LIMITS.hops) return obstacle('too_many_links', `${path} leads through more than ${LIMITS.hops} links.`)
    for (const part of next.target.split('/').reverse()) pending.push(part)
    if (next.target.startsWith('/')) current = db.nodes.get('/')!
  }
  return current
}

/** Whether `name` fits a pattern in which `*` stands for any run of characters and `?` for one. Linear but for backtracking to the last `*`. */
export function fitsPattern(name: string, pattern: string): boolean {
  let at = 0
  let star = -1
  let resume = 0
  let next = 0
  while (at < name.length) {
    if (next < pattern.length && (pattern[next] === '?' || (pattern[next] === name[at] && pattern[next] !== '*'))) {
      at++
      next++
    } else if (pattern[next] === '*') {
      star = next++
      resume = at
    } else if (star >= 0) {
      next = star + 1
      at = ++resume
    } else return false
  }
  while (pattern[next] === '*') next++
  return next === pattern.length
}

/** Orders by path, character by character. */
export const byPath = ascending('path')

/**
 * Returns all entries below a directory, including entries that the user may not see. Each directory precedes its entries.
 * Otherwise the order is undefined.
 */
export function subtree(db: FilesystemView, directory: Node): Node[] {
  const found: Node[] = []
  const open = [directory.path]
  for (let next = open.pop(); next !== undefined; next = open.pop())
    for (const entry of db.nodes.by('parent', next)) {
      found.push(entry)
      if (entry.kind === 'directory') open.push(entry.path)
    }
  return found
}

/**
 * Everything beneath `directory` that `user` can get at, unordered: a directory that may not be listed is among it, but
 * not what lies in it.
 */
export function below(db: FilesystemView, user: User, directory: Node): Node[] {
  const found: Node[] = []
  const open = [directory]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (!permits(user, next, LIST)) continue
    for (const entry of db.nodes.by('parent', next.path)) {
      found.push(entry)
      if (entry.kind === 'directory') open.push(entry)
    }
  }
  return found
}
