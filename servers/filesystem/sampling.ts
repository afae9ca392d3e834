import { addMinutes } from '../kernel/dates.js'
import type { SeededRandom } from '../kernel/random.js'
import { linesOf } from './contents.js'
import { purposeOf } from './matter.js'
import { currentUser, isObstacle, isWithin, walk, workingDirectory } from './paths.js'
import { readObstacle } from './rules.js'
import type { FilesystemView, Node, Sampling } from './schema.js'
import { LIMITS } from './schema.js'

/** Something on disk, and the path by which a user speaks of it. */
export interface Spoken {
  readonly node: Node
  readonly path: string
}

/** What happened within so many minutes has just been done. */
const JUST = 5

/** Random draws before all entries are looked at. */
const DRAWS = 24

/** Whether the directories on the way let the current user get to `node`. */
const isReachable = (db: FilesystemView, node: Node): boolean => walk(db, node.path, false) === node

/** A path to `node` as people say it: absolute, from the home directory, or from the working directory. */
export function say({ db, random }: Sampling, node: Node): string {
  const { home } = currentUser(db)
  const here = workingDirectory(db)
  const { path } = node
  const ways = [path]
  if (isWithin(path, home)) ways.push(`~${path.slice(home.length)}`)
  const near = here === '/' ? path.slice(1) : path.slice(here.length + 1)
  if (path !== here && isWithin(path, here)) ways.push(near, ...(here === home ? [] : [near, near, near]))
  return random.pick(ways)
}

/**
 * Returns the entry that `bound` leads to, if the entry fits. Without `bound`, draws a random entry that fits. The draw
 * prefers entries in the working directory if that directory is not the home directory. Returns undefined if no entry fits.
 * @param follow  whether the tool follows a link at the end of the path
 */
export function choose(
  sampling: Sampling,
  bound: string | undefined,
  fits: (node: Node) => boolean,
  follow = true,
): Spoken | undefined {
  const { db, random } = sampling
  if (bound !== undefined) {
    const node = walk(db, bound, follow)
    return !isObstacle(node) && fits(node) ? { node, path: bound } : undefined
  }
  const suits = (node: Node): boolean => fits(node) && isReachable(db, node)
  const here = workingDirectory(db)
  if (here !== currentUser(db).home && random.chance(0.6)) {
    const near = db.nodes.list(({ path }) => path.length > here.length && isWithin(path, here)).filter(suits)
    if (near.length > 0) return spoken(sampling, random.pick(near))
  }
  const all = db.nodes.list()
  // Mostly somebody's own things; those of others lie around them.
  const { home } = currentUser(db)
  const own = random.chance(0.85) ? all.filter(({ path }) => isWithin(path, home)) : []
  const rows = own.length > 0 ? own : all
  for (let draw = 0; draw < DRAWS; draw++) {
    const node = random.pick(rows)
    if (suits(node)) return spoken(sampling, node)
  }
  const rest = all.filter(suits)
  return rest.length > 0 ? spoken(sampling, random.pick(rest)) : undefined
}

const spoken = (sampling: Sampling, node: Node): Spoken => ({ node, path: say(sampling, node) })

/** Whether the current user gets to the file and may read it. */
export const isReadable = ({ db }: Sampling, node: Node): boolean =>
  !readObstacle(currentUser(db), node) && isReachable(db, node)

/** A text file that may be read, has at least `least` lines and fits. */
export function chooseText(
  sampling: Sampling,
  bound: string | undefined,
  least = 1,
  fits: (node: Node) => boolean = () => true,
): Spoken | undefined {
  const user = currentUser(sampling.db)
  return choose(
    sampling,
    bound,
    (node) => node.kind === 'text' && linesOf(node.text).length >= least && !readObstacle(user, node) && fits(node),
  )
}

/** A directory that fits. */
export function chooseDirectory(
  sampling: Sampling,
  bound: string | undefined,
  fits: (node: Node) => boolean,
  follow = true,
): Spoken | undefined {
  return choose(sampling, bound, (node) => node.kind === 'directory' && fits(node), follow)
}

/** One of `candidates` that is not refused, the bound one if there is one. */
export function free<T>(
  random: SeededRandom,
  bound: T | undefined,
  candidates: readonly T[],
  isRefused: (candidate: T) => boolean,
): T | undefined {
  if (bound !== undefined) return isRefused(bound) ? undefined : bound
  return random.shuffle(candidates).find((candidate) => !isRefused(candidate))
}

/** The archive that has just been made, if one has: the next thing that is moved or copied is this one. */
export const newArchive = (sampling: Sampling): Node | undefined =>
  sampling.db.nodes.by('kind', 'archive').find((node) => isFresh(sampling, node))

/** Whether it has just been made or changed: unpacked, written, or filled with something. */
export const isFresh = ({ now }: Sampling, { modified }: Node): boolean =>
  modified >= addMinutes(now(), -JUST).slice(0, 16).replace('T', ' ')

/** Returns whether a project needs the entry or a link leads to the entry, so that users would not take the entry away. */
export const isInUse = (db: FilesystemView, node: Node): boolean =>
  ['docs', 'src'].includes(purposeOf(node)) || db.nodes.by('kind', 'link').some(({ path }) => walk(db, path) === node)

/** Whether a name is short enough to be given to a copy or a new entry without running into a limit. */
export const isShort = ({ path }: Node): boolean => path.length < LIMITS.path - 30
