import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { VerdictDigest } from '../../../proto/index.js'
import { type SeededRandom, seededRandom } from '../../../servers/kernel/index.js'
import type { Gossip, Listener, ReceivedGroup, SwarmHost } from '../../../swarm/index.js'
import { createShardHub, createShardMember, SHARD_CHANGE_MS } from '../../../swarm/shards.js'

/** Gossip that loses nothing: what matters here is who listens where, and when. */
function createTopics() {
  const listeners = new Map<string, Map<string, Listener<unknown>>>()
  const gossipOf = (peer: string): Gossip => ({
    join(channel, listener) {
      const there = listeners.get(channel.topic) ?? new Map<string, Listener<unknown>>()
      assert.not(there.has(peer), 'nobody joins a topic twice')
      listeners.set(channel.topic, there.set(peer, listener as Listener<unknown>))
      return () => there.delete(peer)
    },
    async publish({ topic }, data) {
      const others = [...(listeners.get(topic) ?? [])].filter(([other]) => other !== peer)
      for (const [, listener] of others) listener.deliver(JSON.parse(Buffer.from(data).toString()), peer)
      return others.length
    },
    listeners: ({ topic }) => [...(listeners.get(topic)?.keys() ?? [])].filter((other) => other !== peer),
    mesh: () => [],
    close: () => undefined,
  })
  return { gossipOf, joined: () => [...listeners.values()].reduce((sum, there) => sum + there.size, 0) }
}

/** A clock that the test moves. */
function createManualClock() {
  let nowMs = 0
  const waits = new Set<{ readonly atMs: number; readonly done: () => void }>()
  const clock = {
    sleep: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        const wait = { atMs: nowMs + ms, done: resolve }
        waits.add(wait)
        signal?.addEventListener('abort', () => {
          waits.delete(wait)
          reject(signal.reason)
        })
      }),
  } as SwarmHost['clock']
  return {
    clock,
    async pass(ms: number): Promise<void> {
      nowMs += ms
      for (const wait of waits) if (wait.atMs <= nowMs && waits.delete(wait)) wait.done()
      for (let turns = 0; turns < 4; turns++) await Promise.resolve()
    },
  }
}

const NODES = 24
const STEP_MS = 1000
/** A node hears of a change within so many steps: the coordinator repeats it every five seconds. */
const HEARS_WITHIN = 50

async function play(random: SeededRandom): Promise<void> {
  const { gossipOf, joined } = createTopics()
  const { clock, pass } = createManualClock()
  const hostOf = (peerId: string) => ({ clock, gossip: gossipOf(peerId), peerId, runId: 'run' })
  const received: string[] = []
  const hub = createShardHub(hostOf('run'), { deliver: (group: ReceivedGroup) => received.push(String(group)) })
  const nodes = Array.from({ length: NODES }, (_, i) => {
    const verdicts: string[] = []
    const member = createShardMember(hostOf(`node ${i}`))
    member.follow({ round: 0, shards: 1 })
    member.join('groups', { deliver: () => undefined })
    member.join('verdicts', { deliver: (digest: VerdictDigest) => verdicts.push(String(digest)) })
    const news: { readonly atStep: number; readonly round: number; readonly shards: number }[] = []
    return { name: `node ${i}`, member, verdicts, news }
  })
  const bytes = (text: string): Uint8Array => Buffer.from(JSON.stringify(text))
  const said: string[] = []
  const judged = new Map<string, string[]>()
  for (let step = 0, round = 0; step < 400; step++) {
    if (random.chance(0.05)) {
      round += 1
      const shards = random.pick([1, 2, 4, 8, 16])
      hub.follow(shards)
      for (const { news } of nodes) news.push({ atStep: step + random.int(0, HEARS_WITHIN), round, shards })
    }
    // Later news may overtake earlier news.
    for (const { member, news } of nodes) for (const one of news) if (one.atStep === step) member.follow(one)
    // Late news of an earlier round changes nothing.
    if (random.chance(0.1)) random.pick(nodes).member.follow({ round: -1, shards: 1024 })
    const author = random.pick(nodes)
    const group = `group ${step}`
    said.push(group)
    await author.member.publish(bytes(group))
    const owner = random.pick(nodes)
    const verdict = `verdict ${step}`
    judged.set(owner.name, [...(judged.get(owner.name) ?? []), verdict])
    await hub.publishVerdicts(owner.name, bytes(verdict))
    await pass(STEP_MS)
  }
  assert.equal(new Set(received), new Set(said), 'every announcement reaches the coordinator')
  for (const { name, verdicts } of nodes) {
    const own = new Set(judged.get(name) ?? [])
    assert.equal(new Set(verdicts.filter((verdict) => own.has(verdict))), own, `every verdict reaches ${name}`)
  }
  // When the last change is over, a node listens in one shard, and the coordinator in each.
  for (const { member, news } of nodes) for (const one of news) member.follow(one)
  for (let i = 0; i < 3; i++) await pass(SHARD_CHANGE_MS)
  assert.is(joined(), 2 * NODES + hub.shards)
  for (const { member } of nodes) member.close()
  hub.close()
  assert.is(joined(), 0)
}

for (let seed = 1; seed <= 20; seed++)
  test(`no announcement and no verdict is lost while the number of shards changes (seed ${seed})`, () =>
    play(seededRandom(seed)))

test.run()
