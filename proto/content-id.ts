import { createHash } from 'node:crypto'

/** A SHA-256 in lower-case hex, 64 characters. It names blobs, bodies, manifests and policies. */
export type Sha256 = string

export const sha256 = (bytes: Uint8Array): Sha256 => createHash('sha256').update(bytes).digest('hex')

export const isSha256 = (value: string): boolean => /^[0-9a-f]{64}$/.test(value)

/** Hex of each byte. Groups are also verified in browsers, which have no `Buffer`. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

export function toHex(bytes: Uint8Array): string {
  let hex = ''
  for (const byte of bytes) hex += HEX[byte]!
  return hex
}

/** Converts hex to bytes. @throws TypeError if `hex` is not an even number of lower-case hex digits */
export function fromHex(hex: string): Uint8Array {
  if (!/^([0-9a-f]{2})*$/.test(hex)) throw new TypeError(`not lower-case hex: ${hex.slice(0, 80)}`)
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
}
