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

/** Value of each lower-case hex digit by its character code; other characters: -1. */
const DIGIT = Int8Array.from({ length: 128 }, (_, code) => '0123456789abcdef'.indexOf(String.fromCharCode(code)))

/** Converts hex to bytes. @throws TypeError if `hex` is not an even number of lower-case hex digits */
export function fromHex(hex: string): Uint8Array {
  const bytes = new Uint8Array(hex.length >> 1)
  let isHex = hex.length % 2 === 0
  for (let i = 0; isHex && i < bytes.length; i++) {
    const high = DIGIT[hex.charCodeAt(2 * i)] ?? -1
    const low = DIGIT[hex.charCodeAt(2 * i + 1)] ?? -1
    isHex = high >= 0 && low >= 0
    bytes[i] = 16 * high + low
  }
  if (!isHex) throw new TypeError(`not lower-case hex: ${hex.slice(0, 80)}`)
  return bytes
}
