import { LIMITS, PROTOCOLS, SwarmRefusal } from '../proto/index.js'
import type { BlobStore } from './blob-store.js'
import { TransportError } from './errors.js'
import type { SwarmHost } from './host.js'
import type { PartialBlob } from './partial-blob.js'
import { openSnapshotSource, type SnapshotSource } from './snapshot-source.js'

export interface FetchProgress {
  readonly chunksDone: number
  readonly chunks: number
  /** Who delivered the last chunk. */
  readonly peer: string
}

/** Where chunks come from that no peer gives. */
export interface OtherSource {
  readonly name: string
  /** @throws what makes it useless */
  open(signal: AbortSignal): Promise<SnapshotSource>
}

export interface FetchOptions {
  readonly signal: AbortSignal
  /** Where the blob is put. Default: the exchange's own store. */
  readonly store?: BlobStore
  /** Asked beside the peers, and like them. */
  readonly others?: readonly OtherSource[]
  /** Who may have come since the fetch began; asked now and then. */
  readonly morePeers?: () => readonly string[]
  /** Hears of each source that is not asked any more, and why. */
  readonly onDropped?: (source: string, why: unknown) => void
  readonly onProgress?: (progress: FetchProgress) => void
  readonly progressTimeoutMs?: number
  /** Give up when no source delivers anything for this long. */
  readonly stallMs?: number
}

/** Pause before a source that was busy, or lacked the chunk, is asked again. */
const RETRY_MS = 250
/** Between two looks at who has come since, and before a source that failed without a lie may be asked again. */
const MORE_PEERS_MS = 2_000
const FAILED_MS = 30_000
/** Points in gossip that a false chunk costs: below the gossip threshold, above the graylist. */
const FALSE_CHUNK_PENALTY = 3

/**
 * Fills a partial blob from several peers at once. Each source takes the next free chunk as soon as it has room, so fast
 * ones do more of the work; when no chunk is free, those under way elsewhere are asked for a second time, so a source
 * that stalls or dribbles holds nothing up. A source that sends a false chunk, or nothing for the progress timeout, is
 * dropped for the rest of the fetch.
 * @param peers  peer ids to pull from, connected or dialable; at most `LIMITS.snapshotSources` are used at once
 * @throws TransportError `no_source` when all of them failed or stalled; file system errors such as a full disk. What was
 *   received stays in the partial blob
 */
export async function fetchChunks(
  host: SwarmHost,
  partial: PartialBlob,
  peers: readonly string[],
  options: FetchOptions,
): Promise<void> {
  const { description } = partial
  const remaining = new Set(startElsewhere(partial.missing(), host.peerId))
  const underWay = new Map<number, Set<string>>()
  const done = new AbortController()
  const stallMs = options.stallMs ?? LIMITS.snapshotStallMs.value
  const signal = AbortSignal.any([options.signal, done.signal])
  let wakeAll: (() => void)[] = []
  let lastFailure: unknown = null
  let diskFailure: unknown = null
  let lastChunkMs = host.clock.now()
  if (remaining.size === 0) return

  const changed = (): void => {
    const sleepers = wakeAll
    wakeAll = []
    for (const wake of sleepers) wake()
  }
  /** Until something changes, but not longer than the retry pause. */
  const pause = async (): Promise<void> => {
    const woken = new AbortController()
    wakeAll.push(() => woken.abort())
    await host.clock.sleep(RETRY_MS, woken.signal).catch(() => undefined)
  }

  const next = (peer: string, lacks: ReadonlySet<number>): number | null => {
    let again: number | null = null
    for (const index of remaining) {
      if (lacks.has(index)) continue
      const asked = underWay.get(index)
      if (!asked || asked.size === 0) return index
      if (again === null && asked.size === 1 && !asked.has(peer)) again = index
    }
    return again
  }

  /** A disk that takes no more is no fault of the source, and another one would not help. */
  const write = async (index: number, data: Uint8Array): Promise<boolean> => {
    try {
      return await partial.write(index, data)
    } catch (why) {
      diskFailure ??= why
      done.abort(why)
      throw why
    }
  }

  const pull = async (source: SnapshotSource, index: number, lacks: Set<number>): Promise<'ok' | 'later'> => {
    const asked = underWay.get(index) ?? new Set()
    underWay.set(index, asked.add(source.peer))
    try {
      const want = { kind: 'chunk', blobSha256: description.sha256, index } as const
      const { status, data } = await source.ask(want)
      if (status === 'not_found') lacks.add(index)
      if (status !== 'ok') return 'later'
      if (!(await write(index, data))) {
        throw new SwarmRefusal('reject', 'chunk_mismatch', `chunk ${index} of ${description.sha256}`)
      }
      if (remaining.delete(index)) {
        lastChunkMs = host.clock.now()
        const chunks = description.chunkSha256s.length
        options.onProgress?.({ chunksDone: chunks - remaining.size, chunks, peer: source.peer })
        // Whoever still waits for a second copy need not.
        if (remaining.size === 0) done.abort(new TransportError('closed', 'the blob is complete'))
      }
      return 'ok'
    } finally {
      asked.delete(source.peer)
      changed()
    }
  }

  const lane = async (source: SnapshotSource, lacks: Set<number>): Promise<void> => {
    while (remaining.size > 0) {
      signal.throwIfAborted()
      const index = next(source.peer, lacks)
      if (index !== null && (await pull(source, index, lacks)) === 'ok') continue
      if (host.clock.now() - lastChunkMs > stallMs) throw new TransportError('timeout', `no chunk for ${stallMs} ms`)
      await pause()
      // It may have got the chunk meanwhile: sources are often still downloading themselves.
      lacks.clear()
    }
  }

  /** @returns  whether it lied */
  const drawFrom = async ({ name, open }: OtherSource, isPeer: boolean): Promise<boolean> => {
    let source: SnapshotSource | null = null
    try {
      source = await open(signal)
      const lacks = new Set<number>()
      const opened = source
      const lanes = Array.from({ length: LIMITS.snapshotInFlight.value }, () =>
        lane(opened, lacks).catch((why: unknown) => {
          opened.close(why instanceof Error ? why : new Error(String(why)))
          throw why
        }),
      )
      // All of them, so that no lane still writes when the file is put in its place.
      const failed = (await Promise.allSettled(lanes)).find((result) => result.status === 'rejected')
      if (failed) throw failed.reason
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
      changed()
    }
    return false
  }

  /** When each may be asked again. */
  const asked = new Map([[host.peerId, Number.POSITIVE_INFINITY]])
  const drawing = new Set<Promise<void>>()
  const begin = (source: OtherSource, isPeer: boolean): void => {
    if ((asked.get(source.name) ?? 0) > host.clock.now() || drawing.size >= LIMITS.snapshotSources.value) return
    asked.set(source.name, Number.POSITIVE_INFINITY)
    const drawn = drawFrom(source, isPeer).then((lied) => {
      drawing.delete(drawn)
      if (!lied) asked.set(source.name, host.clock.now() + FAILED_MS)
    })
    drawing.add(drawn)
  }
  const beginPeers = (some: readonly string[]): void => {
    for (const peer of some) {
      const open = (opening: AbortSignal): Promise<SnapshotSource> =>
        openSnapshotSource(host, peer, opening, options.progressTimeoutMs)
      begin({ name: peer, open }, true)
    }
  }
  const beginAll = (some: readonly string[]): void => {
    for (const other of options.others ?? []) begin(other, false)
    beginPeers(some)
  }
  beginAll(peers)
  while (drawing.size > 0) {
    const ended = Promise.all(drawing)
    if (!options.morePeers) await ended
    else {
      const looked = new AbortController()
      await Promise.race([ended, host.clock.sleep(MORE_PEERS_MS, looked.signal).catch(() => undefined)])
      looked.abort()
      if (remaining.size > 0 && !signal.aborted) beginAll(options.morePeers())
    }
  }
  options.signal.throwIfAborted()
  if (diskFailure) throw diskFailure
  if (remaining.size > 0) {
    const detail = `${remaining.size} chunks of ${description.sha256} from ${asked.size - 1} sources`
    throw new TransportError('no_source', detail, { cause: lastFailure })
  }
}

/** The same indices, beginning at a place that depends on who asks: then nodes that start together can help each other. */
function startElsewhere(indices: readonly number[], peer: string): readonly number[] {
  let at = 0
  for (const char of peer) at = (at * 31 + char.charCodeAt(0)) % 1_000_003
  const start = indices.length === 0 ? 0 : at % indices.length
  return [...indices.slice(start), ...indices.slice(0, start)]
}
