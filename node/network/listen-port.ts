import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import type { Reach } from '../../swarm/index.js'

const FILE = 'listen.port'
const LAST_PORT = 65_535

/**
 * Returns the default addresses to listen on. The port stays the same over restarts, so that port forwarding and the records of other
 * nodes stay valid.
 * @param reach  reach of the run: a run on this machine needs only the loopback
 */
export async function ownListenAddresses(dataDir: string, reach: Reach): Promise<string[]> {
  const host = reach === 'machine' ? '127.0.0.1' : '0.0.0.0'
  const last = await keptPort(dataDir)
  const port = (last !== null && (await freePort(host, last))) || (await freePort(host, 0))
  if (port === null) return []
  // If another program uses the old port, the file keeps it, because other nodes know it.
  if (last === null) await writeFileAtomic(join(dataDir, FILE), `${port}\n`)
  const everywhere = reach === 'machine' ? [] : [`/ip6/::/tcp/${port}`]
  return [`/ip4/${host}/tcp/${port}`, ...everywhere]
}

/** Reads the port of a node from its data folder; null: no port yet. */
export async function keptPort(dataDir: string): Promise<number | null> {
  const port = Number(await readFile(join(dataDir, FILE), 'utf8').catch(() => ''))
  return Number.isInteger(port) && port > 0 && port <= LAST_PORT ? port : null
}

/** Returns the port if it is free, any free port for 0, otherwise null. */
export const freePort = (host: string, wanted: number): Promise<number | null> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(null))
    server.listen({ host, port: wanted, exclusive: true }, () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : null
      server.close(() => resolve(port))
    })
  })
