import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { DialableNodes } from '../../../coordinator/service/dialable-nodes.js'

const node = (number: number, note = '') => ({ peerId: `node ${number}`, number, note })
const open = () => new DialableNodes<ReturnType<typeof node>>(({ number }, shards) => number % shards)
/** All nodes that a choice can make. */
const chosen = ({ size, pick }: ReturnType<ReturnType<typeof open>['all']>): number[] =>
  Array.from({ length: size }, (_, i) => pick(i / size).number).sort((a, b) => a - b)

test('nodes are chosen among all, and among those of a shard, also after the number of shards has changed', () => {
  const nodes = open()
  for (let number = 0; number < 12; number++) nodes.set(node(number))
  assert.equal(chosen(nodes.ofShard(1, 4)), [1, 5, 9])
  nodes.delete('node 5')
  nodes.delete('node 11')
  nodes.set(node(13))
  assert.equal(chosen(nodes.ofShard(1, 4)), [1, 9, 13])
  assert.equal(chosen(nodes.ofShard(1, 2)), [1, 3, 7, 9, 13])
  assert.equal(chosen(nodes.all()), [0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 13])
  for (let number = 0; number <= 13; number++) nodes.delete(`node ${number}`)
  assert.is(nodes.all().size + nodes.ofShard(0, 2).size, 0)
})

test('a node that is set again replaces its earlier entry', () => {
  const nodes = open()
  nodes.set(node(3, 'old'))
  assert.is(nodes.ofShard(1, 2).size, 1)
  nodes.set(node(3, 'new'))
  assert.is(nodes.all().size, 1)
  assert.is(nodes.all().pick(0.99).note, 'new')
  assert.is(nodes.ofShard(1, 2).pick(0).note, 'new')
})

test.run()
