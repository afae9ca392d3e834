import canonicalize from 'canonicalize'

/** The part of `node:util` that worlds use, for browsers. Rows are JSON, and that is all that is compared. */
export const isDeepStrictEqual = (one: unknown, other: unknown): boolean => canonicalize(one) === canonicalize(other)
