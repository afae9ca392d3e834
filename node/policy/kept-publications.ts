import type { BlobDescription, PolicyManifest } from '../../proto/index.js'
import { applyDifference, type BlobStore, type SnapshotExchange, type SwarmLogger } from '../../swarm/index.js'
import { NodeError } from '../report/errors.js'

/** Adapters that a node keeps: late nodes still fetch earlier ones. */
const ADAPTERS_KEPT = 3

export interface KeptPublicationsParts {
  readonly snapshots: Pick<SnapshotExchange, 'fetchBlob'>
  /** Store of the newest adapters: all of them would fill the disk. */
  readonly blobs: BlobStore
  /** The coordinator, which should send as little as possible. */
  readonly origin: string
  /** Peers that may have blobs, the coordinator first. */
  readonly peers: () => readonly string[]
  readonly logger: Pick<SwarmLogger, 'info'>
  /** Whether the node keeps all published files. Default: only adapters. */
  readonly mirrors?: boolean
}

/** The files of the newest publications. All methods @throws NodeError `unwritable` for an error of their folder. */
export interface KeptPublications {
  /** Removes old files before a download. */
  prune(manifest: PolicyManifest): Promise<void>
  /** Returns the files that the node keeps of a publication. */
  filesOf(manifest: PolicyManifest): BlobDescription[]
  /**
   * Fetches the adapter of a publication, or makes it from the adapter before and their difference if that is here.
   * @returns  as `fetch`
   */
  fetchAdapter(
    manifest: PolicyManifest,
    signal: AbortSignal,
    patience?: { readonly originPatienceMs?: number },
  ): Promise<string>
  /** Fetches a file. @param originPatienceMs  time without data before the coordinator is asked; see `SnapshotExchange` @throws TransportError */
  fetch(blob: BlobDescription, signal: AbortSignal, patience?: { readonly originPatienceMs?: number }): Promise<string>
  /** Returns whether the file still has its hash. */
  isWhole(blob: BlobDescription, signal: AbortSignal): Promise<boolean>
  remove(blob: BlobDescription): Promise<void>
}

/** Returns the adapter of a publication. */
export const adapterOf = ({ blobs }: PolicyManifest): BlobDescription | undefined =>
  blobs.find(({ role }) => role === 'adapter')

export function createKeptPublications(parts: KeptPublicationsParts): KeptPublications {
  const { snapshots, blobs, origin, peers, logger, mirrors = false } = parts
  let kept: readonly PolicyManifest[] = []

  /** An error of the disk stops the node: another attempt would only cost traffic. */
  const onDisk = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (cause) {
      if (!(cause instanceof Error) || !('syscall' in cause)) throw cause
      throw new NodeError('unwritable', `${blobs.directory}: ${cause.message}`, { cause })
    }
  }

  const filesOf = ({ blobs: files }: PolicyManifest): BlobDescription[] =>
    files.filter(({ role }) => role === 'adapter' || (mirrors && role !== 'base'))

  const hashesOf = (manifest: PolicyManifest): string[] => [
    ...filesOf(manifest).map(({ sha256 }) => sha256),
    ...(manifest.difference ? [manifest.difference.blob.sha256] : []),
  ]
  const fetch: KeptPublications['fetch'] = (blob, signal, patience = {}) =>
    onDisk(() => snapshots.fetchBlob(blob, peers(), { signal, origin, more: peers, ...patience }))

  return {
    filesOf,
    async fetchAdapter(manifest, signal, patience) {
      const adapter = adapterOf(manifest)!
      const { difference } = manifest
      if (difference && (await blobs.has(difference.from)) && !(await blobs.has(adapter.sha256))) {
        try {
          await fetch(difference.blob, signal, patience)
          await onDisk(() => applyDifference(blobs, difference, adapter, signal))
        } catch (error) {
          signal.throwIfAborted()
          if (error instanceof NodeError) throw error
          // Nobody has it any more, or the disk changed the adapter before.
          logger.info(
            { adapter: adapter.sha256, error },
            'a difference is of no use; the node fetches the whole adapter',
          )
        }
      }
      return fetch(adapter, signal, patience)
    },
    async prune(manifest) {
      const { sha256 } = adapterOf(manifest)!
      kept = [manifest, ...kept.filter((other) => adapterOf(other)!.sha256 !== sha256)].slice(0, ADAPTERS_KEPT)
      await onDisk(() => blobs.prune(new Set(kept.flatMap(hashesOf))))
    },
    fetch,
    isWhole: ({ sha256 }, signal) => blobs.isWhole(sha256, signal),
    remove: ({ sha256 }) => onDisk(() => blobs.remove(sha256)),
  }
}
