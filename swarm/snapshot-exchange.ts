import { LRUCache } from 'lru-cache'
import {
  type BlobDescription,
  LIMITS,
  openManifest,
  PROTOCOLS,
  refusal,
  type SealedManifest,
  type Sha256,
  type SnapshotWant,
  SwarmRefusal,
  sha256,
} from '../proto/index.js'
import type { BlobStore } from './blob-store.js'
import { TransportError } from './errors.js'
import type { SwarmHost } from './host.js'
import { bitsOf, openPartialBlob, type PartialBlob } from './partial-blob.js'
import { type FetchOptions, fetchChunks } from './snapshot-fetch.js'
import { serveSnapshots } from './snapshot-server.js'
import { openSnapshotSource } from './snapshot-source.js'
import { type Bandwidth, createUploadBudget } from './upload-budget.js'

/** What we send to others and what we fetch, in all. Default: no limit. */
export interface SnapshotExchangeOptions extends Bandwidth {
  readonly store: BlobStore
  /** Hears that a blob of a manifest in service was asked for, and is not, or not as it was, on this disk. */
  readonly onLost?: (blob: BlobDescription) => void
  /** The newest notice of where the coordinator is to be found, for peers that have lost it. */
  readonly notice?: () => Uint8Array | null
}

/** Manifests and blobs, given and taken. Every holder serves; a chunk is served on as soon as it is verified. */
export interface SnapshotExchange {
  /** Takes a manifest into service: it and its blobs, as far as the store has them, can be asked for. */
  offer(sealed: SealedManifest): void
  /** Highest version known here. */
  newest(): SealedManifest | null
  /**
   * Asks peers in order until one answers with a manifest of the run's coordinator, and takes it into service. Whether it
   * may take effect is another question: `checkSuccession`.
   * @throws TransportError `no_source`
   */
  fetchManifest(peers: readonly string[], want: 'newest' | Sha256, signal: AbortSignal): Promise<SealedManifest>
  /**
   * Makes sure that a blob is in the store, resuming what an earlier attempt left.
   * @returns  its path
   * @throws TransportError `no_source`, `bad_hash`; file system errors such as a full disk
   */
  fetchBlob(blob: BlobDescription, peers: readonly string[], options: FetchOptions): Promise<string>
  /** Asks a peer for the newest notice of where the coordinator is. @returns  sealed, or null. @throws TransportError, SwarmRefusal */
  fetchNotice(peer: string, signal: AbortSignal): Promise<Uint8Array | null>
  close(): Promise<void>
}

const unlimited = (): number => Number.POSITIVE_INFINITY

export async function createSnapshotExchange(
  host: SwarmHost,
  options: SnapshotExchangeOptions,
): Promise<SnapshotExchange> {
  const { store, upload = unlimited, download: downloadRate = unlimited } = options
  const { onLost = () => undefined, notice = () => null } = options
  const manifests = new LRUCache<Sha256, SealedManifest>({ max: LIMITS.manifestsServed.value })
  /** Downloads under way: their verified chunks are served, and nobody else opens their files. */
  const partials = new Map<Sha256, PartialBlob>()
  const underWay = new Set<Sha256>()
  const downloads = createUploadBudget(host.clock, downloadRate)
  let newest: SealedManifest | null = null

  const describedAs = (hash: Sha256): BlobDescription | undefined => {
    for (const { manifest } of manifests.values()) {
      const found = manifest.blobs.find((blob) => blob.sha256 === hash)
      if (found) return found
    }
    return undefined
  }

  const chunk = async (hash: Sha256, index: number): Promise<Uint8Array | null> => {
    const partial = partials.get(hash)
    if (partial) return partial.read(index)
    const blob = describedAs(hash)
    const expected = blob?.chunkSha256s[index]
    if (!blob || expected === undefined) return null
    const data = await store.readChunk(hash, blob.sizeBytes, index)
    if (data && sha256(data) === expected) return data
    onLost(blob)
    if (!data) return null
    // A false chunk would cost us our standing with everyone who asks.
    host.logger.child({ part: 'snapshots' }).error({ blob: hash, index }, 'a stored blob is damaged')
    return null
  }

  /** What is in the store is there as a whole; whether the disk still holds it shows when a chunk is asked for. */
  const held = async (hash: Sha256): Promise<Uint8Array | null> => {
    const partial = partials.get(hash)
    if (partial) return partial.held()
    const blob = describedAs(hash)
    if (!blob || !(await store.has(hash))) return null
    return bitsOf(blob.chunkSha256s.length, () => true)
  }

  const lookup = async (want: SnapshotWant): Promise<Uint8Array | null> => {
    if (want.kind === 'newest-manifest') return newest?.envelope ?? null
    if (want.kind === 'manifest') return manifests.get(want.manifestId)?.envelope ?? null
    if (want.kind === 'address-notice') return notice()
    if (want.kind === 'held') return held(want.blobSha256)
    return chunk(want.blobSha256, want.index)
  }

  const offer = (sealed: SealedManifest): void => {
    manifests.set(sealed.manifestId, sealed)
    if (!newest || sealed.manifest.round >= newest.manifest.round) newest = sealed
  }

  const askForManifest = async (
    peer: string,
    want: 'newest' | Sha256,
    signal: AbortSignal,
  ): Promise<SealedManifest> => {
    const source = await openSnapshotSource(host, peer, signal)
    try {
      const { status, data } = await source.ask(
        want === 'newest' ? { kind: 'newest-manifest' } : { kind: 'manifest', manifestId: want },
      )
      if (status !== 'ok') throw new TransportError('refused', status, { refusal: 'not_found' })
      const sealed = await openManifest(data, host.runId)
      if (want !== 'newest' && sealed.manifestId !== want) throw refusal('malformed', `manifest ${sealed.manifestId}`)
      return sealed
    } finally {
      source.close()
    }
  }

  const download = async (blob: BlobDescription, peers: readonly string[], options: FetchOptions): Promise<void> => {
    const partial = await openPartialBlob(store, blob)
    partials.set(blob.sha256, partial)
    try {
      await fetchChunks(host, partial, peers, { pace: downloads, ...options })
      await partial.finish()
    } finally {
      partials.delete(blob.sha256)
      await partial.close()
    }
  }

  const server = await serveSnapshots(host, lookup, createUploadBudget(host.clock, upload))
  return {
    offer,
    newest: () => newest,

    async fetchManifest(peers, want, signal) {
      const known = want === 'newest' ? null : manifests.get(want)
      if (known) return known
      let last: unknown = null
      for (const peer of peers) {
        try {
          const sealed = await askForManifest(peer, want, signal)
          offer(sealed)
          return sealed
        } catch (why) {
          signal.throwIfAborted()
          last = why
          if (!(why instanceof SwarmRefusal)) continue
          const { code, effect, detail } = why
          host.onRefusal({ peer, code, effect, detail, protocol: PROTOCOLS.snapshot })
        }
      }
      throw new TransportError('no_source', `manifest ${want} from ${peers.length} peers`, { cause: last })
    },

    async fetchBlob(blob, peers, options) {
      if (await store.has(blob.sha256)) return store.path(blob.sha256)
      if (underWay.has(blob.sha256)) throw new TransportError('busy', `${blob.sha256} is being fetched`)
      underWay.add(blob.sha256)
      try {
        await download(blob, peers, options)
        return store.path(blob.sha256)
      } finally {
        underWay.delete(blob.sha256)
      }
    },

    async fetchNotice(peer, signal) {
      const source = await openSnapshotSource(host, peer, signal)
      try {
        const { status, data } = await source.ask({ kind: 'address-notice' })
        return status === 'ok' ? data : null
      } finally {
        source.close()
      }
    },

    close: () => server.close(),
  }
}
