import { speechOf } from '../../../servers/kernel/index.js'
import type { Node } from '../graph.js'
import type { Moment } from './speech.js'
import { goalsOf } from './tool-goals.js'

/** Of an environment's further ways every fourth is kept for held-out tasks, so that these are in words that training has not heard. */
const isHeldOut = (_: string, index: number): boolean => index % 4 === 3

/** The clauses that can ask for a call, in the order in which they are tried; nothing is chosen in them yet. */
export const clausesFor = (node: Node, moment: Moment): string[] => drawn(speechOf(node).ask, node, 'ask', moment)

/** Returns the goals that a user can name for a call, in the order in which they are tried. */
export const goalsFor = (node: Node, moment: Moment): string[] => drawn(goalsOf(node), node, 'goals', moment)

function drawn(
  plain: readonly string[],
  node: Node,
  kind: 'ask' | 'goals',
  { random, heldOut = false }: Moment,
): string[] {
  const further = speechOf(node).further[kind]
  const kept = heldOut ? further.filter(isHeldOut) : []
  const others = further.filter((way, index) => !isHeldOut(way, index))
  return [...random.shuffle(kept), ...random.shuffle([...plain, ...others])]
}
