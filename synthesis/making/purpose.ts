import type { Node } from '../../servers/kernel/tool-graph.js'

/**
 * Whether each call that changes something is followed, as its world says, by what people would do next. Worlds that say nothing of it leave it open.
 * @param chain  tools in the order in which they are called
 */
export function isPurposeful(chain: readonly Node[]): boolean {
  const changing = chain.filter(({ tool }) => !tool.annotations.readOnly)
  return changing.every(({ server, tool }, i) => {
    const before = changing.slice(0, i).findLast((other) => other.server === server)
    const words = before && server.callWords?.[before.tool.name]
    return words === undefined || (words.next ?? []).includes(tool.name)
  })
}
