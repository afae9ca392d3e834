import { refusal, SHARD_COUNTS, shardOf, topicsOf } from '../../../proto/index.js'
import { createShardMember } from '../../../swarm/index.js'
import { happens, networkAttack, refusalsOf } from '../network-attack.js'
import type { Participant } from '../participant.js'
import { unchecked } from '../raw-requests.js'

/** As many as the coordinator's mesh of a topic takes. */
const KEYS = 12

/** Takes a place in the mesh, and passes nothing on. */
function swallow({ host }: Participant): void {
  const shard = createShardMember(host)
  const check = (): never => {
    throw refusal('overloaded')
  }
  shard.join('groups', { check, deliver: () => undefined })
  shard.join('verdicts', { check, deliver: () => undefined })
}

export const eclipsedShard = networkAttack({
  name: 'eclipsed-shard',
  about: `joins the gossip shard of other nodes with ${KEYS} keys that forward no message`,
  withGroup: true,
  messages: KEYS + 1,
  async carryOut(arena, node, _, signal) {
    const from = arena.run.coordinator.lines.length
    const { runId } = arena.run
    const keys: Participant[] = []
    try {
      while (keys.length < KEYS) keys.push(await arena.recruit())
      for (const key of keys) swallow(key)
      const { groups } = topicsOf(runId)
      const joined = await happens(
        () => keys.every(({ host }) => host.gossip.listeners({ topic: groups }).includes(runId)),
        signal,
      )
      const shards = SHARD_COUNTS[1]!
      const { shard } = shardOf(runId, node.peerId, shards)
      const foreign = topicsOf(runId, { shards, shard: (shard + 1) % shards }).groups
      node.host.gossip.join(unchecked(foreign), { deliver: () => undefined })
      const refused = await happens(() => refusalsOf(arena, node.peerId, from).includes('malformed'), signal)
      return [
        ...(joined ? [] : ['the keys did not find the coordinator in the shard']),
        ...(refused ? [] : ['a key joined a shard that is not its own']),
      ]
    } finally {
      for (const key of keys) await key.close()
    }
  },
})
