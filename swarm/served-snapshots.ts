import { LRUCache } from 'lru-cache'
import {
  type BlobDescription,
  chunkListOf,
  chunkListSha256,
  LIMITS,
  manifestIdList,
  type SealedManifest,
  type Sha256,
  type SnapshotWant,
  sha256,
} from '../proto/index.js'
import { type BlobStore, readFileChunk } from './blob-store.js'
import { createGivenChunks } from './given-chunks.js'
import type { SwarmHost } from './host.js'
import { bitsOf, type PartialBlob } from './partial-blob.js'
import type { SnapshotLookup } from './snapshot-server.js'

export interface ServedSnapshotsParts {
  readonly host: SwarmHost
  readonly store: BlobStore
  /** Called when a peer asks for a blob of a served manifest that is missing or damaged on this disk. */
  readonly onLost: (blob: BlobDescription) => void
  /** Returns the newest address notice of the coordinator. */
  readonly notice: () => Uint8Array | null
  /** Returns the first manifest of a version that is no longer in service; null: not here. */
  readonly archive: (version: number) => Promise<SealedManifest | null>
}

/** The manifests, blobs and files that this host serves to peers. */
export interface ServedSnapshots {
  /** Starts serving a manifest, and those of its blobs that the store has. */
  offer(sealed: SealedManifest): void
  /** Starts serving a file at its own path, and the list of its chunk hashes. Changed chunks are not served. */
  offerFile(blob: BlobDescription, path: string): void
  /** Starts serving the run's invitation. @param sealed  called for each request, because addresses change */
  offerInvitation(sealed: () => Uint8Array): void
  /** Starts serving the verified chunks of a download. @returns  stops it */
  offerPartial(partial: PartialBlob): () => void
  /** The manifest with the highest round. */
  newest(): SealedManifest | null
  /** All served manifests, the newest round first. */
  all(): readonly SealedManifest[]
  manifest(manifestId: Sha256): SealedManifest | undefined
  /** Answers a peer's question; null: not here. */
  readonly lookup: SnapshotLookup
  close(): void
}

/** Manifests from the archive whose blobs are served: a peer that asks for one then fetches its blobs. */
const ARCHIVED_IN_USE = 64

/** A file at a path that its owner chose. */
interface ServedFile {
  readonly blob: BlobDescription
  readonly path: string
  /** Chunks that were missing or changed at the last request for them. */
  readonly damaged: Set<number>
}

/** Creates an empty set of served snapshots. */
export function createServedSnapshots(parts: ServedSnapshotsParts): ServedSnapshots {
  const { host, store, onLost, notice, archive } = parts
  const logger = host.logger.child({ part: 'snapshots' })
  const archived = new LRUCache<number, SealedManifest>({ max: ARCHIVED_IN_USE })
  const manifests = new LRUCache<Sha256, SealedManifest>({ max: LIMITS.manifestsServed.value })
  const partials = new Map<Sha256, PartialBlob>()
  const files = new Map<Sha256, ServedFile>()
  const chunkLists = new Map<Sha256, Uint8Array>()
  let newest: SealedManifest | null = null
  let invitation: (() => Uint8Array) | null = null
  /** Only the coordinator shares out chunks, because every node fetches from it. */
  const given = host.peerId === host.runId ? createGivenChunks() : null
  const stopForgetting = host.onPeer(({ peer, connected }) => {
    if (!connected && !host.isConnected(peer)) given?.forget(peer)
  })

  const describedAs = (hash: Sha256): BlobDescription | undefined => {
    for (const served of [manifests, archived])
      for (const { manifest } of served.values()) {
        const found = manifest.blobs.find((blob) => blob.sha256 === hash)
        if (found) return found
        if (manifest.difference?.blob.sha256 === hash) return manifest.difference.blob
      }
    return undefined
  }

  const fileChunk = async (file: ServedFile, index: number): Promise<Uint8Array | null> => {
    const data = await readFileChunk(file.path, file.blob.sizeBytes, index)
    if (data !== null && sha256(data) === file.blob.chunkSha256s[index]) {
      file.damaged.delete(index)
      return data
    }
    file.damaged.add(index)
    logger.error({ path: file.path, index }, 'a served file is damaged or missing')
    return null
  }

  const chunk = async (hash: Sha256, index: number): Promise<Uint8Array | null> => {
    const partial = partials.get(hash)
    if (partial) return partial.read(index)
    const list = chunkLists.get(hash)
    if (list) return index === 0 ? list : null
    const file = files.get(hash)
    if (file) return fileChunk(file, index)
    const blob = describedAs(hash)
    const expected = blob?.chunkSha256s[index]
    if (!blob || expected === undefined) return null
    const data = await store.readChunk(hash, blob.sizeBytes, index)
    if (data && sha256(data) === expected) return data
    onLost(blob)
    if (!data) return null
    // Every peer that received a false chunk would penalise this host.
    logger.error({ blob: hash, index }, 'a stored blob is damaged')
    return null
  }

  /** Returns a bit for each chunk that is here. A stored blob counts as whole: each chunk is hashed when a peer asks for it. */
  const held = async (hash: Sha256): Promise<Uint8Array | null> => {
    const partial = partials.get(hash)
    if (partial) return partial.held()
    const file = files.get(hash)
    if (file) return bitsOf(file.blob.chunkSha256s.length, (index) => !file.damaged.has(index))
    const blob = describedAs(hash)
    if (!blob || !(await store.has(hash))) return null
    return bitsOf(blob.chunkSha256s.length, () => true)
  }

  /** Selects a chunk that a peer should fetch from here. @returns  null: the peer should fetch from its neighbours */
  const share = async (hash: Sha256, wanted: Uint8Array, peer: string): Promise<Uint8Array | null> => {
    const here = given && (await held(hash))
    if (!here) return null
    const possible = here.map((byte, place) => byte & (wanted[place] ?? 0))
    const promised = given.promise(peer, hash, possible)
    return promised === null ? null : bitsOf(here.length * 8, (index) => index === promised)
  }

  const all = (): SealedManifest[] => [...manifests.values()].sort((a, b) => b.manifest.round - a.manifest.round)

  const manifestOf = async (version: number): Promise<Uint8Array | null> => {
    const sealed =
      archived.get(version) ??
      (await archive(version)) ??
      all().findLast(({ manifest }) => manifest.version === version)
    if (!sealed) return null
    archived.set(version, sealed)
    return sealed.envelope
  }

  const manifestIds = (): Uint8Array | null => {
    const newestFirst = all()
    return newestFirst.length > 0 ? manifestIdList(newestFirst.map(({ manifestId }) => manifestId)) : null
  }

  return {
    offer(sealed) {
      manifests.set(sealed.manifestId, sealed)
      if (!newest || sealed.manifest.round >= newest.manifest.round) newest = sealed
    },
    offerFile(blob, path) {
      files.set(blob.sha256, { blob, path, damaged: new Set() })
      chunkLists.set(chunkListSha256(blob), chunkListOf(blob))
    },
    offerInvitation(sealed) {
      invitation = sealed
    },
    offerPartial(partial) {
      const { sha256: hash } = partial.description
      partials.set(hash, partial)
      return () => void partials.delete(hash)
    },
    newest: () => newest,
    all,
    manifest: (manifestId) => manifests.get(manifestId),

    async lookup(want: SnapshotWant, peer) {
      if (want.kind === 'newest-manifest') return newest?.envelope ?? null
      if (want.kind === 'manifest-ids') return manifestIds()
      if (want.kind === 'manifest') return manifests.get(want.manifestId)?.envelope ?? null
      if (want.kind === 'manifest-of-version') return manifestOf(want.version)
      if (want.kind === 'invitation') return invitation?.() ?? null
      if (want.kind === 'address-notice') return notice()
      if (want.kind === 'held') return held(want.blobSha256)
      if (want.kind === 'share') return share(want.blobSha256, want.wanted, peer)
      return chunk(want.blobSha256, want.index)
    },
    close: stopForgetting,
  }
}
