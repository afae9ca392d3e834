import { LRUCache } from 'lru-cache'
import {
  type BlobDescription,
  chunkCount,
  chunkListOf,
  chunkListSha256,
  type Invitation,
  type InvitedBase,
  LIMITS,
  manifestIdList,
  openInvitation,
  openManifest,
  PROTOCOLS,
  readChunkList,
  readManifestIds,
  refusal,
  type SealedManifest,
  type Sha256,
  type SnapshotWant,
  SwarmRefusal,
  sha256,
} from '../proto/index.js'
import { type BlobStore, readFileChunk } from './blob-store.js'
import { TransportError } from './errors.js'
import { createGivenChunks } from './given-chunks.js'
import type { SwarmHost } from './host.js'
import { bitAt, bitsOf, openPartialBlob, type PartialBlob } from './partial-blob.js'
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
  /**
   * Takes a file into service that lies where `path` says, and the list of its chunk hashes. It stays where it is, and what has
   * changed in it is not given away.
   */
  offerFile(blob: BlobDescription, path: string): void
  /** Takes the run's invitation into service. @param sealed  asked for each time, because addresses change */
  offerInvitation(sealed: () => Uint8Array): void
  /** Highest version known here. */
  newest(): SealedManifest | null
  /** What can be asked for here, the newest round first. */
  inService(): readonly SealedManifest[]
  /**
   * Asks peers in order until one answers with a manifest of the run's coordinator, and takes it into service. Whether it
   * may take effect is another question: `checkSuccession`.
   * @throws TransportError `no_source`, `other_version` of the coordinator
   */
  fetchManifest(peers: readonly string[], want: 'newest' | Sha256, signal: AbortSignal): Promise<SealedManifest>
  /**
   * Asks each of the peers for the manifests in its service. They are not taken into service here.
   * @returns  the newest round first, those in service here among them
   * @throws TransportError `no_source` when none of them answers
   */
  fetchManifests(peers: readonly string[], signal: AbortSignal): Promise<SealedManifest[]>
  /** Those of the peers that have all of a blob. */
  holdersOf(blob: BlobDescription, peers: readonly string[], signal: AbortSignal): Promise<string[]>
  /** The run's invitation, for whoever has only an address. @throws TransportError `no_source`, `other_version` */
  fetchInvitation(peers: readonly string[], signal: AbortSignal): Promise<Invitation>
  /** What the chunks of an invited base model hash to. @throws TransportError `no_source` */
  fetchChunkList(base: InvitedBase, peers: readonly string[], signal: AbortSignal): Promise<BlobDescription>
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

/** A file that lies where its owner put it. */
interface ServedFile {
  readonly blob: BlobDescription
  readonly path: string
  /** Chunks that were not there, or not as they were, when they were asked for last. */
  readonly damaged: Set<number>
}

const unlimited = (): number => Number.POSITIVE_INFINITY

export async function createSnapshotExchange(
  host: SwarmHost,
  options: SnapshotExchangeOptions,
): Promise<SnapshotExchange> {
  const { store, upload = unlimited, download: downloadRate = unlimited } = options
  const { onLost = () => undefined, notice = () => null } = options
  const logger = host.logger.child({ part: 'snapshots' })
  const manifests = new LRUCache<Sha256, SealedManifest>({ max: LIMITS.manifestsServed.value })
  /** Downloads under way: their verified chunks are served, and nobody else opens their files. */
  const partials = new Map<Sha256, PartialBlob>()
  const underWay = new Set<Sha256>()
  const downloads = createUploadBudget(host.clock, downloadRate)
  let newest: SealedManifest | null = null
  const files = new Map<Sha256, ServedFile>()
  const chunkLists = new Map<Sha256, Uint8Array>()
  let invitation: (() => Uint8Array) | null = null
  /** Only the run's coordinator is everybody's source. */
  const given = host.peerId === host.runId ? createGivenChunks() : null
  const stopForgetting = host.onPeer(({ peer, connected }) => {
    if (!connected && !host.isConnected(peer)) given?.forget(peer)
  })

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
    const list = chunkLists.get(hash)
    if (list) return index === 0 ? list : null
    const file = files.get(hash)
    if (file) {
      const data = await readFileChunk(file.path, file.blob.sizeBytes, index)
      const isWhole = data !== null && sha256(data) === file.blob.chunkSha256s[index]
      if (isWhole) {
        file.damaged.delete(index)
        return data
      }
      file.damaged.add(index)
      logger.error({ path: file.path, index }, 'a file in service is damaged or gone')
      return null
    }
    const blob = describedAs(hash)
    const expected = blob?.chunkSha256s[index]
    if (!blob || expected === undefined) return null
    const data = await store.readChunk(hash, blob.sizeBytes, index)
    if (data && sha256(data) === expected) return data
    onLost(blob)
    if (!data) return null
    // A false chunk would cost us our standing with everyone who asks.
    logger.error({ blob: hash, index }, 'a stored blob is damaged')
    return null
  }

  /** What is in the store, or was given as a file, is there as a whole; whether the disk still holds it shows when a chunk is asked for. */
  const held = async (hash: Sha256): Promise<Uint8Array | null> => {
    const partial = partials.get(hash)
    if (partial) return partial.held()
    const file = files.get(hash)
    if (file) return bitsOf(file.blob.chunkSha256s.length, (index) => !file.damaged.has(index))
    const blob = describedAs(hash)
    if (!blob || !(await store.has(hash))) return null
    return bitsOf(blob.chunkSha256s.length, () => true)
  }

  /** @returns  null: from us, it had better take none; everybody but the coordinator has no say */
  const share = async (hash: Sha256, wanted: Uint8Array, peer: string): Promise<Uint8Array | null> => {
    const here = given && (await held(hash))
    if (!here) return null
    const possible = here.map((byte, place) => byte & (wanted[place] ?? 0))
    const promised = given.promise(peer, hash, possible)
    return promised === null ? null : bitsOf(here.length * 8, (index) => index === promised)
  }

  const inService = (): SealedManifest[] => [...manifests.values()].sort((a, b) => b.manifest.round - a.manifest.round)

  const idsInService = (): Uint8Array | null => {
    const newestFirst = inService()
    return newestFirst.length > 0 ? manifestIdList(newestFirst.map(({ manifestId }) => manifestId)) : null
  }

  const lookup = async (want: SnapshotWant, peer: string): Promise<Uint8Array | null> => {
    if (want.kind === 'newest-manifest') return newest?.envelope ?? null
    if (want.kind === 'manifest-ids') return idsInService()
    if (want.kind === 'manifest') return manifests.get(want.manifestId)?.envelope ?? null
    if (want.kind === 'invitation') return invitation?.() ?? null
    if (want.kind === 'address-notice') return notice()
    if (want.kind === 'held') return held(want.blobSha256)
    if (want.kind === 'share') return share(want.blobSha256, want.wanted, peer)
    return chunk(want.blobSha256, want.index)
  }

  const offer = (sealed: SealedManifest): void => {
    manifests.set(sealed.manifestId, sealed)
    if (!newest || sealed.manifest.round >= newest.manifest.round) newest = sealed
  }

  /** Asks one peer after the other, until one gives what `read` takes. */
  const askInTurn = async <T>(
    { peers, want, what }: { peers: readonly string[]; want: SnapshotWant; what: string },
    read: (data: Uint8Array) => T | Promise<T>,
    signal: AbortSignal,
  ): Promise<T> => {
    let last: unknown = null
    for (const peer of peers) {
      try {
        const source = await openSnapshotSource(host, peer, signal)
        try {
          const { status, data } = await source.ask(want)
          if (status !== 'ok') throw new TransportError('refused', status, { refusal: 'not_found' })
          return await read(data)
        } finally {
          source.close()
        }
      } catch (why) {
        signal.throwIfAborted()
        last = why
        if (why instanceof TransportError && why.code === 'other_version' && peer === host.runId) throw why
        if (!(why instanceof SwarmRefusal)) continue
        const { code, effect, detail } = why
        host.onRefusal({ peer, code, effect, detail, protocol: PROTOCOLS.snapshot })
      }
    }
    throw new TransportError('no_source', `${what} from ${peers.length} peers`, { cause: last })
  }

  /** Asks one peer one thing after the other. @throws TransportError, SwarmRefusal */
  const asking = async <T>(
    peer: string,
    signal: AbortSignal,
    ask: (answer: (want: SnapshotWant) => Promise<Uint8Array | null>) => Promise<T>,
  ): Promise<T> => {
    const source = await openSnapshotSource(host, peer, signal)
    try {
      return await ask(async (want) => {
        const { status, data } = await source.ask(want)
        return status === 'ok' ? data : null
      })
    } finally {
      source.close()
    }
  }

  /** What each of the peers answers; those that fail are told of, as long as one does not. @throws TransportError `no_source` */
  const askEach = async <T>(
    peers: readonly string[],
    what: string,
    signal: AbortSignal,
    ask: (answer: (want: SnapshotWant) => Promise<Uint8Array | null>, peer: string) => Promise<T>,
  ): Promise<T[]> => {
    const answers = await Promise.allSettled(peers.map((peer) => asking(peer, signal, (answer) => ask(answer, peer))))
    signal.throwIfAborted()
    const failures = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []))
    for (const error of failures) logger.debug({ error }, `a peer does not give ${what}`)
    if (failures.length === peers.length)
      throw new TransportError('no_source', `${what} from ${peers.length} peers`, { cause: failures[0] })
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  }

  const download = async (blob: BlobDescription, peers: readonly string[], options: FetchOptions): Promise<void> => {
    const partial = await openPartialBlob(options.store ?? store, blob)
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
    inService,
    offerFile(blob, path) {
      files.set(blob.sha256, { blob, path, damaged: new Set() })
      chunkLists.set(chunkListSha256(blob), chunkListOf(blob))
    },
    offerInvitation(sealed) {
      invitation = sealed
    },

    async fetchManifest(peers, want, signal) {
      const known = want === 'newest' ? null : manifests.get(want)
      if (known) return known
      const asked = { peers, want: wantOf(want), what: `manifest ${want}` }
      const read = async (data: Uint8Array): Promise<SealedManifest> => {
        const sealed = await openManifest(data, host.runId)
        if (want !== 'newest' && sealed.manifestId !== want) throw refusal('malformed', `manifest ${sealed.manifestId}`)
        return sealed
      }
      const sealed = await askInTurn(asked, read, signal)
      offer(sealed)
      return sealed
    },

    async fetchManifests(peers, signal) {
      const found = new Map<Sha256, SealedManifest>(manifests)
      await askEach(peers, 'manifests', signal, async (answer) => {
        const ids = readManifestIds((await answer({ kind: 'manifest-ids' })) ?? new Uint8Array())
        for (const manifestId of ids) {
          if (found.has(manifestId)) continue
          const data = await answer({ kind: 'manifest', manifestId })
          const sealed = data && (await openManifest(data, host.runId))
          if (sealed?.manifestId === manifestId) found.set(manifestId, sealed)
        }
      })
      return [...found.values()].sort((a, b) => b.manifest.round - a.manifest.round)
    },

    async holdersOf(blob, peers, signal) {
      const all = blob.chunkSha256s.map((_, index) => index)
      const holders = await askEach(peers, 'a blob', signal, async (answer, peer) => {
        const bits = await answer({ kind: 'held', blobSha256: blob.sha256 })
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
      return askInTurn({ peers, want: { kind: 'invitation' }, what: 'the invitation' }, read, signal)
    },

    fetchChunkList(base, peers, signal) {
      const { sha256: hash, sizeBytes } = base
      const want: SnapshotWant = { kind: 'chunk', blobSha256: base.chunkListSha256, index: 0 }
      const read = (data: Uint8Array): BlobDescription => {
        if (sha256(data) !== base.chunkListSha256) throw refusal('chunk_mismatch', `chunk list of ${hash}`)
        const chunkSha256s = readChunkList(data, chunkCount(sizeBytes))
        return { role: 'base', sha256: hash, sizeBytes, chunkSha256s }
      }
      return askInTurn({ peers, want, what: `the chunk list of ${hash}` }, read, signal)
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

    fetchNotice: (peer, signal) => asking(peer, signal, (answer) => answer({ kind: 'address-notice' })),

    async close() {
      stopForgetting()
      await server.close()
    },
  }
}

const wantOf = (want: 'newest' | Sha256): SnapshotWant =>
  want === 'newest' ? { kind: 'newest-manifest' } : { kind: 'manifest', manifestId: want }
