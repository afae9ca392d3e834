import { type BlobDescription, type InvitedBase, SwarmRefusal } from '../../proto/index.js'
import { type Clock, type OtherSource, type SnapshotExchange, TransportError } from '../../swarm/index.js'
import { NodeError } from '../report/errors.js'
import { inBytes } from '../report/in-bytes.js'
import type { DownloadSpace } from '../report/join-plan.js'
import type { NodeProgress } from '../report/progress.js'
import type { ModelCache } from './model-cache.js'

/** Free space for groups, verdicts and adapters, in addition to the base model. */
const SPARE_BYTES = 256 * 1024 * 1024

/** Returns the bytes that a download needs, and the free bytes. */
export const spaceFor = async ({ sha256, sizeBytes }: InvitedBase, cache: ModelCache): Promise<DownloadSpace> => ({
  missing: Math.max(0, sizeBytes - (await cache.begunBytes(sha256))),
  free: await cache.freeBytes(),
})

/** Checks that a download fits on the disk. @throws NodeError `no_space` */
export function checkSpace({ missing, free }: DownloadSpace, { name }: InvitedBase, { store }: ModelCache): void {
  const needed = missing + SPARE_BYTES
  if (free >= needed) return
  throw new NodeError(
    'no_space',
    `${name} needs ${inBytes(needed)}, but ${store.directory} has ${inBytes(free)} free: free some space (prove-node cache clean), or give a folder on another disk with --data-dir`,
  )
}

export interface FetchBaseParts {
  readonly snapshots: Pick<SnapshotExchange, 'fetchBlob' | 'fetchChunkList'>
  readonly cache: ModelCache
  readonly coordinator: string
  /** Resolves when the coordinator is connected. */
  readonly connected: (signal: AbortSignal) => Promise<void>
  /** Peers that may have the model, the coordinator included. */
  readonly peers: () => readonly string[]
  /** Web servers outside of the swarm. */
  readonly others: readonly OtherSource[]
  readonly clock: Pick<Clock, 'sleep'>
  readonly onProgress: (progress: NodeProgress) => void
}

const FIRST_DELAY_MS = 2_000
const LONGEST_DELAY_MS = 60_000
/** Share of the model between two reports. */
const REPORTED_SHARE = 0.1

/**
 * Downloads a base model into the cache from all sources at once, and keeps trying. Finished pieces survive a restart. The coordinator
 * is the last source, because its connection serves all nodes.
 * @throws NodeError `unwritable`, `wrong_base`; the signal's reason
 */
export async function fetchBaseModel(
  base: InvitedBase,
  { snapshots, cache, coordinator, connected, peers, others, clock, onProgress }: FetchBaseParts,
  signal: AbortSignal,
): Promise<{ readonly path: string; readonly blob: BlobDescription }> {
  await cache.use(base.sha256, base.name)
  let blob: BlobDescription | null = null
  let reported = 0
  const reasons = new Map<string, string>()
  const liars = new Set<string>()
  const report = (chunksDone: number, chunks: number): void => {
    const share = chunksDone / chunks
    if (share < reported + REPORTED_SHARE && share < 1) return
    reported = share
    onProgress({ type: 'fetching', share, sizeBytes: base.sizeBytes })
  }
  for (let attempt = 0; ; attempt += 1) {
    const asked = (): readonly string[] => peers().filter((peer) => !liars.has(peer))
    await connected(signal)
    try {
      blob ??= await snapshots.fetchChunkList(base, peers(), signal)
      const path = await snapshots.fetchBlob(blob, asked(), {
        signal,
        store: cache.store,
        others: others.filter(({ name }) => !liars.has(name)),
        origin: coordinator,
        more: asked,
        onProgress: ({ chunksDone, chunks }) => report(chunksDone, chunks),
        onDropped: (source, why) => {
          const detail = (why as Error).message
          if (reasons.get(source) !== detail) onProgress({ type: 'source-dropped', source, detail })
          reasons.set(source, detail)
          if (why instanceof SwarmRefusal) liars.add(source)
        },
      })
      return { path, blob }
    } catch (error) {
      signal.throwIfAborted()
      if (isOfDisk(error))
        throw new NodeError('unwritable', `${cache.store.directory}: ${error.message}`, { cause: error })
      if (!(error instanceof TransportError)) throw error
      if (error.code === 'bad_hash')
        throw new NodeError(
          'wrong_base',
          `the run's list of pieces does not give the file ${base.name}: report this to its operator`,
          {
            cause: error,
          },
        )
      onProgress({ type: 'base-delayed', detail: error.message })
      await clock.sleep(Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(attempt, 10)), signal)
    }
  }
}

const isOfDisk = (error: unknown): error is Error => error instanceof Error && 'syscall' in error && 'errno' in error
