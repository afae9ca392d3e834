import type { PrivateKey } from '@libp2p/interface'
import { peerIdFromPublicKey } from '@libp2p/peer-id'
import { codec } from './codec.js'
import { refusal, SwarmRefusal } from './errors.js'
import { prove } from './gen/swarm.js'
import type { LimitName } from './limits.js'
import { checkSignature, signBytes, signerWith } from './signing.js'
import { bytes } from './wire-shape.js'

/** The kind of a signed message. It is part of the signed bytes, so a signature is never valid for another kind. */
export const ENVELOPE_KINDS = [
  'policy-manifest',
  'policy-announcement',
  'group-announcement',
  'verdict-digest',
  'address-notice',
  'leaderboard',
  'log-head',
  'rederivation',
] as const
export type EnvelopeKind = (typeof ENVELOPE_KINDS)[number]

export interface OpenedEnvelope {
  readonly payload: Uint8Array
  /** Unsigned bytes, empty if none were sent. Check them against a hash in the payload. */
  readonly attachment: Uint8Array
  /** Peer id of the key that signed. */
  readonly signer: string
}

const PUBLIC_KEY_BYTES = 32
const SIGNATURE_BYTES = 64
const DOMAIN = 'prove/envelope/1'
const encoder = new TextEncoder()

/** Returns the bytes to sign: each part after its length, so that different envelopes have different bytes. */
function signedBytes(kind: string, runId: string, payload: Uint8Array): Uint8Array {
  const parts = [encoder.encode(DOMAIN), encoder.encode(kind), encoder.encode(runId), payload]
  const whole = new Uint8Array(parts.reduce((size, part) => size + 4 + part.length, 0))
  const view = new DataView(whole.buffer)
  let at = 0
  for (const part of parts) {
    view.setUint32(at, part.length)
    whole.set(part, at + 4)
    at += 4 + part.length
  }
  return whole
}

interface WireEnvelope {
  readonly kind: string
  readonly runId: string
  readonly payload: Uint8Array
  readonly publicKey: Uint8Array
  readonly signature: Uint8Array
  readonly attachment: Uint8Array
}

const envelopeCodec = (limit: LimitName) =>
  codec<WireEnvelope, prove.Envelope.$Properties>({
    what: 'envelope',
    limit,
    shape: { 1: bytes(), 2: bytes(), 3: bytes(), 4: bytes(), 5: bytes(), 6: bytes() },
    type: prove.Envelope,
    write: (value) => value,
    read: (wire) => {
      if (wire.publicKey.length !== PUBLIC_KEY_BYTES || wire.signature.length !== SIGNATURE_BYTES) {
        throw refusal('malformed', 'envelope has no Ed25519 key and signature')
      }
      return wire
    },
  })

/** Returns the peer id of a key. Only Ed25519, because the envelope contains the raw key. */
export function peerIdOfKey(key: PrivateKey): string {
  return peerIdFromPublicKey(key.publicKey).toString()
}

/** Returns the peer id of the 32 bytes of a public key. @throws SwarmRefusal `bad_signature` if they are not a key */
export function peerIdOfPublicKey(raw: Uint8Array): string {
  return signerWith(raw).peerId
}

/**
 * Signs a payload for one run and one purpose.
 * @param limit       size limit of the whole envelope
 * @param attachment  unsigned bytes to send with it
 * @throws SwarmRefusal `too_large`; TypeError if the key is not Ed25519
 */
export async function sealEnvelope(
  key: PrivateKey,
  limit: LimitName,
  content: { kind: EnvelopeKind; runId: string; payload: Uint8Array; attachment?: Uint8Array },
): Promise<Uint8Array> {
  const { kind, runId, payload, attachment = new Uint8Array() } = content
  const signature = signBytes(key, signedBytes(kind, runId, payload))
  return envelopeCodec(limit).encode({ kind, runId, payload, publicKey: key.publicKey.raw, signature, attachment })
}

/**
 * Opens an envelope: checks size, kind, run and signature.
 * @returns  the unparsed payload and the signer
 * @throws SwarmRefusal `too_large`, `malformed`, `wrong_run`, `bad_signature`; `wrong_signer` if `signer` is given and
 *         another key has signed
 */
export async function openEnvelope(
  data: Uint8Array,
  limit: LimitName,
  expected: { kind: EnvelopeKind; runId: string; signer?: string },
): Promise<OpenedEnvelope> {
  const { kind, runId, payload, publicKey, signature, attachment } = envelopeCodec(limit).parse(data)
  if (kind !== expected.kind) throw refusal('malformed', `envelope is not a ${expected.kind}`)
  if (runId !== expected.runId) throw refusal('wrong_run', `this run is ${expected.runId}`)
  const signer = signerWith(publicKey)
  const { peerId } = signer
  if (expected.signer !== undefined && peerId !== expected.signer) throw refusal('wrong_signer', `signed by ${peerId}`)
  checkSignature(signer, signedBytes(kind, runId, payload), signature)
  return { payload, attachment, signer: peerId }
}

/** Returns the signer of an envelope of a kind, for any run; null if there is no valid signature. */
export async function signerOf(data: Uint8Array, limit: LimitName, kind: EnvelopeKind): Promise<string | null> {
  try {
    const { runId } = envelopeCodec(limit).parse(data)
    return (await openEnvelope(data, limit, { kind, runId })).signer
  } catch (why) {
    if (why instanceof SwarmRefusal) return null
    throw why
  }
}

/** Returns the size of an envelope without its attachment, to which the limit of signed announcements applies. */
export const signedSize = (data: Uint8Array, opened: OpenedEnvelope): number =>
  opened.attachment.length === 0
    ? data.length
    : data.length - opened.attachment.length - 1 - varintSize(opened.attachment.length)

const varintSize = (value: number): number => (value < 128 ? 1 : value < 16_384 ? 2 : 3)
