import type { PrivateKey } from '@libp2p/interface'
import {
  bytesOf,
  distinct,
  finite,
  hexOf,
  identifier,
  integer,
  logprobs,
  oneOf,
  present,
  text,
  timeMs,
  tokens,
} from './bounds.js'
import { type Codec, codec, type Decoded } from './codec.js'
import { type Sha256, sha256, toHex } from './content-id.js'
import { openEnvelope, sealEnvelope } from './envelope.js'
import { refusal } from './errors.js'
import { prove } from './gen/swarm.js'
import { LIMITS } from './limits.js'
import { LOG_HEAD_SHAPE, type LogHead, readLogHead, writeLogHead } from './log-head.js'
import { readShards } from './names.js'
import { POLICY_SHAPE, type PolicyDescription, policyIdOf, readPolicy, writePolicy } from './policy.js'
import { bytes, double, message, number, packed } from './wire-shape.js'

/** The purposes of a publication's files. A receiver names its files by hash and role; no file name is sent. */
export const BLOB_ROLES = [
  'adapter',
  'adapter-difference',
  'base',
  'peft-weights',
  'peft-config',
  'base-config',
  'optimizer',
  'random-state',
  'training-batch',
  'held-out',
  'provenance',
  'model-signature',
] as const
export type BlobRole = (typeof BLOB_ROLES)[number]

/** It is no file of the publication: it only saves traffic. */
const DIFFERENCE: BlobRole = 'adapter-difference'

/** A file that the swarm can exchange in chunks. */
export interface BlobDescription {
  readonly role: BlobRole
  readonly sha256: Sha256
  readonly sizeBytes: number
  /** Hash of each chunk, in order. Every chunk except the last has `LIMITS.chunkBytes`. */
  readonly chunkSha256s: readonly Sha256[]
}

/** The adapter of a version as changes of the adapter before it, for nodes that have that one. */
export interface AdapterDifference {
  /** Hash of the adapter that it changes. */
  readonly from: Sha256
  readonly blob: BlobDescription
}

/** A prompt with the right policy's answer, with which a node detects an adapter that is not applied. */
export interface Canary {
  readonly promptTokens: readonly number[]
  readonly continuationTokens: readonly number[]
  /** Log-probability (nats) of each continuation token under the base model without adapter. */
  readonly baseLogprobs: readonly number[]
  /** Log-probability (nats) of each continuation token under base model and adapter. */
  readonly policyLogprobs: readonly number[]
}

/** Largest differences (nats) of an engine's log-probabilities from a canary's that pass. */
export interface CanaryTolerance {
  /** Mean over the tokens of a continuation. */
  readonly mean: number
  /** Largest difference of a single token. */
  readonly max: number
}

export interface EpisodeLimits {
  /** Rollouts per group, G. */
  readonly groupSize: number
  readonly maxTurnTokens: number
  readonly maxRolloutTokens: number
  readonly maxAssistantTurns: number
  readonly maxUserTurns: number
  /** Largest age of a group at training in versions, S. */
  readonly maxStaleness: number
}

/** One publication: the policy of a round and everything that a node needs to use it. */
export interface PolicyManifest {
  readonly round: number
  /** Grows with every manifest of a run, also if an older adapter is published again. */
  readonly version: number
  readonly policyId: Sha256
  readonly policy: PolicyDescription
  readonly blobs: readonly BlobDescription[]
  readonly canary: readonly Canary[]
  readonly canaryTolerance: CanaryTolerance
  readonly limits: EpisodeLimits
  /** Source of the tasks. Only the coordinator and its synthesis interpret it. */
  readonly taskSpec: Readonly<Record<string, string>>
  /** SHA-256 of this round's secret, published before any lease of it. */
  readonly roundSecretHash: Sha256
  /** Secrets (hex, 32 bytes) of past rounds, with which anyone can check that no task was hand-picked. */
  readonly closedRounds: readonly { readonly round: number; readonly secret: string }[]
  readonly createdAtMs: number
  readonly expiresAtMs: number
  /** Run configuration of the round. Groups of its leases are verified under it, also after later changes. */
  readonly configurationId: Sha256
  /** The coordinator's log when it signed this manifest. */
  readonly head: LogHead
  /** Number of gossip shards of the run, a power of two. */
  readonly shards: number
  /** null: there is no adapter before it, or the difference is not much smaller than the adapter. */
  readonly difference: AdapterDifference | null
}

export const MAX_ROUND = 2 ** 32 - 1

/** Returns the number of chunks of a file, at least 1 for a file with content. */
export const chunkCount = (sizeBytes: number): number => Math.ceil(sizeBytes / LIMITS.chunkBytes.value)

/** Returns the length of a chunk in bytes. */
export const chunkLength = (sizeBytes: number, index: number): number =>
  Math.min(LIMITS.chunkBytes.value, sizeBytes - index * LIMITS.chunkBytes.value)

const BLOB_SHAPE = { 1: bytes(), 2: bytes(), 3: double(), 4: number(), 5: bytes() }

export const policyManifest: Codec<PolicyManifest> = codec<PolicyManifest, prove.PolicyManifest.$Properties>({
  what: 'policy manifest',
  limit: 'manifestBytes',
  type: prove.PolicyManifest,
  shape: {
    1: number(),
    2: number(),
    3: bytes(),
    4: message(POLICY_SHAPE),
    5: message(BLOB_SHAPE, LIMITS.blobsPerManifest.value),
    6: message(
      {
        1: packed(0),
        2: packed(0),
        3: packed(4),
        4: packed(4),
      },
      LIMITS.canaries.value,
    ),
    7: message({ 1: number(), 2: number(), 3: number(), 4: number(), 5: number(), 6: number() }),
    8: message({ 1: bytes(), 2: bytes() }, LIMITS.taskSettings.value),
    9: bytes(),
    10: message({ 1: number(), 2: bytes() }, LIMITS.closedRounds.value),
    11: double(),
    12: double(),
    13: bytes(),
    14: message({ 1: double(), 2: double() }),
    15: message(LOG_HEAD_SHAPE),
    16: number(),
    17: message({ 1: bytes(), 2: message(BLOB_SHAPE) }),
  },
  read: (wire) => {
    const policy = readPolicy(present(wire.policy, 'policy'))
    const policyId = hexOf(wire.policyId, 32, 'policy id')
    if (policyId !== policyIdOf(policy)) throw refusal('policy_id_mismatch', `announced as ${policyId}`)
    const blobs = wire.blobs.map(readBlob)
    checkBlobs(policy, blobs)
    const createdAtMs = timeMs(wire.createdAtMs, 'creation time')
    return {
      round: integer(wire.round, 0, MAX_ROUND, 'round'),
      version: integer(wire.version, 0, MAX_ROUND, 'version'),
      policyId,
      policy,
      blobs,
      canary: wire.canary.map(readCanary),
      canaryTolerance: readCanaryTolerance(present(wire.canaryTolerance, 'canary tolerance')),
      limits: readEpisodeLimits(present(wire.limits, 'episode limits')),
      taskSpec: readTaskSpec(wire.taskSpec),
      roundSecretHash: hexOf(wire.roundSecretHash, 32, 'hash of the round secret'),
      closedRounds: wire.closedRounds.map(({ round, secret }) => ({
        round: integer(round, 0, MAX_ROUND, 'closed round'),
        secret: hexOf(secret, 32, 'round secret'),
      })),
      createdAtMs,
      expiresAtMs: integer(wire.expiresAtMs, createdAtMs, LIMITS.maxTimeMs.value, 'expiry'),
      configurationId: hexOf(wire.configurationId, 32, 'configuration id'),
      head: readLogHead(present(wire.head, 'head of the log')),
      shards: readShards(wire.shards),
      difference: wire.difference ? readDifference(wire.difference, blobs) : null,
    }
  },
  write: (manifest) => ({
    ...manifest,
    policyId: bytesOf(manifest.policyId),
    policy: writePolicy(manifest.policy),
    blobs: manifest.blobs.map(writeBlob),
    difference: manifest.difference && {
      fromSha256: bytesOf(manifest.difference.from),
      blob: writeBlob(manifest.difference.blob),
    },
    canary: manifest.canary.map((canary) => ({
      promptTokens: [...canary.promptTokens],
      continuationTokens: [...canary.continuationTokens],
      baseLogprobs: [...canary.baseLogprobs],
      policyLogprobs: [...canary.policyLogprobs],
    })),
    taskSpec: Object.entries(manifest.taskSpec).map(([key, value]) => ({ key, value })),
    roundSecretHash: bytesOf(manifest.roundSecretHash),
    configurationId: bytesOf(manifest.configurationId),
    closedRounds: manifest.closedRounds.map(({ round, secret }) => ({ round, secret: bytesOf(secret) })),
    head: writeLogHead(manifest.head),
  }),
})

/** Largest size of each kind of file, because a node fetches every file that a manifest names. */
const MOST_BYTES: Readonly<Record<BlobRole, number>> = {
  adapter: LIMITS.adapterBytes.value,
  'adapter-difference': LIMITS.adapterBytes.value,
  base: LIMITS.blobBytes.value,
  'peft-weights': LIMITS.adapterBytes.value,
  'peft-config': LIMITS.blobMetadataBytes.value,
  'base-config': LIMITS.blobMetadataBytes.value,
  optimizer: LIMITS.optimizerBytes.value,
  'random-state': LIMITS.blobMetadataBytes.value,
  'training-batch': LIMITS.trainingBatchBytes.value,
  'held-out': LIMITS.blobMetadataBytes.value,
  provenance: LIMITS.blobMetadataBytes.value,
  'model-signature': LIMITS.blobMetadataBytes.value,
}

const writeBlob = (blob: BlobDescription) => ({
  role: blob.role,
  sha256: bytesOf(blob.sha256),
  sizeBytes: blob.sizeBytes,
  chunkSizeBytes: LIMITS.chunkBytes.value,
  chunkSha256s: bytesOf(blob.chunkSha256s.join('')),
})

/** Reads the difference of the adapter, which must be smaller than the adapter. */
function readDifference(
  wire: Decoded<prove.Difference.$Properties>,
  blobs: readonly BlobDescription[],
): AdapterDifference {
  const blob = readBlob(present(wire.blob, 'file of the difference'))
  const adapter = blobs.find(({ role }) => role === 'adapter')
  if (blob.role !== DIFFERENCE) throw refusal('malformed', `a difference as ${blob.role}`)
  if (!adapter || blob.sizeBytes >= adapter.sizeBytes)
    throw refusal('malformed', 'a difference larger than its adapter')
  return { from: hexOf(wire.fromSha256, 32, 'hash of the adapter before'), blob }
}

function readBlob(wire: Decoded<prove.Blob.$Properties>): BlobDescription {
  const role = oneOf(wire.role, BLOB_ROLES, 'blob role')
  const sizeBytes = integer(wire.sizeBytes, 1, MOST_BYTES[role], `size of the ${role} blob`)
  if (wire.chunkSizeBytes !== LIMITS.chunkBytes.value) throw refusal('malformed', `chunks of ${wire.chunkSizeBytes} B`)
  const hashes = toHex(wire.chunkSha256s)
  const chunks = chunkCount(sizeBytes)
  if (hashes.length !== chunks * 64)
    throw refusal('malformed', `${hashes.length / 64} chunk hashes for ${chunks} chunks`)
  const chunkSha256s = Array.from({ length: chunks }, (_, index) => hashes.slice(index * 64, index * 64 + 64))
  return { role, sha256: hexOf(wire.sha256, 32, `hash of the ${role} blob`), sizeBytes, chunkSha256s }
}

/** Checks that the blobs are the files that the policy id names. */
function checkBlobs(policy: PolicyDescription, blobs: readonly BlobDescription[]): void {
  distinct(
    blobs.map((blob) => blob.role),
    'blob roles',
  )
  if (blobs.some(({ role }) => role === DIFFERENCE)) throw refusal('malformed', 'a difference among the files')
  const adapter = blobs.find((blob) => blob.role === 'adapter')
  if (adapter?.sha256 !== policy.adapter?.sha256 || adapter?.sizeBytes !== policy.adapter?.sizeBytes) {
    throw refusal('malformed', 'the adapter blob is not the adapter of the policy')
  }
  const base = blobs.find((blob) => blob.role === 'base')
  if (base && base.sha256 !== policy.base.ggufSha256) throw refusal('malformed', 'the base blob is not the base')
}

function readCanary(wire: Decoded<prove.Canary.$Properties>): Canary {
  const { length } = wire.continuationTokens
  if (wire.promptTokens.length === 0 || length === 0)
    throw refusal('malformed', 'canary without prompt or continuation')
  if (wire.baseLogprobs.length !== length || wire.policyLogprobs.length !== length) {
    throw refusal('malformed', 'canary needs one log-probability per continuation token')
  }
  return {
    promptTokens: tokens(wire.promptTokens, 'canaryTokens', 'canary prompt'),
    continuationTokens: tokens(wire.continuationTokens, 'canaryTokens', 'canary continuation'),
    baseLogprobs: logprobs(wire.baseLogprobs, 'canary log-probability of the base'),
    policyLogprobs: logprobs(wire.policyLogprobs, 'canary log-probability of the policy'),
  }
}

function readCanaryTolerance(wire: Decoded<prove.CanaryTolerance.$Properties>): CanaryTolerance {
  const most = LIMITS.canaryTolerance.value
  const max = finite(wire.max, Number.MIN_VALUE, most, 'largest difference from a canary')
  return { mean: finite(wire.mean, Number.MIN_VALUE, max, 'mean difference from a canary'), max }
}

function readEpisodeLimits(wire: Decoded<prove.EpisodeLimits.$Properties>): EpisodeLimits {
  const { minGroupSize, maxGroupSize, turnTokens, rolloutTokens, turns, staleness } = LIMITS
  return {
    groupSize: integer(wire.groupSize, minGroupSize.value, maxGroupSize.value, 'group size'),
    maxTurnTokens: integer(wire.maxTurnTokens, 1, turnTokens.value, 'tokens per turn'),
    maxRolloutTokens: integer(wire.maxRolloutTokens, 1, rolloutTokens.value, 'tokens per rollout'),
    maxAssistantTurns: integer(wire.maxAssistantTurns, 1, turns.value, 'assistant turns'),
    maxUserTurns: integer(wire.maxUserTurns, 1, turns.value, 'user turns'),
    maxStaleness: integer(wire.maxStaleness, 0, staleness.value, 'staleness'),
  }
}

function readTaskSpec(settings: readonly Decoded<prove.TaskSetting.$Properties>[]): Record<string, string> {
  distinct(
    settings.map((setting) => setting.key),
    'task settings',
  )
  return Object.fromEntries(
    settings.map(({ key, value }) => [
      identifier(key, 'nameBytes', 'task setting'),
      text(value, 'taskSettingBytes', `task setting ${key}`),
    ]),
  )
}

/** A manifest as stored and served: signed bytes, named by the hash of the signed payload. */
export interface SealedManifest {
  readonly manifestId: Sha256
  readonly manifest: PolicyManifest
  readonly envelope: Uint8Array
}

/** Signs a manifest. @param key  the coordinator's, whose peer id is the run id */
export async function sealManifest(key: PrivateKey, runId: string, manifest: PolicyManifest): Promise<SealedManifest> {
  const payload = policyManifest.encode(manifest)
  const envelope = await sealEnvelope(key, 'manifestBytes', { kind: 'policy-manifest', runId, payload })
  return { manifestId: sha256(payload), manifest, envelope }
}

/**
 * Opens a manifest from any peer. Only the coordinator's signature is valid.
 * @throws SwarmRefusal for size, form, run, signature, `wrong_signer`, `policy_id_mismatch`
 */
export async function openManifest(envelope: Uint8Array, runId: string): Promise<SealedManifest> {
  const expected = { kind: 'policy-manifest', runId, signer: runId } as const
  const { payload } = await openEnvelope(envelope, 'manifestBytes', expected)
  return { manifestId: sha256(payload), manifest: policyManifest.parse(payload), envelope }
}

/**
 * Checks whether a manifest or announcement may take effect.
 * @param newest  highest round known so far, or null
 * @throws SwarmRefusal `expired`, `stale_manifest`
 */
export function checkSuccession(
  next: { readonly round: number; readonly expiresAtMs: number },
  newest: number | null,
  nowMs: number,
): void {
  if (next.expiresAtMs <= nowMs) {
    const [end, now] = [next.expiresAtMs, nowMs].map((time) => new Date(time).toISOString())
    throw refusal(
      'expired',
      `round ${next.round} ended at ${end}, and this machine’s clock shows ${now}: check the clock`,
    )
  }
  if (newest !== null && next.round < newest) throw refusal('stale_manifest', `round ${next.round} < ${newest}`)
}
