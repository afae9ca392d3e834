import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import type { Reach } from '../../swarm/index.js'

const FILE = 'listen.port'
const LAST_PORT = 65_535

/**
 * Where a node listens unless it is told otherwise: on a port of its own, which stays the same over restarts, so that a router's
 * forwarding and what other nodes remember of it stay right.
 * @param reach  of the run: for one on this machine the loopback will do
 */
export async function ownListenAddresses(dataDir: string, reach: Reach): Promise<string[]> {
  const host = reach === 'machine' ? '127.0.0.1' : '0.0.0.0'
  const last = await keptPort(dataDir)
  const port = (last !== null && (await freePort(host, last))) || (await freePort(host, 0))
  if (port === null) return []
  // Taken by another program for the moment, the old one is still what others know.
  if (last === null) await writeFileAtomic(join(dataDir, FILE), `${port}\n`)
  const everywhere = reach === 'machine' ? [] : [`/ip6/::/tcp/${port}`]
  return [`/ip4/${host}/tcp/${port}`, ...everywhere]
}

/** The port that a node keeps in its data folder; null: it has none yet. */
export async function keptPort(dataDir: string): Promise<number | null> {
  const port = Number(await readFile(join(dataDir, FILE), 'utf8').catch(() => ''))
  return Number.isInteger(port) && port > 0 && port <= LAST_PORT ? port : null
}

/** The port if it is free, for 0 some free port, otherwise null. */
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
