import { type SpokenEnvironment, speechOf } from '../../../servers/kernel/index.js'
import { type Node, nodeName } from '../graph.js'

/**
 * Tools that might pass for one of those in the chain: they serve the same wish, or two words of their names agree. Who is told that one of them
 * is not there would ask why not the other.
 */
export function alike(chain: readonly Node[], environments: readonly SpokenEnvironment[]): string[] {
  const wanted = chain.map((node) => ({ wishes: wishesOf(node), words: new Set(wordsOf(node.tool.name)) }))
  return environments
    .flatMap((environment) => environment.tools.map((tool) => ({ environment, tool })))
    .filter((node) => {
      const [wishes, words] = [wishesOf(node), wordsOf(node.tool.name)]
      return wanted.some(
        (one) =>
          words.filter((word) => one.words.has(word)).length >= 2 || wishes.some((wish) => one.wishes.includes(wish)),
      )
    })
    .map(nodeName)
}

const wishesOf = (node: Node): readonly string[] => speechOf(node).wishes ?? []

const wordsOf = (name: string): string[] => name.split('_').map((word) => word.replace(/s$/, ''))
