import { setMaxListeners } from 'node:events'
import { LIMITS, PROTOCOLS, type SnapshotResponse, type SnapshotWant, SwarmRefusal } from '../proto/index.js'
import type { BlobStore } from './blob-store.js'
import type { Pace } from './byte-stream.js'
import { createChunkChoice } from './chunk-choice.js'
import { TransportError } from './errors.js'
import type { SwarmHost } from './host.js'
import { bitAt, bitsOf, type PartialBlob } from './partial-blob.js'
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

interface Source extends OtherSource {
  /** Otherwise a source outside of the swarm, which has all or nothing. */
  readonly isPeer: boolean
}

export interface FetchOptions {
  readonly signal: AbortSignal
  /** Where the blob is put. Default: the exchange's own store. */
  readonly store?: BlobStore
  /** Asked beside the peers, and like them. */
  readonly others?: readonly OtherSource[]
  /** Hears of each source that is not asked any more, and why. */
  readonly onDropped?: (source: string, why: unknown) => void
  readonly onProgress?: (progress: FetchProgress) => void
  readonly progressTimeoutMs?: number
  /** Which of the sources is the one that everybody turns to: the run's coordinator. Others come first, see `chunk-choice.ts`. */
  readonly origin?: string
  /** How long others may deliver nothing before the origin is asked for what they have; less each time. Default 20 s. */
  readonly originPatienceMs?: number
  /** Who may have been found since the fetch began; asked now and then. */
  readonly more?: () => readonly string[]
  /** Give up when no source delivers anything for this long. */
  readonly stallMs?: number
  /** Waited for after each chunk. */
  readonly pace?: Pick<Pace, 'take'>
}

/** Pause before a source that was busy, or lacked the chunk, is asked again. */
const RETRY_MS = 250
/** How often a fetch looks for further sources. */
const LOOK_MS = 1000
/** Before a source that failed without a lie may be asked again. */
const FAILED_MS = 30_000
/** How often a source is asked at most which chunks it has. */
const LEARN_MS = 50
/** Before the origin is asked again for a share when it had none to give: thousands may be waiting for each other. */
const SHARE_REST_MS = 2000
/**
 * A chunk takes eight seconds on a line of one megabit a second, and `LEAST_OF_OTHERS` of them are to come in this time. Among a thousand
 * nodes the first chunk takes more than ten seconds over several steps (docs/scale.md).
 */
const ORIGIN_PATIENCE_MS = 20_000
/** Points in gossip that a false chunk costs: below the gossip threshold, above the graylist. */
const FALSE_CHUNK_PENALTY = 3

/**
 * Fills a partial blob from several peers at once. Each source takes the next free chunk as soon as it has room, so fast
 * ones do more of the work; when no chunk is free, those under way elsewhere are asked for a second time, so a source
 * that stalls or dribbles holds nothing up. A source that sends a false chunk, or nothing for the progress timeout, is
 * dropped for the rest of the fetch.
 *
 * With an origin, many nodes that fetch the same blob at the same time share it out among themselves: each looks at what the others
 * have got before it asks the origin for something that none of them has.
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
  const choice = createChunkChoice({
    missing: partial.missing(),
    self: host.peerId,
    origin: options.origin ?? null,
    patienceMs: options.originPatienceMs ?? ORIGIN_PATIENCE_MS,
    now: () => host.clock.elapsedMs(),
  })
  const everyChunk = bitsOf(description.chunkSha256s.length, () => true)
  const done = new AbortController()
  const stallMs = options.stallMs ?? LIMITS.snapshotStallMs.value
  const signal = AbortSignal.any([options.signal, done.signal])
  // One for each lane and source that waits.
  setMaxListeners(0, signal)
  /** When each source may be asked for the first time, or again. */
  const resting = new Map([[host.peerId, Number.POSITIVE_INFINITY]])
  /** Sources that are open, or being opened. */
  const drawing = new Set<string>()
  const learning = new Map<string, () => Promise<void>>()
  let wakeAll: (() => void)[] = []
  let lastFailure: unknown = null
  let diskFailure: unknown = null
  let shareRestsUntilMs = host.clock.elapsedMs()
  if (choice.left === 0) return

  const changed = (): void => {
    const sleepers = wakeAll
    wakeAll = []
    for (const wake of sleepers) wake()
  }
  /** Until something changes, but not longer than the retry pause. */
  const pause = async (): Promise<void> => {
    // What others get is no change here: asked whenever something changes, they would do little else than answer.
    if (options.origin !== undefined) return host.clock.sleep(RETRY_MS, signal)
    const woken = new AbortController()
    wakeAll.push(() => woken.abort())
    await host.clock.sleep(RETRY_MS, woken.signal).catch(() => undefined)
  }

  const isOrigin = (peer: string): boolean => peer === options.origin
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
    const over = choice.ask(source.peer, index)
    // Others that look for something to ask the origin for had better take another.
    if (isOrigin(source.peer)) partial.expected.add(index)
    try {
      const want = { kind: 'chunk', blobSha256: description.sha256, index } as const
      const { status, data } = await source.ask(want)
      if (status === 'not_found') lacks.add(index)
      if (status !== 'ok') return 'later'
      if (!(await write(index, data))) {
        throw new SwarmRefusal('reject', 'chunk_mismatch', `chunk ${index} of ${description.sha256}`)
      }
      if (choice.arrived(source.peer, index)) {
        const chunks = description.chunkSha256s.length
        options.onProgress?.({ chunksDone: chunks - choice.left, chunks, peer: source.peer })
        // Whoever still waits for a second copy need not.
        if (choice.left === 0) done.abort(new TransportError('closed', 'the blob is complete'))
      }
      return 'ok'
    } finally {
      over()
      if (isOrigin(source.peer)) partial.expected.delete(index)
      changed()
    }
  }

  /** Asks a source which chunks it has. One that knows nothing of the blob takes no part, but may later. */
  const createLearning = (source: SnapshotSource): (() => Promise<void>) => {
    let asking: Promise<void> | null = null
    const ask = async (): Promise<void> => {
      const { status, data } = await source.ask({ kind: 'held', blobSha256: description.sha256 })
      choice.holds(source.peer, status === 'ok' ? data : null)
      await host.clock.sleep(LEARN_MS, signal)
    }
    return () => {
      asking ??= ask().finally(() => {
        asking = null
      })
      return asking
    }
  }

  /** Asks the origin which chunk it would rather give than leave to the others. */
  const askForShare = async (source: SnapshotSource): Promise<void> => {
    const wanted = choice.wanted()
    if (wanted.length === 0 || host.clock.elapsedMs() < shareRestsUntilMs) return
    const bits = bitsOf(description.chunkSha256s.length, (index) => wanted.includes(index))
    const { status, data } = await source.ask({ kind: 'share', blobSha256: description.sha256, wanted: bits })
    const offered = status === 'ok' ? wanted.find((index) => bitAt(data, index)) : undefined
    if (status !== 'ok') shareRestsUntilMs = host.clock.elapsedMs() + SHARE_REST_MS
    if (status !== 'busy') choice.offer(offered ?? null)
  }

  const slot = async (source: SnapshotSource, lacks: Set<number>, first: boolean): Promise<void> => {
    while (choice.left > 0) {
      signal.throwIfAborted()
      if (isOrigin(source.peer)) {
        if (!first && drawing.size > 1) {
          await pause()
          continue
        }
        // What the others have got since the last chunk; one that does not say so in time is not waited for.
        const learned = Promise.allSettled([...learning.values()].map((learn) => learn()))
        const timely = Promise.race([learned, host.clock.sleep(RETRY_MS, signal)])
        await timely
        if (drawing.size > 1) await askForShare(source)
      }
      const index = choice.next(source.peer, lacks)
      if (index !== null && (await pull(source, index, lacks)) === 'ok') {
        await options.pace?.take(LIMITS.chunkBytes.value, signal)
        continue
      }
      if (choice.silentMs > stallMs) throw new TransportError('timeout', `no chunk for ${stallMs} ms`)
      await pause()
      // It may have got the chunk meanwhile: sources are often still downloading themselves.
      lacks.clear()
      await learning.get(source.peer)?.()
    }
  }

  const others: readonly Source[] = (options.others ?? []).map(({ name, open }) => ({
    name,
    isPeer: false,
    async open(opening) {
      const source = await open(opening)
      const ask = async (want: SnapshotWant): Promise<SnapshotResponse> => {
        const response = await source.ask(want)
        choice.received(name, response.data.length)
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

  /** @returns  whether it lied */
  const drawFrom = async ({ name, isPeer, open }: Source): Promise<boolean> => {
    let source: SnapshotSource | null = null
    try {
      source = await open(signal)
      const lacks = new Set<number>()
      const opened = source
      if (!isPeer) choice.holds(name, everyChunk)
      else if (options.origin !== undefined && !isOrigin(name)) {
        const learn = createLearning(opened)
        await learn()
        learning.set(name, learn)
      }
      const slots = Array.from({ length: LIMITS.snapshotInFlight.value }, (_, number) =>
        slot(opened, lacks, number === 0).catch((why: unknown) => {
          opened.close(why instanceof Error ? why : new Error(String(why)))
          throw why
        }),
      )
      // All of them, so that no lane still writes when the file is put in its place.
      const failed = (await Promise.allSettled(slots)).find((result) => result.status === 'rejected')
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
      learning.delete(name)
      choice.holds(name, null)
      changed()
    }
    return false
  }

  /** Resolves when nobody is left to draw from. */
  const drawFromAll = (first: readonly Source[]): Promise<void> =>
    new Promise((resolve) => {
      const start = (candidate: Source): void => {
        const { name } = candidate
        if ((resting.get(name) ?? 0) > host.clock.elapsedMs() || drawing.size >= LIMITS.snapshotSources.value) return
        resting.set(name, Number.POSITIVE_INFINITY)
        drawing.add(name)
        void drawFrom(candidate).then((lied) => {
          if (!lied) resting.set(name, host.clock.elapsedMs() + FAILED_MS)
          drawing.delete(name)
          startMore()
          if (drawing.size === 0) resolve()
        })
      }
      const startMore = (): void => {
        if (signal.aborted || !options.more) return
        for (const candidate of [...others, ...options.more().map(peerSource)]) start(candidate)
      }
      const look = async (): Promise<void> => {
        while (!signal.aborted && drawing.size > 0) {
          await host.clock.sleep(LOOK_MS, signal).catch(() => undefined)
          startMore()
        }
      }
      for (const candidate of first) start(candidate)
      if (drawing.size === 0) resolve()
      else if (options.more) void look()
    })
  const originFirst = [...peers].sort((a, b) => Number(isOrigin(b)) - Number(isOrigin(a)))
  await drawFromAll([...others, ...originFirst.map(peerSource)])
  options.signal.throwIfAborted()
  if (diskFailure) throw diskFailure
  if (choice.left > 0) {
    const detail = `${choice.left} chunks of ${description.sha256} from ${resting.size - 1} sources`
    throw new TransportError('no_source', detail, { cause: lastFailure })
  }
}
