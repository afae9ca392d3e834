import { LIMITS, SwarmRefusal } from '../proto/index.js'
import type { ChunkFetch } from './chunk-fetch.js'
import { createChunkKnowledge } from './chunk-knowledge.js'
import { TransportError } from './errors.js'
import type { SnapshotSource } from './snapshot-source.js'

export interface ChunkSlots {
  /** Fetches chunks from a source, several at a time, until none is missing. @throws the error that ended the source */
  drain(source: SnapshotSource): Promise<void>
  /** Asks a peer which chunks it has, and again while the fetch runs. */
  learn(source: SnapshotSource): Promise<void>
  /** Drops a source and wakes all slots that wait. */
  drop(name: string): void
  /** The error of the disk, if writing a chunk failed. */
  readonly diskFailure: unknown
}

/** Pause before a source that was busy, or lacked the chunk, is asked again. */
const RETRY_MS = 250

/** Creates the slots of a fetch. */
export function createChunkSlots(fetch: ChunkFetch): ChunkSlots {
  const { host, partial, options, choice, done, signal, open } = fetch
  const knowledge = createChunkKnowledge(fetch)
  const { description } = partial
  const stallMs = options.stallMs ?? LIMITS.snapshotStallMs.value
  let sleepers: (() => void)[] = []
  let diskFailure: unknown = null
  const isOrigin = (peer: string): boolean => peer === options.origin

  const changed = (): void => {
    const woken = sleepers
    sleepers = []
    for (const wake of woken) wake()
  }
  /** Waits until something changes, at most for the retry pause. */
  const pause = async (): Promise<void> => {
    // With an origin, every chunk of every peer is a change. Asking after each of them would leave time for little else.
    if (options.origin !== undefined) return host.clock.sleep(RETRY_MS, signal)
    const woken = new AbortController()
    sleepers.push(() => woken.abort())
    await host.clock.sleep(RETRY_MS, woken.signal).catch(() => undefined)
  }

  /** A full disk is not the source's fault, and another source cannot help. */
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
    // Other nodes see this chunk as expected, and ask the origin for another one.
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
        // Ends the slots that wait for a second copy.
        if (choice.left === 0) done.abort(new TransportError('closed', 'the blob is complete'))
      }
      return 'ok'
    } finally {
      over()
      if (isOrigin(source.peer)) partial.expected.delete(index)
      changed()
    }
  }

  const slot = async (source: SnapshotSource, lacks: Set<number>, first: boolean): Promise<void> => {
    while (choice.left > 0) {
      signal.throwIfAborted()
      if (isOrigin(source.peer)) {
        if (!first && open.size > 1) {
          await pause()
          continue
        }
        // Refreshes what the peers have since the last chunk, without waiting for a peer that does not answer in time.
        await Promise.race([knowledge.refresh(), host.clock.sleep(RETRY_MS, signal)])
        if (open.size > 1) await knowledge.askForShare(source)
      }
      const index = choice.next(source.peer, lacks)
      if (index !== null && (await pull(source, index, lacks)) === 'ok') {
        await options.pace?.take(LIMITS.chunkBytes.value, signal)
        continue
      }
      if (choice.silentMs > stallMs) throw new TransportError('timeout', `no chunk for ${stallMs} ms`)
      await pause()
      // The source may have the chunk by now: sources are often still downloading themselves.
      lacks.clear()
      await knowledge.refresh(source.peer)
    }
  }

  return {
    get diskFailure() {
      return diskFailure
    },
    async drain(source) {
      const lacks = new Set<number>()
      const slots = Array.from({ length: LIMITS.snapshotInFlight.value }, (_, number) =>
        slot(source, lacks, number === 0).catch((why: unknown) => {
          source.close(why instanceof Error ? why : new Error(String(why)))
          throw why
        }),
      )
      // Waits for all of them, so that no slot still writes when the file is moved to its final path.
      const failed = (await Promise.allSettled(slots)).find((result) => result.status === 'rejected')
      if (failed) throw failed.reason
    },
    learn: knowledge.learn,
    drop(name) {
      knowledge.forget(name)
      changed()
    },
  }
}
