import type { Invariant } from '../kernel/define-environment.js'
import { byteLength, packedBytes } from './contents.js'
import { currentUser, depthOf, join, permits } from './paths.js'
import { WRITE } from './rules.js'
import { type FilesystemTables, type FilesystemView, LIMITS, type Node } from './schema.js'

type FilesystemInvariant = Invariant<FilesystemTables>

const treeStaysATree: FilesystemInvariant = {
  name: 'everything but the root lies in a directory that exists, under the path that its name gives it',
  check({ nodes }) {
    const lost = nodes.find(
      ({ path, name, parent }) =>
        path !== '/' && (nodes.get(parent)?.kind !== 'directory' || join(parent, name) !== path || name.includes('/')),
    )
    return nodes.get('/')?.kind === 'directory' ? lost?.path : 'there is no root'
  },
}

const pathsStayShort: FilesystemInvariant = {
  name: 'no name, path or depth is beyond its limit',
  check: ({ nodes }) =>
    nodes.find(
      ({ path, name }) => path.length > LIMITS.path || name.length > LIMITS.name || depthOf(path) > LIMITS.depth,
    )?.path,
}

const countersAgree: FilesystemInvariant = {
  name: 'what each user has used is what the user owns in the tree and in the trash',
  check({ nodes, trash, users }) {
    const used = new Map(users.list().map(({ user }) => [user, { bytes: 0, entries: 0 }]))
    for (const { owner, bytes } of [...nodes.list(), ...trash.list().flatMap(({ content }) => content)]) {
      const sum = used.get(owner)
      if (!sum) return `${owner} is nobody`
      sum.bytes += bytes
      sum.entries++
    }
    const wrong = users.find(
      ({ user, used_bytes, used_entries }) =>
        used.get(user)!.bytes !== used_bytes || used.get(user)!.entries !== used_entries,
    )
    return wrong && `${wrong.user}: ${wrong.used_bytes} bytes, ${wrong.used_entries} entries`
  },
}

const quotasHold: FilesystemInvariant = {
  name: 'nobody has more than the quota',
  check: ({ users }) =>
    users.find((row) => row.used_bytes > row.quota_bytes || row.used_entries > row.quota_entries)?.user,
}

const sizesAreTrue: FilesystemInvariant = {
  name: 'sizes agree with contents, and each kind has what belongs to it and nothing else',
  check({ nodes, trash }) {
    const isWrong = ({ kind, bytes, text, target, photo, members }: Omit<Node, 'parent'>): boolean => {
      if ((kind === 'link') !== (target !== null) || (kind === 'photo') !== (photo !== null)) return true
      if ((kind === 'archive') !== members.length > 0 || (kind !== 'text' && text !== '')) return true
      if (kind === 'text') return bytes !== byteLength(text) || bytes > LIMITS.textBytes
      if (kind === 'archive') return bytes !== packedBytes(members) || members.length > LIMITS.members
      return kind !== 'photo' && bytes !== 0
    }
    return nodes.find(isWrong)?.path ?? trash.find(({ content }) => content.some(isWrong))?.trash_item
  },
}

const workingDirectoryExists: FilesystemInvariant = {
  name: 'the working directory is a directory that exists',
  check({ nodes, session, users }) {
    const { directory, user } = session.get('current')!
    return users.has(user) && nodes.get(directory)?.kind === 'directory' ? undefined : directory
  },
}

/** Whether the seed lets the current user change nothing on the way to the entry: no directory is writable or the user's own. */
function isOutOfHand(seed: FilesystemView, node: Node): boolean {
  const user = currentUser(seed)
  for (let parent = seed.nodes.get(node.parent); parent; parent = seed.nodes.get(parent.parent))
    if (parent.owner === user.user || permits(user, parent, WRITE)) return false
  return true
}

const protectedPlacesRest: FilesystemInvariant = {
  name: 'what others own, in places that only they may write, is as it was',
  check(now, seed) {
    const user = currentUser(seed)
    const isProtected = (node: Node): boolean =>
      node.owner !== user.user && !permits(user, node, WRITE) && isOutOfHand(seed, node)
    const before = seed.nodes.list(isProtected)
    const changed = before.find((node) => {
      const after = now.nodes.get(node.path)
      return after === undefined || JSON.stringify(after) !== JSON.stringify(node)
    })
    if (changed) return `${changed.path} has changed`
    const closed = before.filter(({ kind }) => kind === 'directory')
    const entered = closed.find(
      ({ path }) => now.nodes.by('parent', path).length !== seed.nodes.by('parent', path).length,
    )
    return entered && `something was added to ${entered.path}`
  },
}

const stickyPlacesHold: FilesystemInvariant = {
  name: 'in a sticky directory of others, what others own stays where it was',
  check(now, seed) {
    const { user } = currentUser(seed)
    for (const directory of seed.nodes.list(({ sticky, owner }) => sticky && owner !== user)) {
      const gone = seed.nodes
        .by('parent', directory.path)
        .find(({ owner, path }) => owner !== user && now.nodes.get(path)?.owner !== owner)
      if (gone) return `${gone.path} was removed`
    }
    return undefined
  },
}

const trashIsWhole: FilesystemInvariant = {
  name: 'an item of the trash is a tree of its own: complete, counted, and of one root',
  check({ trash }) {
    const broken = trash.find(({ name, bytes, content }) => {
      const kinds = new Map<string, string>()
      for (const { path, name: own, kind } of content) {
        const parent = path.slice(0, Math.max(0, path.length - own.length - 1))
        const isRoot = kinds.size === 0
        if (kinds.has(path) || (isRoot ? path !== name : kinds.get(parent) !== 'directory')) return true
        kinds.set(path, kind)
      }
      return bytes !== content.reduce((sum, entry) => sum + entry.bytes, 0)
    })
    return broken?.trash_item
  },
}

export const filesystemInvariants = [
  treeStaysATree,
  pathsStayShort,
  countersAgree,
  quotasHold,
  sizesAreTrue,
  workingDirectoryExists,
  protectedPlacesRest,
  stickyPlacesHold,
  trashIsWhole,
]
