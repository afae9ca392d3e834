import {
  type GossipSub,
  gossipsub,
  type Message,
  type SubscriptionChangeData,
  TopicValidatorResult,
} from '@chainsafe/libp2p-gossipsub'
import { createTopicScoreParams } from '@chainsafe/libp2p-gossipsub/score'
import { LIMITS, SwarmRefusal } from '../proto/index.js'
import { TransportError } from './errors.js'
import type { SwarmLogger } from './logger.js'
import type { OnRefusal } from './refusal-event.js'

/** One kind of gossip: topic, size limit and parser. */
export interface Channel<T> {
  readonly topic: string
  /** Far below gossipsub's frame limit: the sender drops larger frames silently, and the receiver drops the sender for good. */
  readonly maxBytes: number
  /** Parses a message and checks its size and signature. @throws SwarmRefusal */
  parse(data: Uint8Array): Promise<T>
}

export interface Listener<T> {
  /**
   * Checks a message before it is forwarded: open round, known lease, new nonce. Must take less than a millisecond.
   * @throws SwarmRefusal  any other error counts as a fault of this program and does not lower the sender's score
   */
  check?(value: T, from: string): void | Promise<void>
  /** Receives each message that passed the checks, once. */
  deliver(value: T, from: string): void
}

/** Gossip in this project's own types. */
export interface Gossip {
  /** Subscribes to a channel. @returns  unsubscribes */
  join<T>(channel: Channel<T>, listener: Listener<T>): () => void
  /**
   * Sends sealed bytes to the mesh.
   * @returns  the number of peers that the bytes were sent to, 0 without subscribers; not the number that received them
   * @throws SwarmRefusal `too_large` if every receiver would refuse the message; TransportError `busy` if too many messages are
   *         being sent
   */
  publish(channel: Channel<unknown>, data: Uint8Array): Promise<number>
  /** Returns the known subscribers of a channel. */
  listeners(channel: Pick<Channel<unknown>, 'topic'>): readonly string[]
  /** Returns the mesh peers, which get each message at once. Other subscribers get the messages that they ask for. */
  mesh(channel: Channel<unknown>): readonly string[]
  close(): void
}

/** Memory for the subscriptions of one peer. gossipsub counts a kilobyte each, and a node has at most six during a change of the shards. */
const SUBSCRIPTION_BYTES = 16 << 10

export interface PubsubOptions {
  readonly topics: readonly string[]
  /** Names other peers to a peer that is pruned from the mesh (peer exchange). For the well-connected coordinator. */
  readonly exchangePeers: boolean
  /** The only peer whose peer exchange is accepted: the run's coordinator. */
  readonly bootstrapper: string
  /** Returns the application's score of a peer, 0 or negative. */
  scoreOf(peer: string): number
}

/**
 * The application score of the bootstrapper (gossipsub multiplies it by ten), and the score from which peer exchange is accepted. No
 * other peer can reach it: all topics together add at most 10.
 * https://github.com/libp2p/specs/blob/master/pubsub/gossipsub/gossipsub-v1.1.md#recommendations-for-network-operators
 */
const BOOTSTRAPPER_SCORE = 100
const ACCEPT_PEERS_SCORE = 500

/** Creates the pubsub service with the settings of this protocol. */
export function swarmPubsub(options: PubsubOptions) {
  const topicScore = () =>
    createTopicScoreParams({
      // Ten rejected messages graylist a peer. The default needs hundreds.
      invalidMessageDeliveriesWeight: -10,
      // The defaults expect 20 messages per heartbeat window and punish a quiet topic.
      meshMessageDeliveriesWeight: 0,
      meshFailurePenaltyWeight: 0,
    })
  return gossipsub({
    // The default sends each message to every subscriber, which is too much for a home uplink.
    floodPublish: false,
    D: 6,
    doPX: options.exchangePeers,
    allowedTopics: [...options.topics],
    maxTopicBytesPerPeer: SUBSCRIPTION_BYTES,
    maxOutboundBufferSize: 16 << 20,
    // Above anything that an honest peer sends at this protocol's rates, below the default of 5000. A frame over the limit
    // silences its sender for good.
    decodeRpcLimits: {
      // The coordinator subscribes to every shard, of two numbers of shards during a change.
      maxSubscriptions: 64 + 2 * LIMITS.gossipShards.value,
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
      // Off, because an attacker with many keys could exclude honest nodes behind the same address.
      IPColocationFactorWeight: 0,
      topics: Object.fromEntries(options.topics.map((topic) => [topic, topicScore()])),
    },
  })
}

/** Settings of the wrapper. */
export interface GossipParts {
  readonly onRefusal: OnRefusal
  readonly logger: SwarmLogger
  /** Whether a peer belongs to a topic. */
  readonly belongs: (peer: string, topic: string) => boolean
  /** Called for a peer that subscribed to a topic to which it does not belong. */
  readonly onForeign: (peer: string) => void
}

/** Wraps the pubsub library. No other function reads its messages. */
export function createGossip(pubsub: GossipSub, { onRefusal, logger, belongs, onForeign }: GossipParts): Gossip {
  /** Values that the validator has parsed, until the same message object is delivered. */
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

  const onSubscription = ({ detail }: CustomEvent<SubscriptionChangeData>): void => {
    const peer = detail.peerId.toString()
    const foreign = detail.subscriptions.find(({ topic, subscribe }) => subscribe && !belongs(peer, topic))
    if (!foreign) return
    const refused = { code: 'malformed', effect: 'reject', detail: 'subscribed to a shard of other nodes' } as const
    onRefusal({ peer, ...refused, protocol: foreign.topic })
    onForeign(peer)
  }
  pubsub.addEventListener('subscription-change', onSubscription)

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
      if (listeners.has(channel.topic)) throw new Error(`already subscribed to ${channel.topic}`)
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
        throw new TransportError('busy', `${publishing} messages are being sent`)
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
      pubsub.removeEventListener('subscription-change', onSubscription)
    },
  }
}

/** Public members of gossipsub's class that its interface does not declare. */
interface MeshRecords {
  getMeshPeers(topic: string): readonly string[]
  readonly peers: ReadonlyMap<string, unknown>
  readonly streamsOutbound: Map<string, unknown>
}

/**
 * Drops streams of disconnected peers. gossipsub (17.1.1) opens a stream to every peer that opens one to it. If the peer hangs up
 * meanwhile, gossipsub keeps the stream and its connection for good, which costs some 90 KiB for every stranger.
 */
export function dropLostStreams(pubsub: GossipSub): void {
  const { peers, streamsOutbound } = pubsub as GossipSub & MeshRecords
  for (const peer of streamsOutbound.keys()) if (!peers.has(peer)) streamsOutbound.delete(peer)
}

/** gossipsub requires a signature, so every message that reaches a validator has an author. */
const authorOf = (msg: Message): string => (msg.type === 'signed' ? msg.from.toString() : 'unsigned')
