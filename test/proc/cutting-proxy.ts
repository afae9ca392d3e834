import { connect, createServer, type Socket } from 'node:net'

/** A TCP proxy on the loopback that can stop in the middle of what a client sends. */
export interface CuttingProxy {
  readonly port: number
  /** Lets so many more bytes of the client through, then nothing. Resolves when they are through. */
  cutAfter(bytes: number): Promise<void>
  /** Lets everything of new connections through; the old ones are gone. */
  mend(): void
  close(): Promise<void>
}

export async function createCuttingProxy(target: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>()
  let allowed = Number.POSITIVE_INFINITY
  let cut = Promise.withResolvers<void>()
  const drop = (): void => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
    }
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
    upstream.pipe(client)
    // A turn later: what the test has been told before these bytes came is then known to it, and it has said what may pass.
    client.on('data', (data: Buffer) => setImmediate(pass, data))
    const pass = (data: Buffer): void => {
      const passed = data.subarray(0, Math.min(data.length, allowed))
      allowed -= passed.length
      if (passed.length > 0 && !upstream.destroyed) upstream.write(passed)
      if (allowed <= 0) cut.resolve()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as { port: number }).port,
    cutAfter(bytes) {
      allowed = bytes
      cut = Promise.withResolvers<void>()
      return cut.promise
    },
    mend() {
      allowed = Number.POSITIVE_INFINITY
      drop()
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        drop()
      }),
  }
}
