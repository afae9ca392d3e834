import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { publicKeyFromRaw } from '@libp2p/crypto/keys'
import type { PrivateKey } from '@libp2p/interface'
import { peerIdFromPublicKey } from '@libp2p/peer-id'
import { LRUCache } from 'lru-cache'
import { refusal } from './errors.js'

// libp2p converts the key for each signature (@libp2p/crypto 5.1.23). That takes two thirds of the time of a signature, and a fifth of the
// time of a check. The name of a key, in base 58, takes as long again.

/** A public key with its name. */
export interface Signer {
  readonly peerId: string
  readonly key: KeyObject
}

/** Keys that are remembered: more than a coordinator has connections. */
const SIGNERS_KEPT = 20_000

const KEY_BYTES = 32

const privateKeys = new WeakMap<PrivateKey, KeyObject>()
const signers = new LRUCache<string, Signer>({ max: SIGNERS_KEPT })

/** Not by a Buffer: the playground's page checks signatures too. */
const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')

/** Signs bytes. @throws TypeError if the key is not Ed25519 */
export function signBytes(key: PrivateKey, bytes: Uint8Array): Uint8Array {
  if (key.type !== 'Ed25519') throw new TypeError(`cannot sign with a key of type ${key.type}`)
  let converted = privateKeys.get(key)
  if (!converted) {
    const [d, x] = [base64url(key.raw.subarray(0, 32)), base64url(key.publicKey.raw)]
    converted = createPrivateKey({ format: 'jwk', key: { crv: 'Ed25519', kty: 'OKP', d, x } })
    privateKeys.set(key, converted)
  }
  return sign(null, bytes, converted)
}

/** Returns the signer with these 32 bytes of a public key. @throws SwarmRefusal `bad_signature` if they are not a key */
export function signerWith(raw: Uint8Array): Signer {
  if (raw.length !== KEY_BYTES) throw refusal('bad_signature', 'not an Ed25519 public key')
  const name = base64url(raw)
  const known = signers.get(name)
  if (known) return known
  try {
    const peerId = peerIdFromPublicKey(publicKeyFromRaw(raw)).toString()
    const key = createPublicKey({ format: 'jwk', key: { crv: 'Ed25519', kty: 'OKP', x: name } })
    const signer = { peerId, key }
    signers.set(name, signer)
    return signer
  } catch (cause) {
    throw refusal('bad_signature', 'not an Ed25519 public key', { cause })
  }
}

/** Checks a signature. @throws SwarmRefusal `bad_signature` */
export function checkSignature({ peerId, key }: Signer, bytes: Uint8Array, signature: Uint8Array): void {
  let valid = false
  try {
    valid = verify(null, bytes, key, signature)
  } catch (cause) {
    throw refusal('bad_signature', `the key of ${peerId} cannot be used`, { cause })
  }
  if (!valid) throw refusal('bad_signature', `not signed by ${peerId}`)
}
