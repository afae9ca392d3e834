import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Limits the open connections of a server. When all are open, a new connection replaces the oldest one without a running request of the
 * address with the most connections. So one address cannot take all of them, and connections that only stay open give way first.
 */
export function limitConnections(server: Server, most: number): void {
  const open = new Map<Socket, { readonly address: string; requests: number }>()

  const victim = (): Socket | undefined => {
    const counts = new Map<string, number>()
    for (const { address } of open.values()) counts.set(address, (counts.get(address) ?? 0) + 1)
    const largest = Math.max(...counts.values())
    const ofLargest = [...open].filter(([, { address }]) => counts.get(address) === largest)
    return (ofLargest.find(([, { requests }]) => requests === 0) ?? ofLargest[0])?.[0]
  }

  server.on('connection', (socket: Socket) => {
    if (open.size >= most) {
      const replaced = victim()
      if (replaced) {
        open.delete(replaced)
        replaced.destroy()
      }
    }
    open.set(socket, { address: socket.remoteAddress ?? '', requests: 0 })
    socket.once('close', () => open.delete(socket))
  })
  server.on('request', ({ socket }, response) => {
    const entry = open.get(socket)
    if (!entry) return
    entry.requests += 1
    response.once('close', () => {
      entry.requests -= 1
    })
  })
}
