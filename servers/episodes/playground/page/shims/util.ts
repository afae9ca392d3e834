import canonicalize from 'canonicalize'

/** The part of `node:util` that environments use, for browsers. They compare rows only, and rows are JSON. */
export const isDeepStrictEqual = (one: unknown, other: unknown): boolean => canonicalize(one) === canonicalize(other)
