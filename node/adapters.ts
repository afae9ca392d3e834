import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { packageVersion } from '../cli/index.js'
import { PUBLISHED_FILES, type SealedManifest } from '../proto/index.js'
import {
  createBlobStore,
  createHost,
  createSnapshotExchange,
  dialAny,
  type JoinAddress,
  openIdentity,
  type SnapshotExchange,
} from '../swarm/index.js'

export interface AdapterLibrary {
  /** The newest publication of the run. @throws TransportError */
  newest(signal: AbortSignal): Promise<SealedManifest>
  /**
   * Downloads a publication's files, each checked against the signed manifest.
   * @param folder  created if need be; files of the same names are replaced
   * @returns paths of the files
   */
  pull(publication: SealedManifest, folder: string, signal: AbortSignal): Promise<string[]>
  close(): Promise<void>
}

/** Connects to a run for its adapters alone: no engine, no work. */
export async function openAdapterLibrary(
  coordinator: JoinAddress,
  dataDir: string,
  signal: AbortSignal,
): Promise<AdapterLibrary> {
  await mkdir(dataDir, { recursive: true })
  const { privateKey } = await openIdentity(dataDir)
  const host = await createHost({ privateKey, runId: coordinator.peerId, program: packageVersion() })
  let snapshots: SnapshotExchange
  const store = await createBlobStore(join(dataDir, 'blobs'))
  try {
    await dialAny(host, coordinator.addresses, signal)
    snapshots = await createSnapshotExchange(host, { store })
  } catch (error) {
    await host.close()
    throw error
  }
  const sources = [coordinator.peerId]
  return {
    newest: (caller) => snapshots.fetchManifest(sources, 'newest', caller),
    async pull({ manifest }, folder, caller) {
      await mkdir(folder, { recursive: true })
      // What is asked for is copied out; earlier versions would only gather here.
      await store.prune(new Set(manifest.blobs.map(({ sha256 }) => sha256)))
      const written: string[] = []
      for (const blob of manifest.blobs) {
        const file = PUBLISHED_FILES.find(({ role }) => role === blob.role)
        if (!file) continue
        const path = join(folder, file.name)
        await copyFile(await snapshots.fetchBlob(blob, sources, { signal: caller }), path)
        written.push(path)
      }
      return written
    },
    async close() {
      await snapshots.close()
      await host.close()
    },
  }
}
