import { speechOf } from '../../../servers/kernel/index.js'
import { type Node, nodeName } from '../graph.js'
import { itemAt } from '../item-at.js'

/**
 * Returns whether each call that changes something is followed by what people would do next, as its environment says. A person does not act
 * in two environments for one reason. Environments that say nothing about it leave it open.
 * @param chain  tools in the order in which they are called
 */
export function isPurposeful(chain: readonly Node[]): boolean {
  let before: Node | undefined
  for (const node of chain) {
    if (node.tool.annotations.readOnly) continue
    if (before && !isFollowedBy(before, node)) return false
    before = node
  }
  return true
}

function isFollowedBy({ environment, tool }: Node, next: Node): boolean {
  const { goal, next: followers = [] } = speechOf({ environment, tool })
  return goal === undefined || (environment === next.environment && followers.includes(next.tool.name))
}

/** Whether the last tool, if it only looks, may check what was changed before it. Of earlier look-ups a later call can still take something. */
export function endsWithCheck(chain: readonly Node[]): boolean {
  const last = chain.at(-1)
  if (!last?.tool.annotations.readOnly) return true
  const changed = changeBefore(chain, chain.length - 1)
  return changed < 0 || (checksOf(itemAt(chain, changed))?.includes(last.tool.name) ?? true)
}

/** The place of the last call before `at` that changes the same environment, or -1. */
export const changeBefore = (chain: readonly Node[], at: number): number =>
  chain.findLastIndex(
    ({ environment, tool }, i) => i < at && environment === itemAt(chain, at).environment && !tool.annotations.readOnly,
  )

/** The look-ups that the environment names as what people make after a call; `undefined` where it leaves that open. */
export const checksOf = (node: Node): readonly string[] | undefined => speechOf(node).checks

/** Returns whether a person continues after a look-up with this tool of another environment, as the first environment says. */
export const goesOn = (node: Node, elsewhere: Node): boolean =>
  speechOf(node).elsewhere?.includes(nodeName(elsewhere)) ?? false
