import { generateKeyPairFromSeed } from '@libp2p/crypto/keys'
import {
  type GroupAnnouncement,
  type GroupBody,
  type Leaderboard,
  type LeaseAsk,
  type LeaseResponse,
  LIMITS,
  type LogHead,
  type PolicyDescription,
  type PolicyManifest,
  policyIdOf,
  type RecordedRollout,
  SwarmRefusal,
  sha256,
  type Verdict,
  type VerdictDigest,
} from '../../proto/index.js'

/** Messages of one small sample run: round 3 of a swarm that learns to book flights. */

export const keyOf = (seed: number) => generateKeyPairFromSeed('Ed25519', new Uint8Array(32).fill(seed))
export const hash = (of: string) => sha256(new TextEncoder().encode(of))
export const id16 = (of: string) => hash(of).slice(0, 32)

export const flightPolicy: PolicyDescription = {
  base: { name: 'flight-clerk-0.1B', ggufSha256: hash('base'), quantisation: 'F16' },
  adapter: { sha256: hash('adapter'), sizeBytes: 1_500_000, rank: 8, alpha: 16, targetModules: ['q_proj', 'v_proj'] },
  chatTemplateSha256: hash('template'),
  toolCallFormat: 'hermes',
  reward: 'paper',
  cacheType: 'f16',
  toolsetSchemaSha256: hash('tools'),
  sampler: { temperature: 1, topK: 0, topP: 1, minP: 0, repeatPenalty: 1, draw: 'gumbel-murmur3' },
  engine: { nodeLlamaCpp: '^3.22.1', llamaCpp: 'v0.5.0' },
}

export const logHead: LogHead = {
  events: 120,
  logHash: hash('event 120'),
  step: 8,
  verdicts: 3,
  verdictsRoot: hash('verdicts'),
}

export const flightManifest: PolicyManifest = {
  round: 3,
  version: 7,
  policyId: policyIdOf(flightPolicy),
  policy: flightPolicy,
  blobs: [
    {
      role: 'adapter',
      sha256: hash('adapter'),
      sizeBytes: 1_500_000,
      chunkSha256s: [hash('chunk 0'), hash('chunk 1')],
    },
  ],
  canary: [
    {
      promptTokens: [1, 2, 3],
      continuationTokens: [4, 5],
      baseLogprobs: [-2.5, -0.5],
      policyLogprobs: [-1.5, -0.25],
    },
  ],
  canaryTolerance: { mean: 0.02, max: 0.3 },
  limits: {
    groupSize: 4,
    maxTurnTokens: 256,
    maxRolloutTokens: 2048,
    maxAssistantTurns: 10,
    maxUserTurns: 5,
    maxStaleness: 4,
  },
  taskSpec: { split: 'train', environments: 'flights,hotels', synthesis_version: '1' },
  roundSecretHash: hash('secret 3'),
  closedRounds: [{ round: 2, secret: hash('secret 2') }],
  createdAtMs: 1_700_000_000_000,
  expiresAtMs: 1_700_000_600_000,
  configurationId: hash('terms'),
  head: logHead,
  shards: 2,
  difference: null,
}

export const ask: LeaseAsk = {
  kind: 'ask',
  count: 2,
  policyId: flightManifest.policyId,
  nonce: id16('nonce'),
  holding: [id16('lease 1')],
  agent: 'prove-node/0.1.0',
  backend: 'cpu',
  tokensPerSecond: 88.5,
}

export const leases: LeaseResponse = {
  leases: [
    {
      leaseId: id16('lease 2'),
      index: 41,
      policyId: flightManifest.policyId,
      version: 7,
      taskId: 'flights/0041',
      task: new TextEncoder().encode('{"user":["Book the morning flight to Oslo."]}'),
      seed: hash('lease seed'),
      deadlineMs: 1_700_000_100_000,
      groupSize: 4,
      configurationId: hash('terms'),
    },
  ],
  renewed: [{ leaseId: id16('lease 1'), deadlineMs: 1_700_000_050_000 }],
  retryAfterMs: 2000,
  manifestId: hash('manifest'),
  reason: 'no_work',
  detail: 'enough groups are running',
  providers: [
    { peerId: '12D3KooWhelper', addresses: ['/ip4/198.51.100.7/tcp/4001', '/dns4/prove.example/tcp/443/wss'] },
  ],
}

export const announcement: GroupAnnouncement = {
  leaseId: id16('lease 2'),
  taskId: 'flights/0041',
  policyId: flightManifest.policyId,
  rewards: [1.3, 0.25, -0.5, 0],
  bodySha256: hash('body'),
  bodySizeBytes: 4,
  nonce: id16('announcement nonce'),
  tokensGenerated: 12,
}

export const rollout: RecordedRollout = {
  tokens: [10, 11, 12, 20, 21, 30, 31, 32, 22],
  maskRuns: [3, 2, 3, 1],
  logprobs: [-0.5, -1.25, 0],
  calls: [
    {
      name: 'search_flights',
      argumentsJson: '{"to":"OSL"}',
      ok: true,
      malformed: false,
      raw: '',
      resultJson: '[{"id":"F1"}]',
    },
    { name: '', argumentsJson: '', ok: false, malformed: true, raw: '<tool_call>{oops', resultJson: '' },
  ],
  reward: {
    total: 0.75,
    components: [
      { name: 'validity', value: 0.5 },
      { name: 'coverage', value: null },
    ],
  },
  stateHash: hash('state'),
  endReason: 'end_of_turn',
}

export const body: GroupBody = {
  leaseId: id16('lease 2'),
  taskId: 'flights/0041',
  policyId: flightManifest.policyId,
  rollouts: [rollout, rollout, rollout, rollout],
  engine: { nodeLlamaCpp: '3.22.1', llamaCpp: 'v0.5.0', backend: 'cpu' },
  generationMs: 8123,
}

export const acceptedVerdict: Verdict = {
  leaseId: id16('lease 2'),
  bodySha256: hash('body'),
  accepted: true,
  code: null,
  detail: '',
  credit: 12.5,
  receivedAtMs: 1_700_000_060_000,
}

export const flightLeaderboard: Leaderboard = {
  version: 7,
  issuedAtMs: 1_700_000_080_000,
  allKeys: 3,
  allTeams: 1,
  keys: [
    { peerId: '12D3KooWvolunteer', team: 'night shift', credit: 240 },
    { peerId: '12D3KooWhelper', team: null, credit: 12 },
  ],
  teams: [{ name: 'night shift', keys: 2, credit: 243 }],
  asked: { rank: 3, key: { peerId: '12D3KooWlate', team: 'night shift', credit: 3 } },
  head: logHead,
}

export const digest: VerdictDigest = {
  peerId: '12D3KooWvolunteer',
  fromCursor: 5,
  verdicts: [
    acceptedVerdict,
    { ...acceptedVerdict, accepted: false, code: 'reward_mismatch', detail: 'rollout 2: 0.5 for 0.25', credit: 0 },
  ],
  totalCredit: 99.5,
  issuedAtMs: 1_700_000_070_000,
}

/** Returns the code with which a call is rejected, or `accepted`. Any error but a SwarmRefusal fails the test. */
export function codeOf(run: () => unknown): string {
  try {
    run()
  } catch (why) {
    if (why instanceof SwarmRefusal) return why.code
    throw why
  }
  return 'accepted'
}

/** Returns a body of about `sizeBytes` that observes every other limit. */
export function bodyOfAbout(sizeBytes: number): GroupBody {
  const rollouts = LIMITS.maxGroupSize.value
  const widest = new Array<number>(Math.floor(sizeBytes / rollouts / 3)).fill(LIMITS.tokenId.value)
  const one: RecordedRollout = { ...rollout, tokens: [...widest, 1], maskRuns: [widest.length, 1], logprobs: [0] }
  return { ...body, rollouts: new Array<RecordedRollout>(rollouts).fill(one) }
}
