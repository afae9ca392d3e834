import { createInterface } from 'node:readline'
import type { PrivateKey } from '@libp2p/interface'
import { announceAddresses } from '../../coordinator/service/own-addresses.js'
import { openPeerFile } from '../../coordinator/service/peer-file.js'
import { createProviders, type Providers } from '../../coordinator/service/providers.js'
import { openNodeStore } from '../../node/store/store.js'
import { announcementOf, policyIdOf, sealManifest, sealPolicyAnnouncement } from '../../proto/index.js'
import {
  type BlobStore,
  channelsOf,
  createBlobStore,
  createHost,
  createSnapshotExchange,
  type Discovery,
  keepConnected,
  keepNeighbours,
  openAddressNotices,
  type SnapshotExchange,
  type SwarmHost,
  TransportError,
} from '../../swarm/index.js'
import { flightManifest, flightPolicy } from './proto-samples.js'
import { keyOf, noise } from './swarm-nodes.js'

/**
 * A host in a process of its own, made of the real parts of `swarm/`. It reads commands on stdin and reports on stdout, one JSON
 * object per line. Seed 1 is the coordinator.
 */
export interface NetworkHostOptions {
  readonly seed: number
  readonly runId: string
  readonly folder: string
  readonly listen: readonly string[]
  /** Addresses that it announces instead of those it listens on. */
  readonly announce?: readonly string[]
  /** Address of the coordinator; null for the coordinator. */
  readonly coordinator: string | null
  readonly discovery: Discovery
  /** Size of the adapter that the coordinator publishes. */
  readonly adapterBytes: number
}

export type NetworkCommand =
  | { readonly do: 'publish' }
  /** Fetches the adapter as a node does, or only from these peers. */
  | { readonly do: 'fetch'; readonly from?: readonly string[] }
  | { readonly do: 'peers' }

const tell = (line: { readonly type: string } & Record<string, unknown>): void =>
  void process.stdout.write(`${JSON.stringify(line)}\n`)

interface PublishParts {
  readonly key: PrivateKey
  readonly host: SwarmHost
  readonly blobs: BlobStore
  readonly snapshots: SnapshotExchange
  readonly providers: Providers
  readonly adapterBytes: number
}

/** Publishes an adapter, and announces it with its providers until the signal fires. */
async function publish(parts: PublishParts, signal: AbortSignal): Promise<void> {
  const { key, host, blobs, snapshots, providers, adapterBytes } = parts
  const { runId } = host
  const blob = await blobs.describe(await blobs.put(noise(adapterBytes)), 'adapter')
  const adapter = { ...flightPolicy.adapter!, sha256: blob.sha256, sizeBytes: adapterBytes }
  const described = { ...flightPolicy, adapter }
  const manifest = { ...flightManifest, policy: described, policyId: policyIdOf(described), blobs: [blob] }
  const sealed = await sealManifest(key, runId, manifest)
  snapshots.offer(sealed)
  while (!signal.aborted) {
    for (const { peer } of host.connections()) providers.note(peer, '')
    const announcement = announcementOf(sealed, { capacity: 0, waiting: 0 }, providers.forAnyone())
    await host.gossip.publish(channelsOf(runId).policy, await sealPolicyAnnouncement(key, runId, announcement))
    await host.clock.sleep(500, signal).catch(() => undefined)
  }
}

async function main({
  seed,
  runId,
  folder,
  listen,
  announce = [],
  coordinator,
  discovery,
  adapterBytes,
}: NetworkHostOptions): Promise<void> {
  const key = await keyOf(seed)
  const closing = new AbortController()
  const { signal } = closing
  const host = await createHost({
    privateKey: key,
    runId,
    listen,
    announce,
    runReach: 'network',
    discovery,
  })
  const store = await openNodeStore(`${folder}/store`, runId)
  const peerFile = coordinator === null ? await openPeerFile(`${folder}/peers.json`) : null
  const neighbours = keepNeighbours({
    host,
    known: peerFile?.known ?? (await store.peers()),
    keep: peerFile?.keep ?? ((peers) => store.keepPeers(peers)),
    random: Math.random,
  })
  const notices = await openAddressNotices({
    host,
    known: await store.notice(),
    onNewer: ({ sealed, notice }) => {
      void store.keepNotice(sealed)
      tell({ type: 'notice', addresses: notice.addresses })
      connection?.retry()
    },
  })
  const blobs = await createBlobStore(`${folder}/blobs`)
  let uploaded = 0
  const counted: typeof blobs = {
    ...blobs,
    async readChunk(...chunk) {
      uploaded += 1
      return blobs.readChunk(...chunk)
    },
  }
  const snapshots = await createSnapshotExchange(host, {
    store: counted,
    notice: () => notices.newest()?.sealed ?? null,
  })
  const { policy } = channelsOf(runId)
  host.gossip.join(policy, { deliver: ({ providers }) => neighbours.suggest(providers, true) })
  const addresses = (): string[] => [
    ...(notices.newest()?.notice.addresses ?? []).map((address) => `${address}/p2p/${runId}`),
    ...(coordinator === null ? [] : [coordinator]),
  ]
  const connection = coordinator === null ? null : keepConnected(host, { peerId: runId, addresses })
  host.onPeer(({ peer, connected }) => {
    if (peer === runId) tell({ type: 'coordinator', connected })
    const others = host.connections().filter((one) => one.peer !== runId)
    tell({ type: 'neighbours', count: new Set(others.map((one) => one.peer)).size })
    if (!connected || (peer !== runId && host.isConnected(runId))) return
    connection?.retry()
    const pass = async (): Promise<void> => {
      const sealed = await snapshots.fetchNotice(peer, signal)
      if (sealed && (await notices.take(sealed))) await notices.publish()
    }
    pass().catch(() => undefined)
  })

  const providers = createProviders({
    shards: () => 1,
    host,
    policyInForce: () => null,
    onDialable: (peer) => neighbours.note(peer),
    random: Math.random,
    signal,
  })
  if (coordinator === null) {
    const file = `${folder}/address.notice`
    const silence = { announcement: () => null, onAnnouncement: () => () => undefined }
    void announceAddresses({ host, key, notices, file, ...silence }, signal)
  }

  const act = async (command: NetworkCommand): Promise<void> => {
    if (command.do === 'publish') return publish({ key, host, blobs, snapshots, providers, adapterBytes }, signal)
    if (command.do === 'peers') {
      const connections = host.connections().map(({ peer, address }) => ({ peer, address }))
      return tell({ type: 'peers', connections, uploaded, proven: host.provenAddresses() })
    }
    const from = command.from ?? [runId, ...neighbours.connected()]
    const { manifest } = await snapshots.fetchManifest(from, 'newest', signal)
    const blob = manifest.blobs.find(({ role }) => role === 'adapter')!
    // A second fetch has to download the blob again.
    if (command.from) await blobs.remove(blob.sha256)
    const sharing = { origin: runId, more: () => neighbours.connected() }
    const options = command.from ? {} : sharing
    // Retries like a node, which keeps the chunks that have arrived: a busy machine is slower than any link.
    const attempt = (): Promise<unknown> =>
      snapshots.fetchBlob(blob, from, { signal, ...options }).catch((error: unknown) => {
        if (!(error instanceof TransportError)) throw error
        return attempt()
      })
    await attempt()
    tell({ type: 'fetched', uploaded })
  }
  createInterface({ input: process.stdin }).on('line', (line) => {
    act(JSON.parse(line) as NetworkCommand).catch((error: Error) => {
      if (!signal.aborted) tell({ type: 'failed', command: line, why: `${error.message} ${error.cause ?? ''}` })
    })
  })
  process.once('SIGTERM', () => {
    closing.abort()
    process.exit(0)
  })
  tell({ type: 'ready', peerId: host.peerId, addresses: host.addresses() })
}

await main(JSON.parse(process.argv[2]!) as NetworkHostOptions)
