import { copyFile, mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { packageVersion } from '../../common/cli/index.js'
import { type BlobDescription, PUBLISHED_FILES, type SealedManifest } from '../../proto/index.js'
import {
  createBlobStore,
  createHost,
  createSnapshotExchange,
  dialAny,
  type JoinAddress,
  openIdentity,
  type SnapshotExchange,
  type SwarmHost,
} from '../../swarm/index.js'
import { NodeError } from '../report/errors.js'
import { CARD_FILE, modelCard } from './model-card.js'
import { MANIFEST_FILE, type Provenance, parseProvenance } from './pulled-folder.js'
import { throughCuts, webPublications } from './web-publications.js'

/** Where a run is asked for what it has published. */
export interface AdapterSources {
  readonly coordinator: JoinAddress
  /** Further nodes of the run: what they hold can be had while the coordinator is away. */
  readonly others: readonly JoinAddress[]
  /** Address of a web server that has it all; then nobody else is asked. */
  readonly web: string | null
}

/** A version of a run, and who of those asked has its adapter. */
export interface ListedVersion {
  readonly sealed: SealedManifest
  readonly holders: readonly string[]
}

export interface Pulled {
  /** Paths of the files, in the order of the manifest, the sealed manifest last. */
  readonly written: readonly string[]
  /** Names of files that nobody who was asked has: volunteers hold adapters only, unless they are mirrors. */
  readonly left: readonly string[]
}

export interface AdapterLibrary {
  /** Those asked, by peer id or URL. */
  readonly sources: readonly string[]
  /** Every version that one of the sources serves, by its newest round, the newest first. @throws TransportError; NodeError `bad_source` */
  versions(signal: AbortSignal): Promise<ListedVersion[]>
  /**
   * The newest version, or the one that is named.
   * @throws TransportError; NodeError `no_such_version`
   */
  find(version: number | undefined, signal: AbortSignal): Promise<SealedManifest>
  /**
   * Downloads what is there of a publication, each file checked against the signed manifest.
   * @param folder  created if need be; files of a publication that are there already are replaced or removed
   * @throws TransportError; NodeError `no_such_version` when nobody has the adapter
   */
  pull(publication: SealedManifest, folder: string, signal: AbortSignal): Promise<Pulled>
  close(): Promise<void>
}

/**
 * Connects to a run, or to a web server that has what it published, for its adapters alone: no engine, no work.
 * @throws TransportError `unreachable` when none of the nodes answers
 */
export async function openAdapterLibrary(
  { coordinator, others, web: address }: AdapterSources,
  dataDir: string,
  signal: AbortSignal,
): Promise<AdapterLibrary> {
  await mkdir(dataDir, { recursive: true })
  const { privateKey } = await openIdentity(dataDir)
  const host = await createHost({ privateKey, runId: coordinator.peerId, program: packageVersion() })
  let snapshots: SnapshotExchange
  let sources: string[]
  const store = await createBlobStore(join(dataDir, 'blobs'))
  const web = address === null ? null : webPublications(address, coordinator.peerId)
  try {
    sources = web ? [web.url] : await dialSources(host, [coordinator, ...others], signal)
    snapshots = await createSnapshotExchange(host, { store })
  } catch (error) {
    await host.close()
    throw error
  }

  const manifests = async (caller: AbortSignal): Promise<SealedManifest[]> => {
    const newestRoundOf = new Map<number, SealedManifest>()
    for (const sealed of await (web ? web.manifests(caller) : snapshots.fetchManifests(sources, caller))) {
      const { version } = sealed.manifest
      if (!newestRoundOf.has(version)) newestRoundOf.set(version, sealed)
    }
    return [...newestRoundOf.values()].sort((a, b) => b.manifest.version - a.manifest.version)
  }
  const holdersOf = async (
    { manifest }: SealedManifest,
    blob: BlobDescription,
    caller: AbortSignal,
  ): Promise<readonly string[]> => {
    if (!web) return snapshots.holdersOf(blob, sources, caller)
    return (await web.has(manifest.version, nameOf(blob), caller)) ? sources : []
  }
  const fetchBlob = (
    { manifest }: SealedManifest,
    blob: BlobDescription,
    holders: readonly string[],
    caller: AbortSignal,
  ) => {
    if (!web) return snapshots.fetchBlob(blob, holders, { signal: caller })
    const others = [web.source(manifest.version, nameOf(blob), blob)]
    return throughCuts((onProgress) => snapshots.fetchBlob(blob, [], { signal: caller, others, onProgress }))
  }

  return {
    sources,
    async versions(caller) {
      const listed: ListedVersion[] = []
      for (const sealed of await manifests(caller))
        listed.push({ sealed, holders: await holdersOf(sealed, adapterOf(sealed), caller) })
      return listed
    },
    async find(version, caller) {
      const known = await manifests(caller)
      const found = known.find(({ manifest }) => version === undefined || manifest.version === version)
      if (found) return found
      const served = known.map(({ manifest }) => manifest.version).join(', ') || 'none'
      const asked = version === undefined ? 'any version' : `version ${version}`
      throw new NodeError('no_such_version', `nobody who was asked serves ${asked}; served: ${served}`)
    },
    async pull(sealed, folder, caller) {
      const { blobs } = sealed.manifest
      // What is asked for is copied out; earlier versions would only gather here.
      await store.prune(new Set(blobs.map(({ sha256 }) => sha256)))
      snapshots.offer(sealed)
      const fetched = new Map<string, string>()
      const left: string[] = []
      for (const blob of blobs) {
        // The base is in the run's invitation, and no file of a publication.
        if (blob.role === 'base') continue
        const name = nameOf(blob)
        const holders = (await store.has(blob.sha256)) ? sources : await holdersOf(sealed, blob, caller)
        if (holders.length > 0) fetched.set(name, await fetchBlob(sealed, blob, holders, caller))
        else if (blob.role === 'adapter')
          throw new NodeError(
            'no_such_version',
            `nobody who was asked has the adapter of version ${sealed.manifest.version}`,
          )
        else left.push(name)
      }
      return { written: await place(sealed, fetched, folder), left }
    },
    async close() {
      await snapshots.close()
      await host.close()
    },
  }
}

/** @returns  those that answered. @throws TransportError `unreachable` with what the coordinator's addresses said */
async function dialSources(host: SwarmHost, sources: readonly JoinAddress[], signal: AbortSignal): Promise<string[]> {
  const dials = sources.map(({ addresses }) => dialAny(host, addresses, signal))
  const outcomes = await Promise.allSettled(dials)
  signal.throwIfAborted()
  const reached = sources.filter((_, i) => outcomes[i]!.status === 'fulfilled').map(({ peerId }) => peerId)
  const [first] = outcomes
  if (reached.length === 0 && first?.status === 'rejected') throw first.reason
  return [...new Set(reached)]
}

const nameOf = ({ role }: BlobDescription): string => PUBLISHED_FILES.find((file) => file.role === role)!.name

const adapterOf = ({ manifest }: SealedManifest): BlobDescription => {
  const adapter = manifest.blobs.find(({ role }) => role === 'adapter')
  if (!adapter) throw new NodeError('no_such_version', `version ${manifest.version} has no adapter`)
  return adapter
}

/**
 * Puts the files into the folder, each at once; the manifest comes last, and goes first, so that a folder with one is a whole
 * publication, but for what was not to be had.
 */
async function place(sealed: SealedManifest, fetched: ReadonlyMap<string, string>, folder: string): Promise<string[]> {
  await mkdir(folder, { recursive: true })
  for (const name of [MANIFEST_FILE, CARD_FILE, ...PUBLISHED_FILES.map((file) => file.name)])
    if (!fetched.has(name)) await rm(join(folder, name), { force: true })
  const written: string[] = []
  for (const [name, source] of fetched) {
    const path = join(folder, name)
    await mkdir(dirname(path), { recursive: true })
    await copyFile(source, `${path}.tmp`)
    await rename(`${path}.tmp`, path)
    written.push(path)
  }
  const provenance = fetched.get('provenance.json')
  const told: Provenance | null = provenance === undefined ? null : await parseProvenance(provenance)
  const [card, manifest] = [join(folder, CARD_FILE), join(folder, MANIFEST_FILE)]
  await writeFileAtomic(card, modelCard(sealed, told))
  await writeFileAtomic(manifest, Buffer.from(sealed.envelope))
  return [...written, card, manifest]
}
