import { type GossipSub, gossipsub, type Message, TopicValidatorResult } from '@chainsafe/libp2p-gossipsub'
import { createTopicScoreParams } from '@chainsafe/libp2p-gossipsub/score'
import { LIMITS, SwarmRefusal } from '../proto/index.js'
import { TransportError } from './errors.js'
import type { SwarmLogger } from './logger.js'
import type { OnRefusal } from './refusal-event.js'

/** One kind of gossip: its topic, its own size cap and its parser. */
export interface Channel<T> {
  readonly topic: string
  /** Far below gossipsub's frame limit, which drops silently on the sender and for good on the receiver. */
  readonly maxBytes: number
  /** Size and signature included. @throws SwarmRefusal */
  parse(data: Uint8Array): Promise<T>
}

export interface Listener<T> {
  /**
   * Further checks before a message is forwarded: open round, known lease, unseen nonce. Under a millisecond.
   * @throws SwarmRefusal  anything else that is thrown counts as our own fault and costs the sender nothing
   */
  check?(value: T, from: string): void | Promise<void>
  /** A message that passed; called once per message. */
  deliver(value: T, from: string): void
}

export interface Gossip {
  /** Listens on a channel. @returns  stops listening */
  join<T>(channel: Channel<T>, listener: Listener<T>): () => void
  /**
   * Sends sealed bytes to the mesh.
   * @returns  how many peers they were sent to, 0 when nobody listens; not how many received them
   * @throws SwarmRefusal `too_large` for what every receiver would refuse; TransportError `busy` when too many sends are
   *         under way
   */
  publish(channel: Channel<unknown>, data: Uint8Array): Promise<number>
  /** Peers that listen on the channel, as far as known. */
  listeners(channel: Pick<Channel<unknown>, 'topic'>): readonly string[]
  /** Those of them that messages of others are passed on to at once; to the rest only what they ask for. */
  mesh(channel: Channel<unknown>): readonly string[]
  close(): void
}

export interface PubsubOptions {
  readonly topics: readonly string[]
  /** Tells those that it drops from its mesh of other peers; for the well-connected coordinator. */
  readonly exchangePeers: boolean
  /** Whose word about other peers is taken: the run's coordinator. */
  readonly bootstrapper: string
  /** Our own opinion of a peer, 0 or negative. */
  scoreOf(peer: string): number
}

/**
 * What the bootstrapper's standing begins with (our own opinion counts ten times), and the score from which on a peer's word about
 * others is taken. Nobody else comes near: what all topics together may add is 10.
 * https://github.com/libp2p/specs/blob/master/pubsub/gossipsub/gossipsub-v1.1.md#recommendations-for-network-operators
 */
const BOOTSTRAPPER_SCORE = 100
const ACCEPT_PEERS_SCORE = 500

/** The pubsub service with the settings that this protocol needs. */
export function swarmPubsub(options: PubsubOptions) {
  const topicScore = () =>
    createTopicScoreParams({
      // Ten rejected messages graylist a peer; the default needs hundreds.
      invalidMessageDeliveriesWeight: -10,
      // The defaults expect 20 messages per heartbeat window and punish a quiet topic.
      meshMessageDeliveriesWeight: 0,
      meshFailurePenaltyWeight: 0,
    })
  return gossipsub({
    // The default sends everything to every subscriber: too much for a home uplink.
    floodPublish: false,
    D: 6,
    doPX: options.exchangePeers,
    allowedTopics: [...options.topics],
    maxOutboundBufferSize: 16 << 20,
    runOnLimitedConnection: true,
    // Above anything an honest peer sends at our message rates, below the default of 5000: a frame over the limit
    // silences its sender for good.
    decodeRpcLimits: {
      maxSubscriptions: 64,
      maxMessages: 1024,
      maxIhaveMessageIDs: 2048,
      maxIwantMessageIDs: 2048,
      maxIdontwantMessageIDs: 512,
      maxControlMessages: 256,
      maxPeerInfos: 16,
    },
    scoreThresholds: { acceptPXThreshold: ACCEPT_PEERS_SCORE },
    scoreParams: {
      appSpecificScore: (peer) => options.scoreOf(peer) + (peer === options.bootstrapper ? BOOTSTRAPPER_SCORE : 0),
      // Off: an attacker with many keys would shut out the honest neighbours behind the same address.
      IPColocationFactorWeight: 0,
      topics: Object.fromEntries(options.topics.map((topic) => [topic, topicScore()])),
    },
  })
}

/** The only place that knows the pubsub library's messages and what it makes of them. */
export function createGossip(pubsub: GossipSub, onRefusal: OnRefusal, logger: SwarmLogger): Gossip {
  /** What the validator parsed, until the same message object is delivered. */
  const parsed = new WeakMap<Message, unknown>()
  const listeners = new Map<string, (value: unknown, from: string) => void>()
  let publishing = 0

  const onMessage = (event: CustomEvent<{ msg: Message }>): void => {
    const { msg } = event.detail
    const deliver = listeners.get(msg.topic)
    if (!deliver || !parsed.has(msg)) return
    try {
      deliver(parsed.get(msg), authorOf(msg))
    } catch (error) {
      logger.error({ topic: msg.topic, error }, 'a gossip listener failed')
    }
  }
  pubsub.addEventListener('gossipsub:message', onMessage)

  const validate = async <T>(channel: Channel<T>, listener: Listener<T>, relay: string, msg: Message) => {
    const from = authorOf(msg)
    try {
      const { length } = msg.data
      if (length > channel.maxBytes) throw new SwarmRefusal('reject', 'too_large', `${length} > ${channel.maxBytes} B`)
      const value = await channel.parse(msg.data)
      await listener.check?.(value, from)
      parsed.set(msg, value)
      return TopicValidatorResult.Accept
    } catch (why) {
      if (!(why instanceof SwarmRefusal)) {
        logger.error({ topic: channel.topic, from, error: why }, 'a gossip validator failed')
        return TopicValidatorResult.Ignore
      }
      const { code, effect, detail } = why
      logger.debug({ topic: channel.topic, from, relay, code, detail }, 'gossip refused')
      onRefusal({ peer: from, code, effect, detail, protocol: channel.topic })
      return effect === 'reject' ? TopicValidatorResult.Reject : TopicValidatorResult.Ignore
    }
  }

  const leave = (topic: string): void => {
    if (!listeners.delete(topic)) return
    pubsub.unsubscribe(topic)
    pubsub.topicValidators.delete(topic)
  }

  return {
    join(channel, listener) {
      if (listeners.has(channel.topic)) throw new Error(`already listening on ${channel.topic}`)
      type Value = Parameters<typeof listener.deliver>[0]
      listeners.set(channel.topic, (value, from) => listener.deliver(value as Value, from))
      pubsub.topicValidators.set(channel.topic, (relay, msg) => validate(channel, listener, relay.toString(), msg))
      pubsub.subscribe(channel.topic)
      return () => leave(channel.topic)
    },

    async publish(channel, data) {
      if (data.length > channel.maxBytes) {
        throw new SwarmRefusal('reject', 'too_large', `${data.length} > ${channel.maxBytes} B on ${channel.topic}`)
      }
      if (publishing >= LIMITS.publishesInFlight.value)
        throw new TransportError('busy', `${publishing} messages under way`)
      publishing += 1
      try {
        const { recipients } = await pubsub.publish(channel.topic, data)
        return recipients.length
      } catch (why) {
        if (why instanceof Error && why.message.startsWith('PublishError.NoPeersSubscribed')) return 0
        throw why
      } finally {
        publishing -= 1
      }
    },

    listeners: (channel) => pubsub.getSubscribers(channel.topic).map((peer) => peer.toString()),
    mesh: (channel) => (pubsub as GossipSub & MeshRecords).getMeshPeers(channel.topic),

    close() {
      for (const topic of [...listeners.keys()]) leave(topic)
      pubsub.removeEventListener('gossipsub:message', onMessage)
    },
  }
}

/** Public members of gossipsub's class that its interface leaves out. */
interface MeshRecords {
  getMeshPeers(topic: string): readonly string[]
  readonly peers: ReadonlyMap<string, unknown>
  readonly streamsOutbound: Map<string, unknown>
}

/**
 * Drops streams of peers that are gone. gossipsub (17.1.1) opens one to every peer that opens one to it; if the peer hangs up
 * meanwhile, the stream is kept, with its connection, for good: some 90 KiB for every stranger.
 */
export function dropLostStreams(pubsub: GossipSub): void {
  const { peers, streamsOutbound } = pubsub as GossipSub & MeshRecords
  for (const peer of streamsOutbound.keys()) if (!peers.has(peer)) streamsOutbound.delete(peer)
}

/** Pubsub itself demands a signature, so every message that reaches a validator has an author. */
const authorOf = (msg: Message): string => (msg.type === 'signed' ? msg.from.toString() : 'unsigned')
