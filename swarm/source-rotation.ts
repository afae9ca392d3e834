import { LIMITS } from '../proto/index.js'
import type { ChunkFetch } from './chunk-fetch.js'
import type { OtherSource } from './fetch-options.js'

export interface Source extends OtherSource {
  /** False for a source outside the swarm, which has all chunks. */
  readonly isPeer: boolean
}

export interface RotationParts extends Pick<ChunkFetch, 'host' | 'signal' | 'open'> {
  readonly first: readonly Source[]
  /** Returns the sources known by now. Left out: only the first ones are used. */
  readonly more: (() => readonly Source[]) | null
  /** Fetches from a source until it ends. @returns  whether the source sent false data, and is never asked again */
  readonly drawFrom: (source: Source) => Promise<boolean>
}

/** How often a fetch looks for further sources. */
const LOOK_MS = 1000
/** Pause before a source that failed without sending false data may be asked again. */
const FAILED_MS = 30_000

/**
 * Fetches from several sources at a time, at most `LIMITS.snapshotSources`, and replaces those that end.
 * @returns  how many sources were used, when none is left
 */
export function rotateSources({ host, signal, open, first, more, drawFrom }: RotationParts): Promise<number> {
  /** When each source may be asked for the first time, or again. */
  const restsUntilMs = new Map([[host.peerId, Number.POSITIVE_INFINITY]])
  return new Promise((resolve) => {
    const end = (): void => resolve(restsUntilMs.size - 1)
    const start = (candidate: Source): void => {
      const { name } = candidate
      if ((restsUntilMs.get(name) ?? 0) > host.clock.elapsedMs() || open.size >= LIMITS.snapshotSources.value) return
      restsUntilMs.set(name, Number.POSITIVE_INFINITY)
      open.add(name)
      void drawFrom(candidate).then((wasFalse) => {
        if (!wasFalse) restsUntilMs.set(name, host.clock.elapsedMs() + FAILED_MS)
        open.delete(name)
        startMore()
        if (open.size === 0) end()
      })
    }
    const startMore = (): void => {
      if (signal.aborted || !more) return
      for (const candidate of more()) start(candidate)
    }
    const look = async (): Promise<void> => {
      while (!signal.aborted && open.size > 0) {
        await host.clock.sleep(LOOK_MS, signal).catch(() => undefined)
        startMore()
      }
    }
    for (const candidate of first) start(candidate)
    if (open.size === 0) end()
    else if (more) void look()
  })
}
