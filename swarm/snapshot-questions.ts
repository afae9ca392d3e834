import { PROTOCOLS, type SnapshotWant, SwarmRefusal } from '../proto/index.js'
import { TransportError } from './errors.js'
import type { SwarmHost } from './host.js'
import { openSnapshotSource } from './snapshot-source.js'

/** Asks the peer one question. @returns  null: the peer does not have it */
export type Ask = (want: SnapshotWant) => Promise<Uint8Array | null>

/** Asks one peer several questions over one stream. @throws TransportError, SwarmRefusal */
export async function askPeer<T>(
  host: SwarmHost,
  peer: string,
  signal: AbortSignal,
  questions: (ask: Ask) => Promise<T>,
): Promise<T> {
  const source = await openSnapshotSource(host, peer, signal)
  try {
    return await questions(async (want) => {
      const { status, data } = await source.ask(want)
      return status === 'ok' ? data : null
    })
  } finally {
    source.close()
  }
}

/**
 * Asks one peer after the other, until one gives an answer that `read` accepts.
 * @throws TransportError `no_source`, `other_version` of the coordinator
 */
export async function askInTurn<T>(
  host: SwarmHost,
  { peers, want, what }: { readonly peers: readonly string[]; readonly want: SnapshotWant; readonly what: string },
  read: (data: Uint8Array) => T | Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  let last: unknown = null
  for (const peer of peers) {
    try {
      return await askPeer(host, peer, signal, async (ask) => {
        const data = await ask(want)
        if (data === null)
          throw new TransportError('refused', `${peer} does not have ${what}`, { refusal: 'not_found' })
        return read(data)
      })
    } catch (why) {
      signal.throwIfAborted()
      last = why
      if (why instanceof TransportError && why.code === 'other_version' && peer === host.runId) throw why
      if (!(why instanceof SwarmRefusal)) continue
      const { code, effect, detail } = why
      host.onRefusal({ peer, code, effect, detail, protocol: PROTOCOLS.snapshot })
    }
  }
  throw new TransportError('no_source', `${what} from ${peers.length} peers`, { cause: last })
}

/**
 * Asks all peers at the same time. Logs the peers that fail, if at least one answers.
 * @throws TransportError `no_source` if no peer answers
 */
export async function askEach<T>(
  host: SwarmHost,
  { peers, what }: { readonly peers: readonly string[]; readonly what: string },
  signal: AbortSignal,
  questions: (ask: Ask, peer: string) => Promise<T>,
): Promise<T[]> {
  const answers = await Promise.allSettled(
    peers.map((peer) => askPeer(host, peer, signal, (ask) => questions(ask, peer))),
  )
  signal.throwIfAborted()
  const failures = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []))
  const logger = host.logger.child({ part: 'snapshots' })
  for (const error of failures) logger.debug({ error }, `a peer does not give ${what}`)
  if (failures.length === peers.length)
    throw new TransportError('no_source', `${what} from ${peers.length} peers`, { cause: failures[0] })
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
}
