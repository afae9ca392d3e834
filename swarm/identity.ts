import { chmod, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  generateKeyPair,
  generateKeyPairFromSeed,
  privateKeyFromProtobuf,
  privateKeyToProtobuf,
} from '@libp2p/crypto/keys'
import type { PrivateKey } from '@libp2p/interface'
import { peerIdOfKey } from '../proto/index.js'
import { IdentityError } from './errors.js'

/** A node's key. Credit, leases and quarantines belong to the key. */
export interface Identity {
  readonly privateKey: PrivateKey
  readonly peerId: string
}

const KEY_FILE = 'identity.key'
const EXPORT_PREFIX = 'prove-key-1:'
/** Length of an Ed25519 key's seed, which precedes the public key. */
const SEED_BYTES = 32

/**
 * Opens the identity of a data directory, and creates it at the first use. Only the owner can read the file.
 * @throws IdentityError `key_unreadable` if the file is damaged. A new key would silently lose the credit
 */
export async function openIdentity(directory: string): Promise<Identity> {
  const existing = await readKey(directory)
  if (existing) return existing
  const identity = of(await generateKeyPair('Ed25519'))
  await writeKey(directory, identity.privateKey)
  return identity
}

/** Reads the identity of a data directory, or returns null if it has none. @throws IdentityError `key_unreadable` */
export async function readKey(directory: string): Promise<Identity | null> {
  const path = join(directory, KEY_FILE)
  let bytes: Uint8Array
  try {
    bytes = await readFile(path)
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null
    throw new IdentityError('key_unreadable', `${path}: ${(cause as Error).message}`, { cause })
  }
  // A key file that was copied by hand has often lost its mode.
  await chmod(path, 0o600)
  return decode(
    bytes,
    'key_unreadable',
    `${path} is damaged: import a backup with --replace, or move it away for a new key`,
  )
}

/** Returns the key as one line of text, for a backup or another machine. */
export const exportIdentity = (identity: Identity): string =>
  EXPORT_PREFIX + Buffer.from(privateKeyToProtobuf(identity.privateKey)).toString('base64')

/**
 * Imports an exported key into a data directory.
 * @param replace  whether an existing key, readable or not, may be overwritten
 * @throws IdentityError `not_a_key`, `key_exists`
 */
export async function importIdentity(directory: string, text: string, replace = false): Promise<Identity> {
  const trimmed = text.trim()
  if (!trimmed.startsWith(EXPORT_PREFIX))
    throw new IdentityError(
      'not_a_key',
      `the text does not begin with ${EXPORT_PREFIX}: paste the whole line that the export printed`,
    )
  const identity = await decode(
    Buffer.from(trimmed.slice(EXPORT_PREFIX.length), 'base64'),
    'not_a_key',
    'the text is truncated or changed: export the key again',
  )
  const present = replace ? null : await readKey(directory)
  if (present && present.peerId !== identity.peerId) {
    throw new IdentityError(
      'key_exists',
      `${directory} already contains the key of ${present.peerId}: export that key first, then import with --replace`,
    )
  }
  await writeKey(directory, identity.privateKey)
  return identity
}

const of = (privateKey: PrivateKey): Identity => ({ privateKey, peerId: peerIdOfKey(privateKey) })

async function decode(bytes: Uint8Array, code: 'key_unreadable' | 'not_a_key', what: string): Promise<Identity> {
  let key: PrivateKey
  try {
    key = privateKeyFromProtobuf(bytes)
  } catch (cause) {
    throw new IdentityError(code, what, { cause })
  }
  if (key.type !== 'Ed25519') throw new IdentityError(code, `${what} (this is a key of type ${key.type})`)
  // The library accepts any two halves as a key, but their signatures would not verify.
  const { publicKey } = await generateKeyPairFromSeed('Ed25519', key.raw.subarray(0, SEED_BYTES))
  if (!publicKey.equals(key.publicKey))
    throw new IdentityError(code, `${what} (the public key does not match the private key)`)
  return of(key)
}

async function writeKey(directory: string, key: PrivateKey): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const path = join(directory, KEY_FILE)
  const temporary = `${path}.${process.pid}.tmp`
  try {
    // Sets the mode at creation. With a later chmod, other users could read the file meanwhile.
    const file = await open(temporary, 'w', 0o600)
    try {
      await file.writeFile(privateKeyToProtobuf(key))
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } finally {
    await rm(temporary, { force: true })
  }
}
