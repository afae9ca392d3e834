import { SwarmRefusal } from '../../proto/index.js'
import type { Channel, Gossip, Listener } from '../../swarm/index.js'
import type { SimHost } from './sim-host.js'
import type { SimNetwork } from './sim-network.js'

/** Gossip between simulated hosts: every message goes to every connected listener that has not seen it, and on from there. */
export interface SimGossip extends Gossip {
  listensOn(topic: string): boolean
  receive(message: Message): void
}

interface Message {
  readonly topic: string
  readonly data: Uint8Array
  readonly author: string
}

export function createSimGossip(network: SimNetwork, host: SimHost, alive: () => boolean): SimGossip {
  const joined = new Map<string, { readonly channel: Channel<unknown>; readonly listener: Listener<unknown> }>()
  const seen = new WeakSet<Message>()

  const pass = (message: Message): number => {
    seen.add(message)
    const peers = [...host.ends].filter(({ remote }) => remote.gossip.listensOn(message.topic))
    for (const { remote } of peers) {
      const { gossipLoss, gossipReorderMs } = network.link(host.machine, remote.machine)
      const lateMs = network.random.int(0, gossipReorderMs)
      const travelMs = network.travelMs(host.machine, remote.machine, message.data.length)
      if (network.random.chance(gossipLoss)) {
        network.blow('gossip lost')
        continue
      }
      network.time.after(travelMs + lateMs, () => {
        if (alive() && remote.alive && network.passes(host.machine, remote.machine)) remote.gossip.receive(message)
      })
    }
    return peers.length
  }

  /** Nobody is left out: a small network is one mesh. */
  const listeners: Gossip['listeners'] = ({ topic }) =>
    [...host.ends].filter(({ remote }) => remote.gossip.listensOn(topic)).map(({ remote }) => remote.peerId)

  return {
    listensOn: (topic) => alive() && joined.has(topic),

    receive(message) {
      const { topic, data, author } = message
      const here = joined.get(topic)
      if (!here || seen.has(message)) return
      seen.add(message)
      const { channel, listener } = here
      const judged = async (): Promise<void> => {
        if (data.length > channel.maxBytes) throw new SwarmRefusal('reject', 'too_large', `${data.length} B`)
        const value = await channel.parse(data)
        await listener.check?.(value, author)
        listener.deliver(value, author)
        pass(message)
      }
      judged().catch((why: unknown) => {
        if (!(why instanceof SwarmRefusal)) host.logger.error({ topic, error: why }, 'a gossip validator failed')
        else host.onRefusal({ peer: author, code: why.code, effect: why.effect, detail: why.detail, protocol: topic })
      })
    },

    join(channel, listener) {
      if (joined.has(channel.topic)) throw new Error(`already listening on ${channel.topic}`)
      joined.set(channel.topic, { channel, listener: listener as Listener<unknown> })
      return () => joined.delete(channel.topic)
    },

    async publish(channel, data) {
      if (data.length > channel.maxBytes)
        throw new SwarmRefusal('reject', 'too_large', `${data.length} > ${channel.maxBytes} B on ${channel.topic}`)
      return pass({ topic: channel.topic, data, author: host.peerId })
    },

    listeners,
    mesh: listeners,

    close: () => joined.clear(),
  }
}
