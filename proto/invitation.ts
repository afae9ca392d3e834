import { publicKeyFromRaw } from '@libp2p/crypto/keys'
import type { PrivateKey } from '@libp2p/interface'
import { peerIdFromPublicKey } from '@libp2p/peer-id'
import { multiaddr } from '@multiformats/multiaddr'
import { CodedError } from '../common/errors/index.js'
import { atMost, bytesOf, hexOf, integer, present, sentence } from './bounds.js'
import { type Codec, codec } from './codec.js'
import type { Sha256 } from './content-id.js'
import { refusal, SwarmRefusal } from './errors.js'
import { prove } from './gen/swarm.js'
import { LIMITS } from './limits.js'
import { PROTOCOL_NEEDS, PROTOCOL_VERSION } from './names.js'
import { bytes, double, message } from './wire-shape.js'

/** The base model of a run, which an invited node can fetch. */
export interface InvitedBase {
  readonly name: string
  readonly sha256: Sha256
  readonly sizeBytes: number
  /** SHA-256 over the hashes of its chunks. With the list of hashes, a false chunk is detected at once. */
  readonly chunkListSha256: Sha256
  /** URLs (https) that serve the same file, in addition to the run's nodes. */
  readonly sources: readonly string[]
}

/** Everything that a stranger needs to take part in a run. */
export interface Invitation {
  /** Peer id of the coordinator, which has signed the invitation. */
  readonly runId: string
  /** Multiaddrs of the coordinator without its key, in the order in which to try them. */
  readonly addresses: readonly string[]
  readonly base: InvitedBase
  /** The operator's own description of itself and of the run's purpose; empty: none. */
  readonly operator: string
  readonly purpose: string
}

export type InvitationErrorCode =
  /** The text is not an invitation. */
  | 'not_an_invitation'
  /** The end of the text is missing. */
  | 'cut_off'
  /** The signature does not match. */
  | 'changed'
  /** The invitation needs a later version of the program. */
  | 'newer'
  /** An earlier version of the program made the invitation. */
  | 'older'
  /** The signature matches, but a field is invalid. */
  | 'malformed'

/** An invitation that cannot be accepted. The message is for the user. */
export class InvitationError extends CodedError<InvitationErrorCode> {}

/**
 * The frame is the same in every version, so that a later invitation can be distinguished from a damaged one: version (1 byte), length of
 * the content (2, big-endian), public key (32), signature (64), content.
 */
const [LENGTH_AT, KEY_AT, SIGNATURE_AT, CONTENT_AT] = [1, 3, 35, 99]
/** Prefix, version and a dash, before the frame in base64url. */
const TEXT = /^prove(\d{1,3})-(.*)$/
const DOMAIN = new TextEncoder().encode('prove/invitation/1')

type Content = Omit<Invitation, 'runId'>

/** Characters that make a terminal display text in another order. */
const REORDERING = /[\p{Bidi_Control}\p{Zl}\p{Zp}]/u

function words(value: string, what: string): string {
  sentence(value, 'detailBytes', what)
  if (REORDERING.test(value)) throw refusal('malformed', `${what} contains characters that reorder text`)
  return value
}

const content: Codec<Content> = codec<Content, prove.Invitation.$Properties>({
  what: 'invitation',
  limit: 'invitationBytes',
  type: prove.Invitation,
  shape: {
    1: bytes(LIMITS.invitationAddresses.value),
    2: message({ 1: bytes(), 2: bytes(), 3: double(), 4: bytes(), 5: bytes(LIMITS.baseSources.value) }),
    3: bytes(),
    4: bytes(),
    5: bytes(),
  },
  read: (wire) => {
    const base = present(wire.base, 'base model')
    if (wire.addresses.length === 0) throw refusal('malformed', 'the invitation contains no address')
    if (base.name === '') throw refusal('malformed', 'the base model has no name')
    atMost('nameBytes', new TextEncoder().encode(base.name).length, 'name of the base model')
    return {
      addresses: wire.addresses.map(readAddress),
      base: {
        name: words(base.name, 'name of the base model'),
        sha256: hexOf(base.ggufSha256, 32, 'hash of the base model'),
        sizeBytes: integer(base.sizeBytes, 1, LIMITS.blobBytes.value, 'size of the base model'),
        chunkListSha256: hexOf(base.chunkListSha256, 32, 'hash of the chunk list'),
        sources: base.sources.map(checkSource),
      },
      operator: words(wire.operator, 'operator'),
      purpose: words(wire.purpose, 'purpose'),
    }
  },
  write: ({ addresses, base, operator, purpose }) => ({
    addresses: addresses.map((address) => multiaddr(address).bytes),
    base: {
      name: base.name,
      ggufSha256: bytesOf(base.sha256),
      sizeBytes: base.sizeBytes,
      chunkListSha256: bytesOf(base.chunkListSha256),
      sources: [...base.sources],
    },
    operator,
    purpose,
    needs: PROTOCOL_NEEDS,
  }),
})

const PACKAGE_VERSION = /^\d{1,9}\.\d{1,9}\.\d{1,9}$/

/** Returns the program version that a later invitation needs; null: it does not contain one. */
function neededBy(encoded: Uint8Array): string | null {
  try {
    const { needs } = prove.Invitation.decode(encoded)
    return PACKAGE_VERSION.test(needs) ? needs : null
  } catch {
    return null
  }
}

const isTaken = (read: () => unknown): boolean => {
  try {
    read()
    return true
  } catch (why) {
    if (why instanceof SwarmRefusal) return false
    throw why
  }
}

/** Tests whether a text may describe a run in an invitation. */
export const isInvitationText = (value: string): boolean => isTaken(() => words(value, ''))

/** Tests whether a base model may be fetched from a URL. */
export const isSource = (value: string): boolean => isTaken(() => checkSource(value))

function readAddress(wire: Uint8Array): string {
  atMost('addressBytes', wire.length, 'address')
  try {
    const address = multiaddr(wire)
    if (address.getComponents().length > 0) return address.toString()
  } catch (cause) {
    throw refusal('malformed', 'not a network address', { cause })
  }
  throw refusal('malformed', 'an empty address')
}

/**
 * Checks a URL of a base model. It must use https, because a plain request could be directed at a service in a volunteer's own network.
 * @throws SwarmRefusal `malformed`, `too_large`
 */
function checkSource(text: string): string {
  atMost('sourceBytes', new TextEncoder().encode(text).length, 'source of the base model')
  const url = URL.canParse(text) ? new URL(text) : null
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '' || /[^\x21-\x7e]/.test(text))
    throw refusal('malformed', `a source of the base model is not an https URL: ${text.slice(0, 80)}`)
  return text
}

/** Returns the bytes to sign. */
function signedPart(frame: Uint8Array): Uint8Array {
  const head = frame.subarray(0, SIGNATURE_AT)
  return Buffer.concat([DOMAIN, head, frame.subarray(CONTENT_AT)])
}

/**
 * Signs an invitation. @param key  the coordinator's
 * @returns  its bytes, for `invitationText`
 * @throws SwarmRefusal if a field is out of bounds
 */
export async function sealInvitation(key: PrivateKey, invited: Content): Promise<Uint8Array> {
  if (key.type !== 'Ed25519') throw new TypeError(`cannot sign with a key of type ${key.type}`)
  const encoded = content.encode(invited)
  const frame = new Uint8Array(CONTENT_AT + encoded.length)
  frame[0] = PROTOCOL_VERSION
  new DataView(frame.buffer).setUint16(LENGTH_AT, encoded.length)
  frame.set(key.publicKey.raw, KEY_AT)
  frame.set(encoded, CONTENT_AT)
  frame.set(await key.sign(signedPart(frame)), SIGNATURE_AT)
  return frame
}

/** Returns the text of an invitation, with which a stranger joins. */
export const invitationText = (sealed: Uint8Array): string =>
  `prove${sealed[0]}-${Buffer.from(sealed).toString('base64url')}`

/** Tests whether a text looks like an invitation, complete or not. */
export const looksLikeInvitation = (text: string): boolean => /^\s*prove\d/.test(text)

/** Reads a typed or pasted invitation, including line breaks. @throws InvitationError */
export async function parseInvitation(text: string): Promise<Invitation> {
  const joined = text.replaceAll(/\s+/g, '')
  if (!looksLikeInvitation(joined))
    throw new InvitationError(
      'not_an_invitation',
      `the text is not an invitation: an invitation begins with prove${PROTOCOL_VERSION}-`,
    )
  const [, version, encoded = ''] = TEXT.exec(joined) ?? []
  if (/[^\w-]/.test(encoded))
    throw new InvitationError('changed', 'the invitation contains invalid characters: copy it again')
  const sealed = Buffer.from(encoded, 'base64url')
  // The decoder ignores letters that do not make a whole byte.
  if (sealed.toString('base64url') !== encoded) throw cutOff()
  const invitation = await openInvitation(sealed)
  if (version !== String(sealed[0])) throw changed()
  return invitation
}

/** Opens an invitation. The key that has signed it is the run's. @throws InvitationError */
export async function openInvitation(sealed: Uint8Array): Promise<Invitation> {
  if (sealed.length < CONTENT_AT) throw cutOff()
  const length = new DataView(sealed.buffer, sealed.byteOffset).getUint16(LENGTH_AT)
  if (sealed.length < CONTENT_AT + length) throw cutOff()
  const runId = await signerOf(sealed)
  if (runId === null || sealed.length > CONTENT_AT + length) throw changed()
  if (sealed[0]! > PROTOCOL_VERSION) throw newer(sealed[0]!, neededBy(sealed.subarray(CONTENT_AT)))
  if (sealed[0]! < PROTOCOL_VERSION) throw older(sealed[0]!)
  try {
    return { runId, ...content.parse(sealed.subarray(CONTENT_AT)) }
  } catch (cause) {
    if (!(cause instanceof SwarmRefusal)) throw cause
    throw new InvitationError('malformed', cause.detail, { cause })
  }
}

/** Returns the peer id of the key whose signature matches; null: no match. */
async function signerOf(sealed: Uint8Array): Promise<string | null> {
  try {
    const key = publicKeyFromRaw(sealed.subarray(KEY_AT, SIGNATURE_AT))
    if (key.type !== 'Ed25519') return null
    const valid = await key.verify(signedPart(sealed), sealed.subarray(SIGNATURE_AT, CONTENT_AT))
    return valid ? peerIdFromPublicKey(key).toString() : null
  } catch {
    // The library throws for bytes that are not a point of the curve.
    return null
  }
}

const cutOff = (): InvitationError =>
  new InvitationError('cut_off', 'the end of the invitation is missing: copy all of it')
const changed = (): InvitationError =>
  new InvitationError('changed', 'the invitation does not match its signature: copy it again')
const newer = (version: number, needs: string | null): InvitationError =>
  new InvitationError(
    'newer',
    `the run uses protocol version ${version}, but this program uses version ${PROTOCOL_VERSION}: install ${needs === null ? 'a newer version' : `prove-swarm ${needs} or newer`}`,
  )
const older = (version: number): InvitationError =>
  new InvitationError(
    'older',
    `the invitation uses protocol version ${version}, but this program uses version ${PROTOCOL_VERSION}: ask the run’s operator for a new invitation`,
  )
