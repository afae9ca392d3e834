import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createSeedStateCache } from '../../../servers/kernel/index.js'
import { type Node, nodeName, toolGraph } from '../../../tasks/synthesis/graph.js'
import { chainIndex } from '../../../tasks/synthesis/making/chain-index.js'
import { fittingChains } from '../../../tasks/synthesis/making/fitting-chains.js'
import { stateIndex } from '../../../tasks/synthesis/making/state-index.js'
import { CATALOGUE } from '../../support/spoken-catalogue.js'

const graph = toolGraph(['iot_devices', 'filesystem'].map((name) => CATALOGUE.get(name)!))
const node = (name: string): Node => graph.nodes.find((one) => nodeName(one) === name)!
const states = [4, 8, 12, 16].map((seed) => stateIndex(seed, createSeedStateCache()))

test('a call is set up by another only if it fails without the other', () => {
  const [reconnect, update] = [node('iot_devices:reconnect_device'), node('iot_devices:update_firmware')]
  assert.ok(states.some((state) => state.setsUp(reconnect, update)))
  // Files can be found without a change of the working directory.
  const [change, find] = [node('filesystem:change_directory'), node('filesystem:find_files')]
  assert.not.ok(states.some((state) => state.setsUp(change, find)))
})

test('chains that can carry a conversation have a way to ask for them in turns, and are listed once', () => {
  const index = chainIndex(graph, new Set())
  const query = { length: 3, split: 'train', crossing: false } as const
  const shape = { requests: 2, information: 'complete', recovery: 'other-tool' } as const
  const { all, through } = fittingChains(index, query, shape)
  assert.is(fittingChains(index, query, shape).all, all)
  assert.ok(all.length > 0 && all.length < index.of(query).length)
  for (const { nodes, partings } of all) {
    assert.ok(partings.length > 0)
    for (const parts of partings) assert.equal([parts.length, parts.flat()], [2, [0, 1, 2]])
    for (const one of nodes) assert.ok(through(one).some((chain) => chain.nodes === nodes))
  }
})

test.run()
