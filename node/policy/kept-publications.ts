import type { BlobDescription, PolicyManifest } from '../../proto/index.js'
import type { BlobStore, SnapshotExchange } from '../../swarm/index.js'
import { NodeError } from '../report/errors.js'

/** Late nodes still ask for the adapter of the version before. */
const ADAPTERS_KEPT = 3

export interface KeptPublicationsParts {
  readonly snapshots: Pick<SnapshotExchange, 'fetchBlob'>
  /** Where fetched adapters are kept: only the newest of them, or a run would fill the disk. */
  readonly blobs: BlobStore
  /** The coordinator, which is asked for as little of an adapter as possible. */
  readonly origin: string
  /** Who may have blobs, the coordinator first. */
  readonly peers: () => readonly string[]
  /** Whether everything that is published with a policy is kept with its adapter. Default: it is not. */
  readonly mirrors?: boolean
}

/** The files of the newest publications, as far as a node keeps them. All that it does @throws NodeError `unwritable` for what the system says of their folder. */
export interface KeptPublications {
  /** Before a download: what an earlier process left is of no use now, and takes its room. */
  makeRoomFor(manifest: PolicyManifest): Promise<void>
  /** What is kept of a publication. */
  filesOf(manifest: PolicyManifest): BlobDescription[]
  /** @param originPatienceMs  how long the others may deliver nothing before the coordinator is asked; see `SnapshotExchange` @throws TransportError */
  fetch(blob: BlobDescription, signal: AbortSignal, patience?: { readonly originPatienceMs?: number }): Promise<string>
  /** Whether the file is still what it was when it came. */
  isWhole(blob: BlobDescription, signal: AbortSignal): Promise<boolean>
  remove(blob: BlobDescription): Promise<void>
}

export const adapterOf = ({ blobs }: PolicyManifest): BlobDescription | undefined =>
  blobs.find(({ role }) => role === 'adapter')

export function createKeptPublications(parts: KeptPublicationsParts): KeptPublications {
  const { snapshots, blobs, origin, peers, mirrors = false } = parts
  let kept: readonly PolicyManifest[] = []

  /** Trying again would only cost traffic. */
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

  return {
    filesOf,
    async makeRoomFor(manifest) {
      const { sha256 } = adapterOf(manifest)!
      kept = [manifest, ...kept.filter((other) => adapterOf(other)!.sha256 !== sha256)].slice(0, ADAPTERS_KEPT)
      await onDisk(() => blobs.prune(new Set(kept.flatMap((one) => filesOf(one).map((file) => file.sha256)))))
    },
    fetch: (blob, signal, patience = {}) =>
      onDisk(() => snapshots.fetchBlob(blob, peers(), { signal, origin, more: peers, ...patience })),
    isWhole: ({ sha256 }, signal) => blobs.isWhole(sha256, signal),
    remove: ({ sha256 }) => onDisk(() => blobs.remove(sha256)),
  }
}
