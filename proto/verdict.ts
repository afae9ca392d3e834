import type { PrivateKey } from '@libp2p/interface'
import { atMost, bytesOf, finite, hexOf, integer, label, refusalCode, sentence, text, timeMs } from './bounds.js'
import { type Codec, codec, type Decoded } from './codec.js'
import { type Sha256, toHex } from './content-id.js'
import { openEnvelope, sealEnvelope } from './envelope.js'
import { type RefusalCode, refusal } from './errors.js'
import { prove } from './gen/swarm.js'
import { ID_BYTES } from './lease.js'
import { LIMITS } from './limits.js'
import { bytes, double, message, number } from './wire-shape.js'

/** The verdict on one group. */
export interface Verdict {
  readonly leaseId: string
  readonly bodySha256: Sha256
  readonly accepted: boolean
  /** `null` exactly if the group was accepted. */
  readonly code: RefusalCode | null
  readonly detail: string
  readonly credit: number
  readonly receivedAtMs: number
}

/** A page of one node's verdicts, signed by the coordinator as proof of the credit. */
export interface VerdictDigest {
  readonly peerId: string
  /** Position of the first verdict in the node's list. The next cursor is this plus the number of verdicts. */
  readonly fromCursor: number
  readonly verdicts: readonly Verdict[]
  /** The node's credit for all its groups when the digest was created. */
  readonly totalCredit: number
  readonly issuedAtMs: number
}

export const MAX_CURSOR = 2 ** 32 - 1
const MAX_CREDIT = 2 ** 53

export const verdictDigest: Codec<VerdictDigest> = codec<VerdictDigest, prove.VerdictDigest.$Properties>({
  what: 'verdict digest',
  limit: 'verdictDigestBytes',
  type: prove.VerdictDigest,
  shape: {
    1: bytes(),
    2: number(),
    3: message(
      { 1: bytes(), 2: bytes(), 3: number(), 4: bytes(), 5: bytes(), 6: double(), 7: double() },
      LIMITS.verdictsPerDigest.value,
    ),
    4: double(),
    5: double(),
  },
  read: (wire) => ({
    peerId: label(wire.peerId, 'nameBytes', 'peer id'),
    fromCursor: integer(wire.fromCursor, 0, MAX_CURSOR, 'cursor'),
    verdicts: wire.verdicts.map(readVerdict),
    totalCredit: finite(wire.totalCredit, 0, MAX_CREDIT, 'total credit'),
    issuedAtMs: timeMs(wire.issuedAtMs, 'time of issue'),
  }),
  write: (digest) => ({
    ...digest,
    verdicts: digest.verdicts.map((verdict) => ({
      ...verdict,
      leaseId: bytesOf(verdict.leaseId),
      bodySha256: bytesOf(verdict.bodySha256),
      code: verdict.code ?? '',
    })),
  }),
})

function readVerdict(wire: Decoded<prove.Verdict.$Properties>): Verdict {
  if (wire.accepted !== (wire.code === '')) throw refusal('malformed', 'a verdict accepts or has a code')
  return {
    leaseId: hexOf(wire.leaseId, ID_BYTES, 'lease id'),
    bodySha256: hexOf(wire.bodySha256, 32, 'body hash'),
    accepted: wire.accepted,
    code: wire.accepted ? null : refusalCode(wire.code),
    detail: sentence(wire.detail, 'detailBytes', 'detail'),
    credit: finite(wire.credit, 0, MAX_CREDIT, 'credit'),
    receivedAtMs: timeMs(wire.receivedAtMs, 'time of receipt'),
  }
}

export const sealVerdictDigest = (key: PrivateKey, runId: string, digest: VerdictDigest): Promise<Uint8Array> =>
  sealEnvelope(key, 'verdictDigestBytes', { kind: 'verdict-digest', runId, payload: verdictDigest.encode(digest) })

/** Opens a digest. @throws SwarmRefusal; `wrong_signer` for every key except the coordinator's */
export async function openVerdictDigest(data: Uint8Array, runId: string): Promise<VerdictDigest> {
  const expected = { kind: 'verdict-digest', runId, signer: runId } as const
  const { payload } = await openEnvelope(data, 'verdictDigestBytes', expected)
  return verdictDigest.parse(payload)
}

export interface VerdictRequest {
  /** Number of verdicts that the node already has. */
  readonly cursor: number
  readonly max: number
  /** Lease whose verdict the coordinator shall prove to be in its log. */
  readonly proofOf?: string
  /** Number of events for which the coordinator shall sign the head that its log had then. */
  readonly headAt?: number
}

export const verdictRequest: Codec<VerdictRequest> = codec<VerdictRequest, prove.VerdictRequest.$Properties>({
  what: 'verdict request',
  limit: 'verdictRequestBytes',
  type: prove.VerdictRequest,
  shape: { 1: number(), 2: number(), 3: bytes(), 4: number() },
  read: ({ cursor, max, proofOf, headAt }) => ({
    cursor: integer(cursor, 0, MAX_CURSOR, 'cursor'),
    max: integer(max, 1, LIMITS.verdictsPerDigest.value, 'verdicts asked for'),
    ...(proofOf.length === 0 ? {} : { proofOf: hexOf(proofOf, ID_BYTES, 'lease id') }),
    ...(headAt === 0 ? {} : { headAt: integer(headAt, 1, MAX_CURSOR, 'number of events') }),
  }),
  write: ({ proofOf, ...request }) => ({
    ...request,
    ...(proofOf === undefined ? {} : { proofOf: bytesOf(proofOf) }),
  }),
})

/** Proof that a verdict is in the log, under the root of a signed head. */
export interface VerdictProof {
  /** See `verdictLeafText`. */
  readonly leaf: string
  readonly index: number
  /** Hashes of the sibling subtrees, from the leaf on. */
  readonly path: readonly Sha256[]
}

export interface VerdictResponse {
  /** A sealed `VerdictDigest`. */
  readonly digest: Uint8Array
  /** Whether there are verdicts after this page. */
  readonly more: boolean
  /** A sealed `IssuedHead`: the one asked for, or the one that the proof leads to. */
  readonly head?: Uint8Array
  readonly proof?: VerdictProof
}

export const verdictResponse: Codec<VerdictResponse> = codec<VerdictResponse, prove.VerdictResponse.$Properties>({
  what: 'verdict response',
  limit: 'verdictResponseBytes',
  type: prove.VerdictResponse,
  shape: { 1: bytes(), 2: number(), 3: bytes(), 4: message({ 1: bytes(), 2: number(), 3: bytes() }) },
  read: ({ digest, more, head, proof }) => {
    atMost('verdictDigestBytes', digest.length, 'verdict digest')
    atMost('headBytes', head.length, 'head of the log')
    return {
      ...{ digest, more },
      ...(head.length === 0 ? {} : { head }),
      ...(proof ? { proof: readProof(proof) } : {}),
    }
  },
  write: ({ proof, ...response }) => ({
    ...response,
    ...(proof ? { proof: { ...proof, path: bytesOf(proof.path.join('')) } } : {}),
  }),
})

/** A tree of 2 ** 32 leaves has as many levels. */
const MOST_LEVELS = 32

function readProof({ leaf, index, path }: Decoded<prove.VerdictProof.$Properties>): VerdictProof {
  if (path.length % 32 !== 0 || path.length > 32 * MOST_LEVELS) throw refusal('malformed', 'the path of a proof')
  const hashes = toHex(path).match(/.{64}/g) ?? []
  return {
    leaf: text(leaf, 'verdictLeafBytes', 'leaf of a proof'),
    index: integer(index, 0, MAX_CURSOR, 'index of a leaf'),
    path: hashes,
  }
}
