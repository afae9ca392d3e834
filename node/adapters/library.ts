import { copyFile, mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { packageVersion } from '../../common/cli/index.js'
import { type BlobDescription, EVIDENCE_ROLES, PUBLISHED_FILES, type SealedManifest } from '../../proto/index.js'
import {
  createBlobStore,
  createHost,
  createSnapshotExchange,
  dialAny,
  type JoinAddress,
  openIdentity,
  requestVerdicts,
  type SnapshotExchange,
  type SwarmHost,
  TransportError,
} from '../../swarm/index.js'
import { NodeError } from '../report/errors.js'
import { CARD_FILE, modelCard } from './model-card.js'
import { MANIFEST_FILE, type Provenance, parseProvenance } from './pulled-folder.js'
import { throughCuts, webPublications } from './web-publications.js'

/** Sources of the published versions of a run. */
export interface AdapterSources {
  readonly coordinator: JoinAddress
  /** Other nodes of the run, which serve versions while the coordinator is offline. */
  readonly others: readonly JoinAddress[]
  /** Address of a web server, which is then the only source. */
  readonly web: string | null
}

/** A version of a run, with the sources that have its adapter. */
export interface ListedVersion {
  readonly sealed: SealedManifest
  readonly holders: readonly string[]
}

/** The part of a publication that a pull downloads. */
export type PulledContents = 'model' | 'all'

/** Result of a pull. */
export interface Pulled {
  /** Paths of the files, in the order of the manifest, the sealed manifest last. */
  readonly written: readonly string[]
  /** Names of files that no source has: volunteers that are no mirrors keep only adapters. */
  readonly left: readonly string[]
}

/** The published versions of a run. */
export interface AdapterLibrary {
  /** Peer ids or URL of the sources. */
  readonly sources: readonly string[]
  /** Lists the versions that a source serves, each with its newest round, the newest first. @throws TransportError; NodeError `bad_source` */
  versions(signal: AbortSignal): Promise<ListedVersion[]>
  /**
   * Finds a version. Default: the newest.
   * @throws TransportError; NodeError `no_such_version`
   */
  find(version: number | undefined, signal: AbortSignal): Promise<SealedManifest>
  /**
   * Finds the first manifest of a version, which need not be in service any more.
   * @throws NodeError `no_such_version`
   */
  first(version: number, signal: AbortSignal): Promise<SealedManifest>
  /**
   * Downloads the available files of a publication, and checks them against the signed manifest.
   * @param folder  created if necessary; files of an earlier publication are replaced or removed
   * @param contents  `model`: the files that users of the model need; `all`: also the evidence of the training step
   * @throws TransportError; NodeError `no_such_version` if no source has the adapter
   */
  pull(publication: SealedManifest, folder: string, contents: PulledContents, signal: AbortSignal): Promise<Pulled>
  /** Reports a signed result of a re-derivation to the coordinator. @throws TransportError, SwarmRefusal */
  report(sealed: Uint8Array, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/**
 * Connects to the nodes of a run, or to a web server, in order to read the published versions.
 * @throws TransportError `unreachable` if no node answers
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

  const find: AdapterLibrary['find'] = async (version, caller) => {
    const known = await manifests(caller)
    const found = known.find(({ manifest }) => version === undefined || manifest.version === version)
    if (found) return found
    const served = known.map(({ manifest }) => manifest.version).join(', ') || 'none'
    const asked = version === undefined ? 'any version' : `version ${version}`
    throw new NodeError('no_such_version', `no source serves ${asked}; served versions: ${served}`)
  }

  return {
    sources,
    async versions(caller) {
      const listed: ListedVersion[] = []
      for (const sealed of await manifests(caller))
        listed.push({ sealed, holders: await holdersOf(sealed, adapterOf(sealed), caller) })
      return listed
    },
    find,
    async first(version, caller) {
      if (web) return find(version, caller)
      try {
        return await snapshots.fetchManifestOf(sources, version, caller)
      } catch (cause) {
        if (!(cause instanceof TransportError) || cause.code !== 'no_source') throw cause
        throw new NodeError('no_such_version', `no source has the manifest of version ${version} any more`, { cause })
      }
    },
    async pull(sealed, folder, contents, caller) {
      const { blobs } = sealed.manifest
      // Files are copied to the folder, so earlier versions are not needed here.
      await store.prune(new Set(blobs.map(({ sha256 }) => sha256)))
      snapshots.offer(sealed)
      const fetched = new Map<string, string>()
      const left: string[] = []
      for (const blob of blobs) {
        // The base model is in the run's invitation, not in a publication.
        if (blob.role === 'base' || (contents === 'model' && EVIDENCE_ROLES.has(blob.role))) continue
        const name = nameOf(blob)
        const holders = (await store.has(blob.sha256)) ? sources : await holdersOf(sealed, blob, caller)
        if (holders.length > 0) fetched.set(name, await fetchBlob(sealed, blob, holders, caller))
        else if (blob.role === 'adapter')
          throw new NodeError('no_such_version', `no source has the adapter of version ${sealed.manifest.version}`)
        else left.push(name)
      }
      return { written: await place(sealed, fetched, folder), left }
    },
    async report(rederivation, caller) {
      await requestVerdicts(host, coordinator.peerId, { cursor: 0, max: 1, rederivation }, caller)
    },
    async close() {
      await snapshots.close()
      await host.close()
    },
  }
}

/** Dials the sources. @returns those that answer. @throws TransportError `unreachable` with the errors of the coordinator's addresses */
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
 * Puts the files into the folder, each by a rename. The manifest is removed first and written last, so that a folder with a manifest
 * contains all files that were available.
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
  const facts: Provenance | null = provenance === undefined ? null : await parseProvenance(provenance)
  const [card, manifest] = [join(folder, CARD_FILE), join(folder, MANIFEST_FILE)]
  await writeFileAtomic(card, modelCard(sealed, facts))
  await writeFileAtomic(manifest, Buffer.from(sealed.envelope))
  return [...written, card, manifest]
}
