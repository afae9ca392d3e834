import type { ChunkFetch } from './chunk-fetch.js'
import { bitAt, bitsOf } from './partial-blob.js'
import type { SnapshotSource } from './snapshot-source.js'

/** Which chunks the sources of a fetch have, as they report it. */
export interface ChunkKnowledge {
  /** Asks a peer which chunks it has, and keeps asking it. */
  learn(source: SnapshotSource): Promise<void>
  /** Asks one known peer again, or all of them. */
  refresh(name?: string): Promise<unknown>
  /** Asks the origin which chunk to fetch from it rather than from the neighbours. */
  askForShare(origin: SnapshotSource): Promise<void>
  forget(name: string): void
}

/** Shortest time between two questions to a source about the chunks that it has. */
const LEARN_MS = 50
/** Pause after the origin had no chunk to share: thousands of nodes may wait for each other. */
const SHARE_REST_MS = 2000

/** Creates the knowledge of a fetch. */
export function createChunkKnowledge({
  host: { clock },
  partial: { description },
  choice,
  signal,
}: Pick<ChunkFetch, 'host' | 'partial' | 'choice' | 'signal'>): ChunkKnowledge {
  const learning = new Map<string, () => Promise<void>>()
  let shareRestsUntilMs = clock.elapsedMs()

  /** A peer that does not know the blob takes no part until a later answer. */
  const createLearning = (source: SnapshotSource): (() => Promise<void>) => {
    let asking: Promise<void> | null = null
    const ask = async (): Promise<void> => {
      const { status, data } = await source.ask({ kind: 'held', blobSha256: description.sha256 })
      choice.holds(source.peer, status === 'ok' ? data : null)
      await clock.sleep(LEARN_MS, signal)
    }
    return () => {
      asking ??= ask().finally(() => {
        asking = null
      })
      return asking
    }
  }

  return {
    async learn(source) {
      const learn = createLearning(source)
      await learn()
      learning.set(source.peer, learn)
    },
    async refresh(name) {
      if (name !== undefined) return learning.get(name)?.()
      return Promise.allSettled([...learning.values()].map((learn) => learn()))
    },
    async askForShare(origin) {
      const wanted = choice.wanted()
      if (wanted.length === 0 || clock.elapsedMs() < shareRestsUntilMs) return
      const bits = bitsOf(description.chunkSha256s.length, (index) => wanted.includes(index))
      const { status, data } = await origin.ask({ kind: 'share', blobSha256: description.sha256, wanted: bits })
      const offered = status === 'ok' ? wanted.find((index) => bitAt(data, index)) : undefined
      if (status !== 'ok') shareRestsUntilMs = clock.elapsedMs() + SHARE_REST_MS
      if (status !== 'busy') choice.offer(offered ?? null)
    },
    forget(name) {
      learning.delete(name)
      choice.holds(name, null)
    },
  }
}
