import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { lookedUp, type Node, nodeName } from '../../../servers/kernel/tool-graph.js'
import { SPLITS } from '../../../tasks/dataset/profile.js'
import { chainIndex, type WiredChain } from '../../../tasks/synthesis/making/chain-index.js'
import { isPurposeful } from '../../../tasks/synthesis/making/purpose.js'
import { contextOf } from '../../../tasks/synthesis/making/recipe.js'
import { type Chain, chainName, splitOf } from '../../../tasks/synthesis/making/split.js'
import { kindsStated } from '../../../tasks/synthesis/making/stated-kinds.js'
import { canBeAskedInTurns, wire } from '../../../tasks/synthesis/making/wiring.js'

const test = suite('the index of chains')
const context = await contextOf({
  environments: ['banking', 'calendar', 'crm', 'maps'],
  heldOutEnvironments: [],
  profile: 'paper',
  seed: 5,
})
const { graph } = context
const index = chainIndex(graph, new Set())
const LENGTHS = [2, 3, 4, 5]
const chainOf = (...names: string[]): Chain =>
  names.map((name) => graph.nodes.find((node) => nodeName(node) === name) as Chain[number])
const all = (crossing: boolean): WiredChain[] =>
  SPLITS.flatMap((split) => LENGTHS.flatMap((length) => index.of({ length, split, crossing })))
const names = (chains: readonly WiredChain[]): Set<string> => new Set(chains.map(({ nodes }) => chainName(nodes)))

const isLookedUp = (node: Node, earlier: Chain): boolean =>
  lookedUp(node, false).every(([, kind]) => earlier.some((one) => kindsStated(one, false).has(kind)))

test('has chains of every length and split, each of which looks up what it needs before it is used', () => {
  for (const split of SPLITS)
    for (const length of LENGTHS)
      for (const { nodes } of index.of({ length, split, crossing: false })) {
        const name = chainName(nodes)
        assert.is(splitOf(nodes), split, name)
        assert.is(nodes.length, length, name)
        assert.ok(isPurposeful(nodes), name)
        assert.ok(
          nodes.every((node, i) => isLookedUp(node, nodes.slice(0, i))),
          name,
        )
        assert.is(new Set(nodes.map(({ environment }) => environment)).size, 1, name)
      }
  assert.equal([...new Set(all(false).map(({ nodes }) => nodes.length))].sort(), LENGTHS)
})

test('gives of a tool the chains that run through the tool', () => {
  const node = graph.nodes.find((one) => nodeName(one) === 'banking:freeze_card') as Chain[number]
  const query = { length: 3, split: 'train', crossing: false } as const
  const through = index.through(node, query)
  assert.ok(through.length > 0)
  assert.equal(names(through), names(index.of(query).filter(({ nodes }) => nodes.includes(node))))
})

test('continues in another environment where the first one declares it', () => {
  const crossing = names(all(true))
  assert.ok([...crossing].some((name) => name.startsWith('crm:find_companies>maps:')))
  for (const { nodes } of all(true)) assert.is(new Set(nodes.map(({ environment }) => environment)).size, 2)
})

test('has no chain of two errands, and none with a search of which nothing is used', () => {
  const known = names(all(false))
  assert.ok(known.has('banking:list_accounts>list_cards>freeze_card'))
  assert.not.ok(known.has('banking:list_accounts>find_payee>list_cards'), 'nothing is done with the payee')
})

test('stays with one thing: who has looked at an account lists the cards of this account', () => {
  const { keys, things } = wire(
    chainOf('banking:list_accounts', 'banking:get_balance', 'banking:list_cards'),
  ) as WiredChain['wiring']
  assert.equal(keys[1], [['account', 0]])
  assert.equal(keys[2], [['account', 0]])
  assert.is(things[0]?.source, 0)
  assert.is(wire(chainOf('banking:list_cards', 'banking:freeze_card')), undefined, 'nothing shows the account')
})

test('knows which turns a chain cannot be asked for in: nobody asks for a balance and moves money in the same breath', () => {
  const chain = chainOf('banking:list_accounts', 'banking:get_balance', 'banking:transfer_money')
  const wiring = wire(chain) as WiredChain['wiring']
  assert.not.ok(canBeAskedInTurns(chain, wiring, [[0], [1, 2]]))
  assert.ok(canBeAskedInTurns(chain, wiring, [[0], [1], [2]]))
})

test.run()
