import { createHash, timingSafeEqual } from 'node:crypto'

/** Returns the token of a header `Authorization: Bearer TOKEN`, or undefined. Letter case of the scheme does not count (RFC 9110, 11.1). */
export const bearerToken = (authorization: string | undefined): string | undefined =>
  /^Bearer (.+)$/i.exec(authorization ?? '')?.[1]

/** Compares two tokens. The time it takes shows nothing about either: hashes have the same length. */
export const areSameToken = (one: string, other: string): boolean => timingSafeEqual(sha256(one), sha256(other))

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()
