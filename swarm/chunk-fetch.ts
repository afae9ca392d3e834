import type { ChunkChoice } from './chunk-choice.js'
import type { FetchOptions } from './fetch-options.js'
import type { SwarmHost } from './host.js'
import type { PartialBlob } from './partial-blob.js'

/** One fetch of a blob, shared by all of its sources. */
export interface ChunkFetch {
  readonly host: SwarmHost
  readonly partial: PartialBlob
  readonly options: FetchOptions
  readonly choice: ChunkChoice
  /** Ends the fetch: the blob is complete, or the disk has failed. */
  readonly done: AbortController
  /** Fires when the fetch ends or the caller aborts it. */
  readonly signal: AbortSignal
  /** Names of the sources that are open, or being opened. */
  readonly open: Set<string>
}
