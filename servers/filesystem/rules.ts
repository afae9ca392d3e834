import { depthOf, isWithin, join, permits, subtree } from './paths.js'
import { type FilesystemView, LIMITS, type Node, type Obstacle, type User } from './schema.js'

export const READ = 4
export const WRITE = 2
export const EXECUTE = 1

const NAME = /^[A-Za-z0-9._-](?:[A-Za-z0-9 ._-]*[A-Za-z0-9._-])?$/
const LOCK = '.lock'

const denied = (detail: string): Obstacle => ({ code: 'permission_denied', detail })

export const isFile = ({ kind }: Node): boolean => kind === 'text' || kind === 'photo' || kind === 'archive'

export function readObstacle(user: User, node: Node): Obstacle | undefined {
  return permits(user, node, READ) ? undefined : denied(`${user.user} may not read ${node.path}.`)
}

/** Returns an obstacle if the file is in use: a file with the same name plus `.lock` exists next to the file. */
export function lockObstacle(db: FilesystemView, { path }: Node): Obstacle | undefined {
  return db.nodes.has(path + LOCK)
    ? { code: 'file_locked', detail: `${path} is in use: ${path}${LOCK} stands beside it.` }
    : undefined
}

/** Returns the obstacle to changing the content of a file, or undefined if `user` may change the content. */
export function changeObstacle(db: FilesystemView, user: User, node: Node): Obstacle | undefined {
  return permits(user, node, WRITE) ? lockObstacle(db, node) : denied(`${user.user} may not write ${node.path}.`)
}

/** Returns the obstacle to listing the entries of a directory, or undefined if `user` may list the entries. */
export function listingObstacle(user: User, directory: Node): Obstacle | undefined {
  if (directory.kind !== 'directory')
    return { code: 'not_a_directory', detail: `${directory.path} is not a directory.` }
  return permits(user, directory, READ | EXECUTE) ? undefined : denied(`${user.user} may not list ${directory.path}.`)
}

function alterObstacle(user: User, directory: Node): Obstacle | undefined {
  if (directory.kind !== 'directory')
    return { code: 'not_a_directory', detail: `${directory.path} is not a directory.` }
  return permits(user, directory, WRITE | EXECUTE)
    ? undefined
    : denied(`${user.user} may not add or remove anything in ${directory.path}.`)
}

/** Returns the obstacle to a path of this length and depth, or undefined if the path is within the limits. */
export function placeObstacle(path: string): Obstacle | undefined {
  if (path.length > LIMITS.path)
    return { code: 'path_too_long', detail: `${path} has more than ${LIMITS.path} characters.` }
  return depthOf(path) > LIMITS.depth ? { code: 'too_deep', detail: `${path} is too deep.` } : undefined
}

/**
 * Returns the obstacle to adding an entry called `name` to `directory`, or undefined if the entry can be added. The
 * directory must not have an entry of that name yet.
 */
export function entryObstacle(db: FilesystemView, user: User, directory: Node, name: string): Obstacle | undefined {
  const alter = alterObstacle(user, directory)
  if (alter) return alter
  if (!NAME.test(name) || name === '.' || name === '..')
    return { code: 'name_invalid', detail: `"${name}" cannot be a name.` }
  if (name.length > LIMITS.name)
    return { code: 'path_too_long', detail: `"${name}" has more than ${LIMITS.name} characters.` }
  const path = join(directory.path, name)
  return (
    placeObstacle(path) ??
    (db.nodes.has(path) ? { code: 'already_exists', detail: `${path} exists already.` } : undefined)
  )
}

/** Returns the obstacle to removing an entry from its directory or replacing the entry, or undefined if `user` may do so. */
export function removalObstacle(db: FilesystemView, user: User, node: Node): Obstacle | undefined {
  const directory = db.nodes.get(node.parent)
  if (!directory) return denied('The root cannot be moved or removed.')
  const alter = alterObstacle(user, directory)
  if (alter) return alter
  if (directory.sticky && node.owner !== user.user && directory.owner !== user.user)
    return {
      code: 'sticky_directory',
      detail: `${node.path} belongs to ${node.owner}, and ${directory.path} is sticky.`,
    }
  return lockObstacle(db, node)
}

/** Returns the obstacle to moving a directory elsewhere with all its contents, or undefined if `user` may move the directory. */
export function relocationObstacle(db: FilesystemView, user: User, directory: Node): Obstacle | undefined {
  const removal = removalObstacle(db, user, directory)
  if (removal) return removal
  // As on Linux: another parent means another `..`, so the directory itself is written.
  if (!permits(user, directory, WRITE)) return denied(`${user.user} may not write ${directory.path}.`)
  const lock = subtree(db, directory).find(
    ({ path }) => path.endsWith(LOCK) && db.nodes.has(path.slice(0, -LOCK.length)),
  )
  return lock && { code: 'file_locked', detail: `${lock.path} says that a file in ${directory.path} is in use.` }
}

/** Returns the obstacle to trashing a directory with all its contents, or undefined if `user` may trash the directory. */
export function disposalObstacle(db: FilesystemView, user: User, directory: Node): Obstacle | undefined {
  const relocation = relocationObstacle(db, user, directory)
  if (relocation) return relocation
  if (isWithin(db.session.get('current')!.directory, directory.path))
    return { code: 'directory_in_use', detail: `The working directory is in ${directory.path}.` }
  const shut = subtree(db, directory).find((node) => node.kind === 'directory' && !permits(user, node, 7))
  return shut && denied(`${user.user} may not empty ${shut.path}.`)
}

/**
 * Returns the obstacle to `owner` owning `bytes` and `entries` more, or undefined if the quota allows the increase. Negative
 * numbers give space back, which is always possible.
 */
export function quotaObstacle(db: FilesystemView, owner: string, bytes: number, entries: number): Obstacle | undefined {
  const { used_bytes, quota_bytes, used_entries, quota_entries } = db.users.get(owner)!
  if (bytes > 0 && used_bytes + bytes > quota_bytes)
    return {
      code: 'quota_exceeded',
      detail: `${quota_bytes - used_bytes} bytes are free for ${owner}, ${bytes} are needed.`,
    }
  if (entries > 0 && used_entries + entries > quota_entries)
    return {
      code: 'too_many_entries',
      detail: `${owner} may make ${quota_entries - used_entries} more files and directories, not ${entries}.`,
    }
  return undefined
}

/** The group of something that `user` makes in `directory`: the directory's, if the user is in it. */
export const groupIn = ({ groups }: User, { group }: Node): string => (groups.includes(group) ? group : groups[0]!)

/** The nine bits as three octal digits: `640`. */
export const octal = (mode: number): string => mode.toString(8).padStart(3, '0')
