/**
 * `Promise.withResolvers` for Node 20, without which libp2p 3 fails in its queues. Import this file before libp2p. It is the only
 * import of this package with a side effect, and has none from Node 22 on.
 */
const promises = Promise as unknown as Record<string, unknown>

promises.withResolvers ??= function withResolvers<T>() {
  const parts: { resolve?: (value: T | PromiseLike<T>) => void; reject?: (why?: unknown) => void } = {}
  const promise = new Promise<T>((resolve, reject) => Object.assign(parts, { resolve, reject }))
  return { promise, ...parts }
}
