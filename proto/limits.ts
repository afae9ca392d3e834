export type LimitUnit = 'B' | 'count' | 'tokens' | 'ms' | 'nats' | 'per minute' | 'id' | 'reward' | 'number'

export interface Limit {
  readonly value: number
  readonly unit: LimitUnit
  readonly reason: string
}

const KIB = 1024
const MIB = 1024 * KIB
const row = (value: number, unit: LimitUnit, reason: string): Limit => ({ value, unit, reason })

/**
 * All limits of the swarm's protocol. `docs/reference/protocol.md` prints this table, and tests send each limit and the limit plus one.
 */
export const LIMITS = {
  announcementSignedBytes: row(2 * KIB, 'B', 'gossiped to every node, so it must stay small'),
  announcementBytes: row(64 * KIB, 'B', 'an inline body saves a round trip; larger bodies are fetched by hash'),
  policyAnnouncementBytes: row(2 * KIB, 'B', 'gossiped to every node'),
  verdictDigestBytes: row(32 * KIB, 'B', 'verdictsPerDigest verdicts with their details'),
  manifestBytes: row(
    1 * MIB,
    'B',
    'fetched by hash; the chunk hashes of the largest adapter, as GGUF and for PEFT, take 83 KiB',
  ),
  groupBodyBytes: row(4 * MIB, 'B', 'at most 450 KiB for 8 rollouts of 4,000 tokens, 2.3 MiB for 16 of 16,000'),
  leaseRequestBytes: row(4 * KIB, 'B', 'two kilobytes of lease ids and a few labels'),
  leaseResponseBytes: row(2 * MIB + 64 * KIB, 'B', 'leasesPerRequest tasks of taskBytes each'),
  requestOverheadBytes: row(64, 'B', 'framing around a directly offered announcement'),
  verdictRequestBytes: row(2 * KIB, 'B', 'one cursor, and a signed result of a re-derivation'),
  verdictResponseBytes: row(40 * KIB, 'B', 'one sealed digest, a sealed head and a proof'),
  headBytes: row(1 * KIB, 'B', 'two hashes and a few counts, signed'),
  verdictLeafBytes: row(4 * KIB, 'B', 'one verdict: 64 rewards take 1.6 KiB'),
  leaderboardBytes: row(24 * KIB, 'B', 'leaderboardKeys and leaderboardTeams with the longest names take 17 KiB'),
  leaderboardRequestBytes: row(256, 'B', 'one key and one team'),
  leaderboardResponseBytes: row(25 * KIB, 'B', 'one sealed leaderboard'),
  leaderboardKeys: row(
    128,
    'count',
    'the keys with the most credit; the coordinator adds the key that asks, at any rank',
  ),
  leaderboardTeams: row(64, 'count', 'one or two screens'),
  leaderboardFreshMs: row(
    600_000,
    'ms',
    'how long a node keeps a leaderboard; ten thousand nodes send 17 requests a second',
  ),
  teamBytes: row(32, 'B', 'fits a column; any key may choose any name'),
  snapshotRequestBytes: row(2 * KIB + 256, 'B', 'one hash and a bit for each chunk of the largest blob'),
  snapshotResponseBytes: row(1 * MIB + 1 * KIB, 'B', 'one chunk or one sealed manifest and its header'),
  replyOverheadBytes: row(1 * KIB, 'B', 'status, code and detail around the payload of a reply'),

  invitationBytes: row(4 * KIB, 'B', 'all fields at their limits take 3.3 KiB; typical invitations fit a QR code'),
  invitationAddresses: row(6, 'count', 'names, then a few addresses of one machine'),
  addressBytes: row(256, 'B', 'the longest DNS name and a port'),
  baseSources: row(4, 'count', 'a hub and some mirrors'),
  sourceBytes: row(256, 'B', 'a hub URL with names of typical length'),

  chunkBytes: row(1 * MIB, 'B', 'one hash per chunk; a lost chunk costs a second on a slow line'),
  blobBytes: row(16 * 1024 * MIB, 'B', 'larger than any intended base model; the chunk hashes take 512 KiB'),
  adapterBytes: row(2 * 1024 * MIB, 'B', 'rank 256 on every projection of an 8B model takes 1.3 GB'),
  blobMetadataBytes: row(16 * MIB, 'B', 'settings, and the provenance of a hundred thousand batches'),
  optimizerBytes: row(8 * 1024 * MIB, 'B', 'two numbers for each one of the largest adapter'),
  trainingBatchBytes: row(512 * MIB, 'B', 'a thousand groups of 450 KiB'),
  blobsPerManifest: row(12, 'count', 'one of each role'),
  taskBytes: row(256 * KIB, 'B', 'a task with 40 tools and their schemas takes some 60 KiB'),
  taskSettings: row(64, 'count', 'data set, split, environments, versions'),
  taskSettingBytes: row(64 * KIB, 'B', 'one bit for each of 390,000 tasks, in base64'),
  closedRounds: row(
    256,
    'count',
    'secrets of the last rounds, to check lease seeds; new keys may open a round every few seconds',
  ),
  targetModules: row(32, 'count', 'seven projections are typical'),
  adapterRank: row(256, 'number', 'the largest rank of the trainer; a low rank makes no sense beyond it'),
  adapterAlpha: row(4096, 'number', 'sixteen times the largest rank'),
  samplerSetting: row(10, 'number', 'temperature and repeat penalty'),
  canaries: row(16, 'count', 'a few prompts show a missing adapter'),
  canaryTokens: row(2048, 'tokens', 'a canary must run in seconds on a CPU'),
  canaryTolerance: row(20, 'nats', 'another model is a few nats off'),

  minGroupSize: row(2, 'count', 'an advantage needs two rewards'),
  maxGroupSize: row(64, 'count', 'sixteen is common; larger groups do not fit a volunteer GPU'),
  turnTokens: row(16_384, 'tokens', 'longest single assistant turn'),
  rolloutTokens: row(65_536, 'tokens', 'prompt, turns and tool results of one rollout'),
  turns: row(64, 'count', 'the paper uses 5 user turns and 10 assistant turns'),
  maskRuns: row(256, 'count', 'two per assistant turn'),
  staleness: row(8, 'count', 'maximum number of policy versions between sampling and training'),
  tokenId: row(2 ** 21 - 1, 'id', 'larger than any vocabulary in use; three bytes on the wire'),
  logprobFloor: row(-1000, 'nats', 'a float32 softmax underflows long before'),
  rewardMagnitude: row(1000, 'reward', 'only the efficiency penalty is unbounded, and calls are limited'),
  rewardComponents: row(16, 'count', 'PROVE has five'),
  callsPerRollout: row(256, 'count', 'ten assistant turns with parallel calls'),
  callTextBytes: row(
    512,
    'B',
    'arguments, raw text or result of one call; longer texts are truncated and end in their hash',
  ),

  leasesPerRequest: row(8, 'count', 'slow nodes must not hoard work'),
  leasesHeld: row(64, 'count', 'listed in one request'),
  tokensPerSecond: row(1_000_000, 'tokens', 'tokens per second of one node; far beyond any machine'),
  verdictsPerDigest: row(64, 'count', 'fits verdictDigestBytes with the longest details'),
  verdictsKept: row(
    64,
    'count',
    'newest verdicts kept for each node: it waits for no more than leasesHeld; 150 MB of memory for 10,000 nodes',
  ),
  nameBytes: row(128, 'B', 'labels: task ids, model, tool and engine names'),
  shortNameBytes: row(32, 'B', 'tool-call format, reward, quantisation, cache type, role, end reason'),
  detailBytes: row(256, 'B', 'one sentence for the volunteer'),
  maxTimeMs: row(8_640_000_000_000_000, 'ms', 'last date in JavaScript'),

  requestTimeoutMs: row(15_000, 'ms', 'a request-response exchange, including the dial'),
  handlerTimeoutMs: row(30_000, 'ms', 'one inbound request, including its handler'),
  progressTimeoutMs: row(5_000, 'ms', 'after this time without a byte, another provider is asked'),
  inboundStreamsPerPeer: row(8, 'count', 'open streams of one protocol and peer'),
  inboundStreams: row(256, 'count', 'open streams of one protocol'),
  guaranteedStreams: row(
    64,
    'count',
    'streams of one protocol that strangers, registered keys and reliable keys each find, however many the others have',
  ),
  crowdedIdleMs: row(5_000, 'ms', 'a stream without a request is dropped after this time when all are open'),
  requestsPerMinute: row(600, 'per minute', 'per peer and protocol: ten a second, bursts included'),
  bodiesPerMinute: row(30, 'per minute', 'group bodies that one key without an accepted group fetches'),
  bodiesPerMinuteOfBlock: row(120, 'per minute', 'the same for all such keys of one block of addresses'),
  unpacedReplyBytes: row(
    64 * KIB,
    'B',
    'smaller replies count against the upload limit, and do not wait for it: a lease is not late because of an adapter',
  ),
  chunksPerMinute: row(30_000, 'per minute', 'per peer; 500 MB/s is beyond any line, so this limits small refusals'),
  groupsPerMinute: row(120, 'per minute', 'announcements of one key; a fast GPU generates one a second'),
  groupsPassedOnPerMinute: row(
    1200,
    'per minute',
    'announcements of all keys that a volunteer forwards; others can be offered directly',
  ),
  trackedPeers: row(4096, 'count', 'peers whose rates are tracked'),
  trackedNonces: row(65_536, 'count', 'announcements whose replay is detected without the lease'),
  manifestsServed: row(32, 'count', 'recent rounds, for late nodes and auditors'),
  shardNodes: row(128, 'count', 'nodes of a gossip shard: a node hears the groups of so many'),
  gossipShards: row(1024, 'count', 'shards of 100,000 nodes; the coordinator subscribes to each'),
  publishesInFlight: row(32, 'count', 'gossipsub has no back-pressure'),
  snapshotInFlight: row(4, 'count', 'chunk requests per source; eight were slower'),
  snapshotSources: row(8, 'count', 'sources used at once for one blob'),
  snapshotIdleMs: row(60_000, 'ms', 'a served snapshot stream without a request is closed'),
  snapshotStallMs: row(60_000, 'ms', 'limit for sources that answer but deliver nothing'),
  streamBufferBytes: row(2 * MIB, 'B', 'unread bytes before the sender is paused'),

  addressNoticeBytes: row(2 * KIB, 'B', 'gossiped to every node'),
  noticeMessageBytes: row(512, 'B', 'the operator’s message to all volunteers: a few sentences and a link'),
  peersNamed: row(8, 'count', 'providers in one answer: the same as snapshotSources'),
  peersAnnounced: row(4, 'count', 'providers in one announcement, which is gossiped to every node'),
  addressesPerPeer: row(4, 'count', 'IPv4 and IPv6'),
  peersSought: row(8, 'count', 'neighbours that a node looks for: gossip wants six, a fetch uses eight'),
  peersKept: row(32, 'count', 'reached nodes that are kept over restarts'),
  peerKeptMs: row(14 * 24 * 3_600_000, 'ms', 'home connections change their addresses within weeks'),
  dialsPerMinute: row(120, 'per minute', 'dials of addresses that peers have named'),
  coordinatorDialsPerMinute: row(2400, 'per minute', 'tries the addresses of ten thousand nodes every ten minutes'),
  connections: row(128, 'count', 'open connections of a node: peersSought outbound, as many inbound, and strangers'),
  coordinatorConnections: row(
    16_384,
    'count',
    'ten thousand nodes and reconnections; each takes a file descriptor, and Node may use all that the system allows (usually 524,288)',
  ),
  connectionsPerPeer: row(6, 'count', 'one for each way in which two peers may find each other'),
  connectionsPerAddress: row(1024, 'count', 'a school behind one address'),
} as const satisfies Record<string, Limit>

export type LimitName = keyof typeof LIMITS
