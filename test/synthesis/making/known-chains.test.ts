import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { seededRandom } from '../../../servers/kernel/index.js'
import { lookedUp, type Node } from '../../../servers/kernel/tool-graph.js'
import { SPLITS } from '../../../tasks/dataset/profile.js'
import { knownChain } from '../../../tasks/synthesis/making/known-chains.js'
import { isPurposeful } from '../../../tasks/synthesis/making/purpose.js'
import { contextOf } from '../../../tasks/synthesis/making/recipe.js'
import { type Chain, chainName, splitOf } from '../../../tasks/synthesis/making/split.js'
import { kindsStated } from '../../../tasks/synthesis/making/stated-kinds.js'

const test = suite('listed chains')
const context = await contextOf({
  environments: ['banking', 'calendar', 'vehicle'],
  heldOutEnvironments: [],
  profile: 'paper',
  seed: 5,
})
const any = (): boolean => true

const isLookedUp = (node: Node, earlier: Chain): boolean =>
  [...lookedUp(node, false).values()].every((kind) => earlier.some((one) => kindsStated(one, false).has(kind)))

test('belong to the split that is asked for, and look up what they need before it is used', () => {
  const random = seededRandom(3)
  const lengths = new Set<number>()
  for (const split of SPLITS)
    for (const length of [2, 3, 4, 5])
      for (const node of context.graph.nodes) {
        const chain = knownChain(node, length, split, context, any, random)
        if (!chain) continue
        const name = chainName(chain)
        lengths.add(chain.length)
        assert.is(splitOf(chain), split, name)
        assert.is(chain.length, length, name)
        assert.ok(isPurposeful(chain), name)
        assert.ok(
          chain.every((tool, i) => isLookedUp(tool, chain.slice(0, i))),
          name,
        )
        assert.ok(
          chain.every(({ environment }) => environment === node.environment),
          'a chain stays in the world of the tool',
        )
        if (split === 'train') assert.ok(chain.includes(node), 'a chain of training is about its tool')
      }
  assert.equal([...lengths].sort(), [2, 3, 4, 5])
})

test('are only those that are of use', () => {
  const [node] = context.graph.nodes
  assert.is(
    knownChain(node!, 3, 'train', context, () => false, seededRandom(3)),
    undefined,
  )
})

test.run()
