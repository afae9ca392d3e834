import { ed25519 } from '@noble/curves/ed25519.js'
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'

/** The part of `node:crypto` that environments, tasks and verification use, for browsers. The hashes are synchronous because environments are. */

type Content = string | Uint8Array

const encoder = new TextEncoder()
const bytesOf = (content: Content): Uint8Array => (typeof content === 'string' ? encoder.encode(content) : content)
const hexOf = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

/** Bytes with the one method of Node.js buffers that callers use. */
class Digest extends Uint8Array {
  readUInt32LE(at: number): number {
    return new DataView(this.buffer, this.byteOffset, this.byteLength).getUint32(at, true)
  }
}

function checkName(algorithm: string): void {
  if (algorithm !== 'sha256') throw new TypeError(`the hash ${algorithm} is not available in the browser: use sha256`)
}

interface Hashing {
  update(content: Content): Hashing
  digest(): Digest
  digest(encoding: 'hex'): string
}

function hashing(state: { update(bytes: Uint8Array): unknown; digest(): Uint8Array }): Hashing {
  const self = {
    update(content: Content) {
      state.update(bytesOf(content))
      return self
    },
    digest: (encoding?: 'hex') => (encoding === 'hex' ? hexOf(state.digest()) : new Digest(state.digest())),
  } as Hashing
  return self
}

export function createHash(algorithm: string): Hashing {
  checkName(algorithm)
  return hashing(sha256.create())
}

export function createHmac(algorithm: string, key: Content): Hashing {
  checkName(algorithm)
  return hashing(hmac.create(sha256, bytesOf(key)))
}

export function hash(algorithm: string, content: Content, encoding: 'hex' | 'buffer' = 'hex'): string | Digest {
  checkName(algorithm)
  const digest = sha256(bytesOf(content))
  return encoding === 'hex' ? hexOf(digest) : new Digest(digest)
}

export const randomUUID = (): string => globalThis.crypto.randomUUID()
export const randomBytes = (count: number): Uint8Array => globalThis.crypto.getRandomValues(new Uint8Array(count))

/** Returns the 32 bytes of an Ed25519 public key. */
export const createPublicKey = ({ key }: { readonly key: { readonly x: string } }): Uint8Array =>
  Uint8Array.from(atob(key.x.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0))
export const verify = (_algorithm: null, content: Uint8Array, key: Uint8Array, signature: Uint8Array): boolean =>
  ed25519.verify(signature, content, key, { zip215: false })

/** The page signs nothing. */
const unavailable = (name: string) => (): never => {
  throw new TypeError(`${name} is not available in the browser`)
}
export const createPrivateKey = unavailable('createPrivateKey')
export const sign = unavailable('sign')
