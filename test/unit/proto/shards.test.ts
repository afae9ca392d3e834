import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LIMITS, SHARD_COUNTS, SwarmRefusal, shardOf, shardsFor, topicsOf } from '../../../proto/index.js'
import { readShards } from '../../../proto/names.js'

const RUN = '12D3KooWRun'
const peers = Array.from({ length: 4096 }, (_, i) => `12D3KooW${i}`)
const settled = (nodes: number, current: number): number => {
  let shards = current
  for (let manifests = 0; manifests < 20; manifests++)
    shards = shardsFor(nodes, { current: shards, mayShrink: true, shardNodes: 128 })
  return shards
}

test('a key has the same shard on every machine, and another place in another run', () => {
  assert.equal(shardOf(RUN, '12D3KooWAnn', 1024), { shards: 1024, shard: 309 })
  assert.is.not(shardOf('12D3KooWOther', '12D3KooWAnn', 1024).shard, 309)
  assert.equal(shardOf(RUN, '12D3KooWAnn', 1), { shards: 1, shard: 0 })
})

test('shards have similar sizes, and each splits into two when their number doubles', () => {
  for (const shards of SHARD_COUNTS.slice(0, 6)) {
    const sizes = new Map<number, number>()
    for (const peer of peers) {
      const { shard } = shardOf(RUN, peer, shards)
      sizes.set(shard, (sizes.get(shard) ?? 0) + 1)
      assert.is(shardOf(RUN, peer, 2 * shards).shard % shards, shard)
    }
    assert.is(sizes.size, shards)
    for (const size of sizes.values())
      assert.ok(size > (0.5 * peers.length) / shards && size < (1.6 * peers.length) / shards)
  }
})

test('the number of shards follows the number of nodes, and keeps a shard between half and one and a half of its size', () => {
  for (const [nodes, shards] of [
    [0, 1],
    [192, 1],
    [193, 2],
    [1000, 8],
    [10_000, 64],
    [100_000, 1024],
    [10_000_000, LIMITS.gossipShards.value],
  ] as const) {
    assert.is(settled(nodes, 1), shards, `${nodes} nodes`)
    assert.ok(settled(nodes, 1024) >= shards)
  }
  for (let nodes = 0; nodes < 3000; nodes += 7)
    for (const current of SHARD_COUNTS) {
      const shards = settled(nodes, current)
      assert.is(settled(nodes, shards), shards, 'the same number of nodes changes it once')
      if (shards > 1) assert.ok(nodes / shards >= 64, `${nodes} nodes in ${shards} shards`)
      assert.ok(nodes / shards <= 192)
    }
})

test('the number shrinks by one step, and not without a new version', () => {
  assert.is(shardsFor(0, { current: 64, mayShrink: true, shardNodes: 128 }), 32)
  assert.is(shardsFor(0, { current: 64, mayShrink: false, shardNodes: 128 }), 64)
})

test('a message with any other number of shards is malformed', () => {
  for (const value of [0, 3, 2048, 1.5])
    assert.throws(
      () => readShards(value),
      (why: unknown) => why instanceof SwarmRefusal && why.code === 'malformed',
    )
})

test('nodes of different shards share the topics of the policy and of addresses only', () => {
  const [one, other] = [topicsOf(RUN, { shards: 4, shard: 1 }), topicsOf(RUN, { shards: 4, shard: 2 })]
  assert.is(one.policy, other.policy)
  assert.is(one.addresses, other.addresses)
  assert.is(one.groups, `/prove/${RUN}/groups/2/4/1`)
  assert.is(other.verdicts, `/prove/${RUN}/verdicts/2/4/2`)
})

test.run()
