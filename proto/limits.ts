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
 * Every bound of the swarm's protocol. Code takes its numbers from here, `docs/protocol.md` prints this table, and the
 * tests send each limit and the limit plus one.
 */
export const LIMITS = {
  announcementSignedBytes: row(2 * KIB, 'B', 'what is gossiped to every node must stay small'),
  announcementBytes: row(64 * KIB, 'B', 'an inline body saves a round trip; larger ones are pulled by hash'),
  policyAnnouncementBytes: row(2 * KIB, 'B', 'gossiped to every node'),
  verdictDigestBytes: row(32 * KIB, 'B', 'verdictsPerDigest verdicts with their details'),
  manifestBytes: row(
    1 * MIB,
    'B',
    'fetched by hash; chunk hashes of the largest adapter, as GGUF and for PEFT, take 83 KiB',
  ),
  groupBodyBytes: row(4 * MIB, 'B', 'the largest of 8 rollouts of 4,000 tokens takes 450 KiB, of 16 of 16,000 2.3 MiB'),
  leaseRequestBytes: row(4 * KIB, 'B', 'two kilobytes of held lease ids and a few labels'),
  leaseResponseBytes: row(2 * MIB + 64 * KIB, 'B', 'leasesPerRequest tasks of taskBytes each'),
  requestOverheadBytes: row(64, 'B', 'framing around an announcement that is handed over'),
  verdictRequestBytes: row(256, 'B', 'one cursor'),
  verdictResponseBytes: row(33 * KIB, 'B', 'one sealed digest'),
  leaderboardBytes: row(24 * KIB, 'B', 'boardKeys and boardTeams with the longest names take 17 KiB'),
  leaderboardRequestBytes: row(256, 'B', 'one key and one team'),
  leaderboardResponseBytes: row(25 * KIB, 'B', 'one sealed board'),
  leaderboardKeys: row(
    128,
    'count',
    'who has earned most; the coordinator adds whoever asks, wherever that one stands',
  ),
  leaderboardTeams: row(64, 'count', 'a screen or two'),
  leaderboardFreshMs: row(600_000, 'ms', 'a node keeps a board for so long; of ten thousand nodes 17 ask in a second'),
  teamBytes: row(32, 'B', 'fits a column; anybody may choose any'),
  snapshotRequestBytes: row(2 * KIB + 256, 'B', 'one hash and a bit for each chunk of the largest blob'),
  snapshotResponseBytes: row(1 * MIB + 1 * KIB, 'B', 'one chunk or one sealed manifest and its header'),
  replyOverheadBytes: row(1 * KIB, 'B', 'status, code and detail around the payload of a reply'),

  invitationBytes: row(4 * KIB, 'B', 'all its fields at their limits take 3.3 KiB; usual ones fit a QR code'),
  invitationAddresses: row(6, 'count', 'names first, then a few addresses of one machine'),
  addressBytes: row(256, 'B', 'the longest DNS name and a port'),
  baseSources: row(4, 'count', 'a hub and some mirrors'),
  sourceBytes: row(256, 'B', 'a URL of a hub with names of usual length'),

  chunkBytes: row(1 * MIB, 'B', 'one hash per chunk; a lost chunk costs a second on a slow line'),
  blobBytes: row(16 * 1024 * MIB, 'B', 'no base model of the intended size is larger; its chunk hashes take 512 KiB'),
  adapterBytes: row(2 * 1024 * MIB, 'B', 'rank 256 on every projection of an 8B model takes 1.3 GB'),
  blobMetadataBytes: row(16 * MIB, 'B', 'settings and provenance: a hundred thousand batches'),
  blobsPerManifest: row(8, 'count', 'one of each role'),
  taskBytes: row(256 * KIB, 'B', 'a task with 40 tools and their schemas takes some 60 KiB'),
  taskSettings: row(64, 'count', 'data set, split, worlds, versions'),
  taskSettingBytes: row(64 * KIB, 'B', 'one bit for each of 390,000 tasks, in base64'),
  closedRounds: row(
    256,
    'count',
    'secrets of the last rounds, for whoever checks the seeds of leases; a new key may open one every few seconds',
  ),
  targetModules: row(32, 'count', 'seven projections are usual'),
  adapterRank: row(
    256,
    'number',
    'the largest that the trainer makes; beyond any width at which a low rank makes sense',
  ),
  adapterAlpha: row(4096, 'number', 'sixteen times the largest rank'),
  samplerSetting: row(10, 'number', 'temperature and repeat penalty'),
  canaries: row(16, 'count', 'a few prompts show a missing adapter'),
  canaryTokens: row(2048, 'tokens', 'a canary must run in seconds on a CPU'),

  minGroupSize: row(2, 'count', 'an advantage needs two rewards'),
  maxGroupSize: row(64, 'count', 'sixteen is common; more does not fit a volunteer GPU'),
  turnTokens: row(16_384, 'tokens', 'longest single assistant turn'),
  rolloutTokens: row(65_536, 'tokens', 'prompt, turns and tool results of one rollout'),
  turns: row(64, 'count', 'the paper uses 5 user turns and 10 assistant turns'),
  maskRuns: row(256, 'count', 'two per assistant turn'),
  staleness: row(8, 'count', 'hard maximum of policy versions between sampling and use'),
  tokenId: row(2 ** 21 - 1, 'id', 'larger than any vocabulary in use; three bytes on the wire'),
  logprobFloor: row(-1000, 'nats', 'a float32 softmax underflows long before'),
  rewardMagnitude: row(1000, 'reward', 'the efficiency penalty is the only unbounded part, and calls are capped'),
  rewardComponents: row(16, 'count', 'PROVE has five'),
  callsPerRollout: row(256, 'count', 'ten assistant turns with parallel calls'),
  callTextBytes: row(512, 'B', 'arguments, raw text or result of one call; longer ones are cut and end in their hash'),

  leasesPerRequest: row(8, 'count', 'slow nodes must not hoard work'),
  leasesHeld: row(64, 'count', 'listed in one request'),
  tokensPerSecond: row(1_000_000, 'tokens', 'of one node in a second; far beyond any machine'),
  verdictsPerDigest: row(64, 'count', 'fits verdictDigestBytes with full details'),
  verdictsKept: row(
    64,
    'count',
    'newest of each node that are still sent: none waits for more (leasesHeld); of 10,000 nodes 150 MB in memory',
  ),
  nameBytes: row(128, 'B', 'labels: task ids, model, tool and engine names'),
  shortNameBytes: row(32, 'B', 'dialect, reward, quantisation, cache type, role, end reason'),
  detailBytes: row(256, 'B', 'one sentence for the volunteer'),
  maxTimeMs: row(8_640_000_000_000_000, 'ms', 'last date that JavaScript can hold'),

  requestTimeoutMs: row(15_000, 'ms', 'a request-response exchange, dial included'),
  handlerTimeoutMs: row(30_000, 'ms', 'one inbound request, its handler included'),
  progressTimeoutMs: row(5_000, 'ms', 'a stream without a byte for this long: another provider'),
  inboundStreamsPerPeer: row(8, 'count', 'streams of one protocol that one peer may hold open'),
  inboundStreams: row(256, 'count', 'streams of one protocol in all'),
  requestsPerMinute: row(600, 'per minute', 'per peer and protocol; ten a second, burst included'),
  chunksPerMinute: row(
    30_000,
    'per minute',
    'per peer; 500 MB/s is beyond any line, small refusals are what this bounds',
  ),
  groupsPerMinute: row(120, 'per minute', 'announcements of one key; a fast GPU makes one a second'),
  groupsPassedOnPerMinute: row(
    1200,
    'per minute',
    'announcements of all keys that a volunteer passes on to its neighbours; any may be handed over directly',
  ),
  trackedPeers: row(4096, 'count', 'peers whose rates are remembered'),
  trackedNonces: row(65_536, 'count', 'announcements whose replay is noticed before the lease is looked at'),
  manifestsServed: row(32, 'count', 'recent rounds that late nodes and auditors ask about'),
  publishesInFlight: row(32, 'count', 'gossip has no back-pressure of its own'),
  snapshotInFlight: row(4, 'count', 'chunk requests per source; eight measured slower'),
  snapshotSources: row(8, 'count', 'sources used at once for one blob'),
  snapshotIdleMs: row(60_000, 'ms', 'a served snapshot stream without a request is closed'),
  snapshotStallMs: row(60_000, 'ms', 'sources that answer but never deliver'),
  streamBufferBytes: row(2 * MIB, 'B', 'bytes a slow reader lets pile up before the sender is paused'),

  addressNoticeBytes: row(2 * KIB, 'B', 'gossiped to every node'),
  noticeMessageBytes: row(512, 'B', 'what an operator has to say to all volunteers: a few sentences and a link'),
  peersNamed: row(8, 'count', 'providers in one answer: as many as snapshotSources'),
  peersAnnounced: row(4, 'count', 'providers in one announcement, which is gossiped to every node; each names others'),
  addressesPerPeer: row(4, 'count', 'IPv4 and IPv6'),
  peersSought: row(
    8,
    'count',
    'other nodes that a node looks for connections to: gossip wants six, a fetch uses eight',
  ),
  peersKept: row(32, 'count', 'nodes that were reached, remembered over restarts'),
  peerKeptMs: row(14 * 24 * 3_600_000, 'ms', 'home connections change their addresses within weeks'),
  dialsPerMinute: row(120, 'per minute', 'addresses that a node dials on the word of others'),
  coordinatorDialsPerMinute: row(2400, 'per minute', 'ten thousand nodes whose addresses are tried every ten minutes'),
  connections: row(128, 'count', 'open connections of a node: peersSought, as many that seek it, and strangers'),
  coordinatorConnections: row(
    16_384,
    'count',
    'ten thousand nodes, and those that connect again; each takes a file descriptor, of which Node takes all that the system allows (usually 524,288)',
  ),
  connectionsPerPeer: row(6, 'count', 'one by each way that two peers may find each other'),
  connectionsPerAddress: row(1024, 'count', 'a school behind one address'),
} as const satisfies Record<string, Limit>

export type LimitName = keyof typeof LIMITS
