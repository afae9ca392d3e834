import {
  type BlobDescription,
  chunkCount,
  type Invitation,
  type InvitedBase,
  openInvitation,
  openManifest,
  readChunkList,
  readManifestIds,
  refusal,
  type SealedManifest,
  type Sha256,
  type SnapshotWant,
  sha256,
} from '../proto/index.js'
import type { BlobStore } from './blob-store.js'
import { TransportError } from './errors.js'
import type { FetchOptions } from './fetch-options.js'
import type { SwarmHost } from './host.js'
import { bitAt, openPartialBlob } from './partial-blob.js'
import { createServedSnapshots } from './served-snapshots.js'
import { fetchChunks } from './snapshot-fetch.js'
import { askEach, askInTurn, askPeer } from './snapshot-questions.js'
import { serveSnapshots } from './snapshot-server.js'
import { type Bandwidth, createUploadBudget } from './upload-budget.js'

/** The rate of downloads applies to all of them together. Default: no limit. Uploads have the limit of the host. */
export interface SnapshotExchangeOptions extends Pick<Bandwidth, 'download'> {
  readonly store: BlobStore
  /** Called when a peer asks for a blob of a served manifest that is missing or damaged on this disk. */
  readonly onLost?: (blob: BlobDescription) => void
  /** Returns the newest address notice of the coordinator, for peers that have lost it. */
  readonly notice?: () => Uint8Array | null
  /** Returns the first manifest of a version that is no longer in service; null: not here. */
  readonly archive?: (version: number) => Promise<SealedManifest | null>
}

/** Exchange of manifests and blobs with peers. Every holder serves, and serves each chunk as soon as it is verified. */
export interface SnapshotExchange {
  /** Starts serving a manifest, and those of its blobs that the store has. */
  offer(sealed: SealedManifest): void
  /**
   * Starts serving a file at `path`, and the list of its chunk hashes. The file stays at its path. Chunks that have changed are not
   * served.
   */
  offerFile(blob: BlobDescription, path: string): void
  /** Starts serving the run's invitation. @param sealed  called for each request, because addresses change */
  offerInvitation(sealed: () => Uint8Array): void
  /** Returns the served manifest with the highest round. */
  newest(): SealedManifest | null
  /** Returns the served manifests, the newest round first. */
  inService(): readonly SealedManifest[]
  /**
   * Asks peers in order for a manifest of the run's coordinator, and serves it from then on. Whether the manifest may take effect
   * is for `checkSuccession` to decide.
   * @throws TransportError `no_source`, `other_version` of the coordinator
   */
  fetchManifest(peers: readonly string[], want: 'newest' | Sha256, signal: AbortSignal): Promise<SealedManifest>
  /**
   * Asks each of the peers for the manifests that it serves. This host does not serve them.
   * @returns  those manifests and the manifests served here, the newest round first
   * @throws TransportError `no_source` if no peer answers
   */
  fetchManifests(peers: readonly string[], signal: AbortSignal): Promise<SealedManifest[]>
  /**
   * Asks peers in order for the first manifest of a version, which may not be in service any more. This host does not serve it.
   * @throws TransportError `no_source`, `other_version` of the coordinator
   */
  fetchManifestOf(peers: readonly string[], version: number, signal: AbortSignal): Promise<SealedManifest>
  /** Returns the peers that have all chunks of a blob. */
  holdersOf(blob: BlobDescription, peers: readonly string[], signal: AbortSignal): Promise<string[]>
  /** Fetches the run's invitation, for a node that has only an address. @throws TransportError `no_source`, `other_version` */
  fetchInvitation(peers: readonly string[], signal: AbortSignal): Promise<Invitation>
  /** Fetches the chunk hashes of an invited base model. @throws TransportError `no_source` */
  fetchChunkList(base: InvitedBase, peers: readonly string[], signal: AbortSignal): Promise<BlobDescription>
  /**
   * Fetches a blob into the store, unless it is there, and resumes an earlier attempt.
   * @returns  its path
   * @throws TransportError `no_source`, `bad_hash`; file system errors such as a full disk
   */
  fetchBlob(blob: BlobDescription, peers: readonly string[], options: FetchOptions): Promise<string>
  /** Asks a peer for the newest address notice of the coordinator. @returns  sealed, or null. @throws TransportError, SwarmRefusal */
  fetchNotice(peer: string, signal: AbortSignal): Promise<Uint8Array | null>
  close(): Promise<void>
}

const unlimited = (): number => Number.POSITIVE_INFINITY

/** Creates the exchange of a host and starts serving. */
export async function createSnapshotExchange(
  host: SwarmHost,
  options: SnapshotExchangeOptions,
): Promise<SnapshotExchange> {
  const { store, download: downloadRate = unlimited } = options
  const { onLost = () => undefined, notice = () => null, archive = async () => null } = options
  const served = createServedSnapshots({ host, store, onLost, notice, archive })
  /** Downloads that run: a second one would open the same file. */
  const underWay = new Set<Sha256>()
  const downloads = createUploadBudget(host.clock, downloadRate)

  const download = async (blob: BlobDescription, peers: readonly string[], options: FetchOptions): Promise<void> => {
    const partial = await openPartialBlob(options.store ?? store, blob)
    const stopServing = served.offerPartial(partial)
    try {
      await fetchChunks(host, partial, peers, { pace: downloads, ...options })
      await partial.finish()
    } finally {
      stopServing()
      await partial.close()
    }
  }

  const server = await serveSnapshots(host, served.lookup)
  return {
    offer: served.offer,
    offerFile: served.offerFile,
    offerInvitation: served.offerInvitation,
    newest: served.newest,
    inService: served.all,

    async fetchManifest(peers, want, signal) {
      const known = want === 'newest' ? undefined : served.manifest(want)
      if (known) return known
      const question: SnapshotWant =
        want === 'newest' ? { kind: 'newest-manifest' } : { kind: 'manifest', manifestId: want }
      const read = async (data: Uint8Array): Promise<SealedManifest> => {
        const sealed = await openManifest(data, host.runId)
        if (want !== 'newest' && sealed.manifestId !== want) throw refusal('malformed', `manifest ${sealed.manifestId}`)
        return sealed
      }
      const sealed = await askInTurn(host, { peers, want: question, what: `manifest ${want}` }, read, signal)
      served.offer(sealed)
      return sealed
    },

    async fetchManifests(peers, signal) {
      const found = new Map<Sha256, SealedManifest>(served.all().map((sealed) => [sealed.manifestId, sealed]))
      await askEach(host, { peers, what: 'manifests' }, signal, async (ask) => {
        const ids = readManifestIds((await ask({ kind: 'manifest-ids' })) ?? new Uint8Array())
        for (const manifestId of ids) {
          if (found.has(manifestId)) continue
          const data = await ask({ kind: 'manifest', manifestId })
          const sealed = data && (await openManifest(data, host.runId))
          if (sealed?.manifestId === manifestId) found.set(manifestId, sealed)
        }
      })
      return [...found.values()].sort((a, b) => b.manifest.round - a.manifest.round)
    },

    fetchManifestOf(peers, version, signal) {
      const want: SnapshotWant = { kind: 'manifest-of-version', version }
      const read = async (data: Uint8Array): Promise<SealedManifest> => {
        const sealed = await openManifest(data, host.runId)
        if (sealed.manifest.version !== version)
          throw refusal('malformed', `version ${sealed.manifest.version} instead of ${version}`)
        return sealed
      }
      return askInTurn(host, { peers, want, what: `the manifest of version ${version}` }, read, signal)
    },

    async holdersOf(blob, peers, signal) {
      const all = blob.chunkSha256s.map((_, index) => index)
      const holders = await askEach(host, { peers, what: 'a blob' }, signal, async (ask, peer) => {
        const bits = await ask({ kind: 'held', blobSha256: blob.sha256 })
        return bits && bits.length === Math.ceil(all.length / 8) && all.every((index) => bitAt(bits, index))
          ? [peer]
          : []
      })
      return holders.flat()
    },

    fetchInvitation(peers, signal) {
      const read = async (data: Uint8Array): Promise<Invitation> => {
        const invited = await openInvitation(data)
        if (invited.runId !== host.runId) throw refusal('wrong_signer', `an invitation of ${invited.runId}`)
        return invited
      }
      return askInTurn(host, { peers, want: { kind: 'invitation' }, what: 'the invitation' }, read, signal)
    },

    fetchChunkList(base, peers, signal) {
      const { sha256: hash, sizeBytes } = base
      const want: SnapshotWant = { kind: 'chunk', blobSha256: base.chunkListSha256, index: 0 }
      const read = (data: Uint8Array): BlobDescription => {
        if (sha256(data) !== base.chunkListSha256) throw refusal('chunk_mismatch', `chunk list of ${hash}`)
        const chunkSha256s = readChunkList(data, chunkCount(sizeBytes))
        return { role: 'base', sha256: hash, sizeBytes, chunkSha256s }
      }
      return askInTurn(host, { peers, want, what: `the chunk list of ${hash}` }, read, signal)
    },

    async fetchBlob(blob, peers, options) {
      const place = options.store ?? store
      if (await place.has(blob.sha256)) return place.path(blob.sha256)
      if (underWay.has(blob.sha256)) throw new TransportError('busy', `${blob.sha256} is being fetched`)
      underWay.add(blob.sha256)
      try {
        await download(blob, peers, options)
        return place.path(blob.sha256)
      } finally {
        underWay.delete(blob.sha256)
      }
    },

    fetchNotice: (peer, signal) => askPeer(host, peer, signal, (ask) => ask({ kind: 'address-notice' })),

    async close() {
      served.close()
      await server.close()
    },
  }
}
