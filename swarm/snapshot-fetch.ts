import { setMaxListeners } from 'node:events'
import { PROTOCOLS, type SnapshotResponse, type SnapshotWant, SwarmRefusal } from '../proto/index.js'
import { createChunkChoice } from './chunk-choice.js'
import { createChunkSlots } from './chunk-slots.js'
import { TransportError } from './errors.js'
import type { FetchOptions } from './fetch-options.js'
import type { SwarmHost } from './host.js'
import { bitsOf, type PartialBlob } from './partial-blob.js'
import { openSnapshotSource, type SnapshotSource } from './snapshot-source.js'
import { rotateSources, type Source } from './source-rotation.js'

/**
 * A chunk takes eight seconds on a line of one megabit a second, and `LEAST_OF_OTHERS` chunks are to arrive in this time. Among a
 * thousand nodes the first chunk takes more than ten seconds over several hops (docs/explain/scale.md).
 */
const ORIGIN_PATIENCE_MS = 20_000
/** Gossip points that a false chunk costs: below the gossip threshold, above the graylist. */
const FALSE_CHUNK_PENALTY = 3

/**
 * Fills a partial blob from several peers at once. Each source takes the next free chunk as soon as it has capacity, so fast sources
 * do more of the work. When no chunk is free, chunks under way elsewhere are requested a second time, so that a slow source delays
 * nothing. A source that sends a false chunk, or nothing for the progress timeout, is dropped.
 *
 * With an origin, nodes that fetch the same blob at the same time share it out among themselves. Each looks at the chunks of its
 * neighbours before it asks the origin for a chunk that none of them has.
 * @param peers  peer ids to fetch from, connected or dialable; at most `LIMITS.snapshotSources` are used at once
 * @throws TransportError `no_source` if all sources failed or stalled; file system errors such as a full disk. The partial blob keeps
 *   the chunks received
 */
export async function fetchChunks(
  host: SwarmHost,
  partial: PartialBlob,
  peers: readonly string[],
  options: FetchOptions,
): Promise<void> {
  const { description } = partial
  const isOrigin = (peer: string): boolean => peer === options.origin
  const choice = createChunkChoice({
    missing: partial.missing(),
    self: host.peerId,
    origin: options.origin ?? null,
    patienceMs: options.originPatienceMs ?? ORIGIN_PATIENCE_MS,
    now: () => host.clock.elapsedMs(),
  })
  if (choice.left === 0) return
  const done = new AbortController()
  const signal = AbortSignal.any([options.signal, done.signal])
  // One listener for each slot and source that waits.
  setMaxListeners(0, signal)
  const open = new Set<string>()
  const slots = createChunkSlots({ host, partial, options, choice, done, signal, open })
  let lastFailure: unknown = null

  const others: readonly Source[] = (options.others ?? []).map((other) => ({
    name: other.name,
    isPeer: false,
    async open(opening) {
      const source = await other.open(opening)
      const ask = async (want: SnapshotWant): Promise<SnapshotResponse> => {
        const response = await source.ask(want)
        choice.received(other.name, response.data.length)
        return response
      }
      return { ...source, ask }
    },
  }))
  const peerSource = (peer: string): Source => ({
    name: peer,
    isPeer: true,
    open: (opening) =>
      openSnapshotSource(host, peer, opening, options.progressTimeoutMs, (count) => choice.received(peer, count)),
  })

  const drawFrom = async (from: Source): Promise<boolean> => {
    const { name, isPeer } = from
    let source: SnapshotSource | null = null
    try {
      source = await from.open(signal)
      if (!isPeer)
        choice.holds(
          name,
          bitsOf(description.chunkSha256s.length, () => true),
        )
      else if (options.origin !== undefined && !isOrigin(name)) await slots.learn(source)
      await slots.drain(source)
      return false
    } catch (why) {
      if (done.signal.aborted || options.signal.aborted) return false
      lastFailure = why
      host.logger
        .child({ part: 'snapshots' })
        .info({ source: name, blob: description.sha256, error: why }, 'dropped a snapshot source')
      options.onDropped?.(name, why)
      if (isPeer && why instanceof SwarmRefusal) {
        const { code, effect, detail } = why
        host.onRefusal({ peer: name, code, effect, detail, protocol: PROTOCOLS.snapshot })
        host.penalise(name, FALSE_CHUNK_PENALTY)
      }
      return why instanceof SwarmRefusal
    } finally {
      source?.close()
      slots.drop(name)
    }
  }

  const { more } = options
  const originFirst = [...peers].sort((a, b) => Number(isOrigin(b)) - Number(isOrigin(a)))
  const used = await rotateSources({
    ...{ host, signal, open, drawFrom },
    first: [...others, ...originFirst.map(peerSource)],
    more: more ? () => [...others, ...more().map(peerSource)] : null,
  })
  options.signal.throwIfAborted()
  if (slots.diskFailure) throw slots.diskFailure
  if (choice.left > 0) {
    const detail = `${choice.left} chunks of ${description.sha256} from ${used} sources`
    throw new TransportError('no_source', detail, { cause: lastFailure })
  }
}
