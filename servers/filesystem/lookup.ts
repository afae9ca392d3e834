import { directoryAt, fileAt } from './changes.js'
import { below, currentUser } from './paths.js'
import { listingObstacle, readObstacle } from './rules.js'
import type { Context, Node } from './schema.js'

/** The text file a path leads to; ends the call if it is something else. */
export function textAt(context: Context, path: string): Node {
  const node = fileAt(context, path)
  return node.kind === 'text' ? node : context.fail('not_text', `${node.path} is a ${node.kind}, not a text file.`)
}

/** The text file a path leads to; ends the call if it is something else or may not be read. */
export function readableText(context: Context, path: string): Node {
  const node = textAt(context, path)
  context.unless(readObstacle(currentUser(context.db), node))
  return node
}

/** Everything beneath a directory that the current user can get at, unordered. */
export function reachable(context: Context, directory: string): Node[] {
  const node = directoryAt(context, directory)
  const user = currentUser(context.db)
  context.unless(listingObstacle(user, node))
  return below(context.db, user, node)
}
