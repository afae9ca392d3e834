import { WebSocket } from 'ws'

/**
 * What Node 20 lacks: `Promise.withResolvers`, without which libp2p 3 dies in its queues, and the global `WebSocket`, with which it dials.
 * Import this file before libp2p. The only import of the swarm with an effect; unnecessary from Node 22 on, where it does nothing.
 */
const promises = Promise as unknown as Record<string, unknown>

promises.withResolvers ??= function withResolvers<T>() {
  const parts: { resolve?: (value: T | PromiseLike<T>) => void; reject?: (why?: unknown) => void } = {}
  const promise = new Promise<T>((resolve, reject) => Object.assign(parts, { resolve, reject }))
  return { promise, ...parts }
}

const globals = globalThis as unknown as Record<string, unknown>

globals.WebSocket ??= WebSocket
