export type LimitUnit = 'B' | 'count' | 'tokens' | 'ms' | 'nats' | 'per minute' | 'id' | 'reward' | 'number'

export interface Limit {
  readonly value: number
  readonly unit: LimitUnit
  /** Names what the limit bounds, for readers of the documentation. */
  readonly meaning: string
}

const KIB = 1024
const MIB = 1024 * KIB
const row = (value: number, unit: LimitUnit, meaning: string): Limit => ({ value, unit, meaning })

/**
 * All limits of the swarm's protocol. `docs/reference/limits.md` prints this table, and tests send each limit and the limit plus one.
 */
export const LIMITS = {
  // Gossiped to every node of a shard, so it must stay small.
  announcementSignedBytes: row(2 * KIB, 'B', 'group announcement without its body'),
  announcementBytes: row(64 * KIB, 'B', 'group announcement with its body'),
  policyAnnouncementBytes: row(2 * KIB, 'B', 'policy announcement'),
  verdictDigestBytes: row(32 * KIB, 'B', 'signed verdict digest'),
  manifestBytes: row(1 * MIB, 'B', 'signed manifest. The chunk hashes of the largest adapter take 83 KiB'),
  groupBodyBytes: row(
    4 * MIB,
    'B',
    'body of a group. 8 rollouts of 4,000 tokens take at most 450 KiB, 16 of 16,000 tokens 2.3 MiB',
  ),
  leaseRequestBytes: row(4 * KIB, 'B', 'lease request: 2 KiB of lease ids, and labels'),
  leaseResponseBytes: row(2 * MIB + 64 * KIB, 'B', 'lease response: `leasesPerRequest` tasks of `taskBytes`'),
  requestOverheadBytes: row(64, 'B', 'framing around a group announcement that a node offers directly'),
  verdictRequestBytes: row(2 * KIB, 'B', 'verdict request'),
  verdictResponseBytes: row(40 * KIB, 'B', 'verdict response: a digest, a head of the log and a proof'),
  headBytes: row(1 * KIB, 'B', 'signed head of the log'),
  verdictLeafBytes: row(4 * KIB, 'B', 'text of one verdict in a proof. 64 rewards take 1.6 KiB'),
  leaderboardBytes: row(24 * KIB, 'B', 'signed leaderboard'),
  leaderboardRequestBytes: row(256, 'B', 'leaderboard request: a key and a team'),
  leaderboardResponseBytes: row(25 * KIB, 'B', 'leaderboard response'),
  leaderboardKeys: row(128, 'count', 'keys on the leaderboard. The coordinator adds the key that asks'),
  leaderboardTeams: row(64, 'count', 'teams on the leaderboard'),
  leaderboardFreshMs: row(600_000, 'ms', 'a node keeps a leaderboard for this time'),
  teamBytes: row(32, 'B', 'name of a team'),
  snapshotRequestBytes: row(
    2 * KIB + 256,
    'B',
    'snapshot request: a hash, and a bit for each chunk of the largest file',
  ),
  snapshotResponseBytes: row(1 * MIB + 1 * KIB, 'B', 'snapshot response: one chunk or one signed manifest'),
  replyOverheadBytes: row(1 * KIB, 'B', 'status, code and sentence around the payload of a reply'),

  invitationBytes: row(4 * KIB, 'B', 'content of an invitation'),
  invitationAddresses: row(6, 'count', 'addresses in an invitation'),
  addressBytes: row(256, 'B', 'network address'),
  baseSources: row(4, 'count', 'https sources of the base model in an invitation'),
  sourceBytes: row(256, 'B', 'URL of a source'),

  // A lost chunk costs a second on a slow line.
  chunkBytes: row(1 * MIB, 'B', 'chunk of a file; only the last chunk is shorter'),
  blobBytes: row(16 * 1024 * MIB, 'B', 'base model'),
  adapterBytes: row(2 * 1024 * MIB, 'B', 'adapter. Rank 256 on every projection of an 8B model takes 1.3 GB'),
  blobMetadataBytes: row(16 * MIB, 'B', 'published JSON file or signature'),
  // Two numbers for each number of the largest adapter.
  optimizerBytes: row(8 * 1024 * MIB, 'B', 'published optimizer state'),
  trainingBatchBytes: row(512 * MIB, 'B', 'published training batch: a thousand groups of 450 KiB'),
  blobsPerManifest: row(12, 'count', 'files of a manifest'),
  taskBytes: row(256 * KIB, 'B', 'task in a lease. 40 tools with their schemas take 60 KiB'),
  taskSettings: row(64, 'count', 'task settings of a manifest'),
  taskSettingBytes: row(64 * KIB, 'B', 'value of a task setting: a bit for each of 390,000 tasks, in base64'),
  closedRounds: row(256, 'count', 'secrets of earlier rounds in a manifest'),
  targetModules: row(32, 'count', 'target modules of an adapter'),
  // The largest rank of the trainer.
  adapterRank: row(256, 'number', 'rank of an adapter'),
  adapterAlpha: row(4096, 'number', 'alpha of an adapter'),
  samplerSetting: row(10, 'number', 'temperature and repeat penalty of a policy'),
  canaries: row(16, 'count', 'canaries of a manifest'),
  canaryTokens: row(2048, 'tokens', 'tokens of a canary’s prompt, and of its continuation'),
  // Another model is a few nats off.
  canaryTolerance: row(20, 'nats', 'canary tolerance of a manifest'),

  minGroupSize: row(2, 'count', 'fewest rollouts of a group'),
  maxGroupSize: row(64, 'count', 'most rollouts of a group'),
  turnTokens: row(16_384, 'tokens', 'assistant turn'),
  rolloutTokens: row(65_536, 'tokens', 'rollout: prompt, turns and tool results'),
  turns: row(64, 'count', 'assistant turns, and user turns, of a rollout'),
  maskRuns: row(256, 'count', 'runs of a loss mask: two for each assistant turn'),
  staleness: row(8, 'count', 'versions between sampling and training of a group'),
  tokenId: row(2 ** 21 - 1, 'id', 'largest token id: three bytes on the wire'),
  // A float32 softmax underflows long before.
  logprobFloor: row(-1000, 'nats', 'smallest log-probability'),
  // Only the efficiency penalty is unbounded, and the number of calls is limited.
  rewardMagnitude: row(1000, 'reward', 'largest absolute value of a reward or component'),
  rewardComponents: row(16, 'count', 'components of a reward'),
  callsPerRollout: row(256, 'count', 'tool calls of a rollout'),
  callTextBytes: row(512, 'B', 'arguments, raw text or result of a call. Longer texts are cut and end with their hash'),

  // Slow nodes must not hoard work.
  leasesPerRequest: row(8, 'count', 'leases that a node requests at once'),
  leasesHeld: row(64, 'count', 'lease ids in a request'),
  tokensPerSecond: row(1_000_000, 'tokens', 'sampled tokens per second that a node states'),
  verdictsPerDigest: row(64, 'count', 'verdicts of a digest'),
  // A node waits for no more than `leasesHeld`. 150 MB of memory for 10,000 nodes.
  verdictsKept: row(64, 'count', 'newest verdicts of each node that the coordinator keeps'),
  nameBytes: row(128, 'B', 'name of a task, model, tool or engine'),
  shortNameBytes: row(32, 'B', 'name of a tool-call format, reward, quantisation, cache type, role or end reason'),
  detailBytes: row(256, 'B', 'sentence for people'),
  maxTimeMs: row(8_640_000_000_000_000, 'ms', 'largest time after 1970, as in JavaScript'),

  requestTimeoutMs: row(15_000, 'ms', 'a requester waits for a reply, including the dial'),
  handlerTimeoutMs: row(30_000, 'ms', 'a receiver works on a request'),
  progressTimeoutMs: row(5_000, 'ms', 'after this time without a byte, a node asks another holder'),
  inboundStreamsPerPeer: row(8, 'count', 'open streams of one protocol from one peer'),
  inboundStreams: row(256, 'count', 'open streams of one protocol'),
  guaranteedStreams: row(
    64,
    'count',
    'streams of one protocol reserved for strangers, registered keys and reliable keys each',
  ),
  crowdedIdleMs: row(5_000, 'ms', 'if all streams are open, a stream without a request for this time ends'),
  requestsPerMinute: row(600, 'per minute', 'requests of one peer on one protocol'),
  bodiesPerMinute: row(30, 'per minute', 'bodies for one key without an accepted group'),
  bodiesPerMinuteOfBlock: row(120, 'per minute', 'bodies for all such keys of one block of addresses'),
  // A lease must not be late because of an adapter.
  unpacedReplyBytes: row(64 * KIB, 'B', 'smaller replies do not wait for the upload limit, but count against it'),
  // 500 MB/s is beyond any line, so this limits small refusals.
  chunksPerMinute: row(30_000, 'per minute', 'chunk requests of one peer'),
  // A fast GPU generates one a second.
  groupsPerMinute: row(120, 'per minute', 'group announcements of one key'),
  // Nodes can offer other announcements directly.
  groupsPassedOnPerMinute: row(1200, 'per minute', 'group announcements of all keys that a node forwards'),
  trackedPeers: row(4096, 'count', 'peers whose rates a receiver remembers'),
  trackedNonces: row(65_536, 'count', 'nonces that a receiver remembers'),
  manifestsServed: row(32, 'count', 'newest manifests that a peer serves'),
  shardNodes: row(128, 'count', 'intended nodes of a gossip shard'),
  gossipShards: row(1024, 'count', 'gossip shards of a run: enough for 100,000 nodes'),
  // Gossipsub has no back-pressure.
  publishesInFlight: row(32, 'count', 'gossip messages that a peer publishes at once'),
  // Eight were slower.
  snapshotInFlight: row(4, 'count', 'open chunk requests to one holder'),
  snapshotSources: row(8, 'count', 'holders asked at once for one file'),
  snapshotIdleMs: row(60_000, 'ms', 'a holder closes a snapshot stream after this time without a request'),
  snapshotStallMs: row(60_000, 'ms', 'a node drops a holder that answers for this time without a chunk'),
  streamBufferBytes: row(2 * MIB, 'B', 'unread bytes of a stream, after which the sender pauses'),

  addressNoticeBytes: row(2 * KIB, 'B', 'signed address notice'),
  noticeMessageBytes: row(512, 'B', 'the operator’s message in an address notice'),
  peersNamed: row(8, 'count', 'providers in a lease response'),
  peersAnnounced: row(4, 'count', 'providers in a policy announcement'),
  addressesPerPeer: row(4, 'count', 'addresses of a provider'),
  // Gossip needs six neighbours, and a fetch uses eight.
  peersSought: row(8, 'count', 'neighbours that a node connects to'),
  peersKept: row(32, 'count', 'neighbours that a node remembers over restarts'),
  // Home connections change their addresses within weeks.
  peerKeptMs: row(14 * 24 * 3_600_000, 'ms', 'a node remembers a neighbour for this time'),
  dialsPerMinute: row(120, 'per minute', 'dials of a node to addresses that peers named'),
  // Tests the addresses of ten thousand nodes every ten minutes.
  coordinatorDialsPerMinute: row(2400, 'per minute', 'dials of the coordinator to test addresses'),
  // `peersSought` outbound, as many inbound, and strangers.
  connections: row(128, 'count', 'connections of a node'),
  // Ten thousand nodes and reconnections. Each takes a file descriptor, of which Linux usually allows 524,288.
  coordinatorConnections: row(16_384, 'count', 'connections of the coordinator'),
  // One for each way in which two peers may find each other.
  connectionsPerPeer: row(6, 'count', 'connections to one peer'),
  // A school behind one address.
  connectionsPerAddress: row(1024, 'count', 'connections from one IP address'),
} as const satisfies Record<string, Limit>

export type LimitName = keyof typeof LIMITS
