import type { BlobStore } from './blob-store.js'
import type { Pace } from './byte-stream.js'
import type { SnapshotSource } from './snapshot-source.js'

export interface FetchProgress {
  readonly chunksDone: number
  readonly chunks: number
  /** The source that delivered the last chunk. */
  readonly peer: string
}

/** A source of chunks outside the swarm. */
export interface OtherSource {
  readonly name: string
  /** @throws an error if this source cannot be used */
  open(signal: AbortSignal): Promise<SnapshotSource>
}

export interface FetchOptions {
  readonly signal: AbortSignal
  /** Store for the blob. Default: the exchange's own store. */
  readonly store?: BlobStore
  /** Further sources, which are asked in the same way as peers. */
  readonly others?: readonly OtherSource[]
  /** Called for each source that is dropped, with the reason. */
  readonly onDropped?: (source: string, why: unknown) => void
  readonly onProgress?: (progress: FetchProgress) => void
  readonly progressTimeoutMs?: number
  /** The source that all nodes share: the run's coordinator. Other sources are preferred, see `chunk-choice.ts`. */
  readonly origin?: string
  /**
   * How long other sources may deliver nothing before the origin is asked for chunks that they have. The time shrinks with each
   * such request. Default 20 s.
   */
  readonly originPatienceMs?: number
  /** Returns peers found since the fetch began. Called every second. */
  readonly more?: () => readonly string[]
  /** The fetch fails when no source delivers a chunk for this long. */
  readonly stallMs?: number
  /** Limits the rate: awaited after each chunk. */
  readonly pace?: Pick<Pace, 'take'>
}
