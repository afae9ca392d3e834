import type { SealedManifest } from '../../proto/index.js'
import type { AdapterFile } from '../../rollout/engine/types.js'
import { type BlobStore, createBlobStore, createSnapshotExchange, type SwarmHost } from '../../swarm/index.js'

/** A published policy with its adapter on disk. */
export interface Policy {
  readonly sealed: SealedManifest
  readonly policyId: string
  readonly adapter: AdapterFile
}

/** What the run has published, fetched over its own exchange, as every node does. */
export interface Policies {
  /** The policy in force. */
  newest(signal: AbortSignal): Promise<Policy>
  /** All that were seen, oldest first, one of each policy id. */
  readonly seen: readonly Policy[]
  close(): Promise<void>
}

export async function openPolicies(host: SwarmHost, folder: string): Promise<Policies> {
  const store: BlobStore = await createBlobStore(folder)
  const snapshots = await createSnapshotExchange(host, { store })
  const seen = new Map<string, Policy>()
  const underWay = new Map<string, Promise<Policy>>()

  const fetchAdapter = async (sealed: SealedManifest, signal: AbortSignal): Promise<Policy> => {
    const { policyId, policy, blobs } = sealed.manifest
    const shape = policy.adapter!
    const blob = blobs.find(({ role }) => role === 'adapter')!
    const path = await snapshots.fetchBlob(blob, [host.runId], { signal })
    const found = { sealed, policyId, adapter: { path, sha256: shape.sha256, shape } }
    seen.set(policyId, found)
    return found
  }

  return {
    get seen() {
      return [...seen.values()]
    },
    async newest(signal) {
      const sealed = await snapshots.fetchManifest([host.runId], 'newest', signal)
      const { policyId } = sealed.manifest
      const known = seen.get(policyId)
      if (known) return known
      // One download for all who ask meanwhile.
      const fetching = underWay.get(policyId) ?? fetchAdapter(sealed, signal)
      underWay.set(policyId, fetching)
      return fetching.finally(() => underWay.delete(policyId))
    },
    close: () => snapshots.close(),
  }
}
