import { createInterface } from 'node:readline'
import { tellOwnAddresses } from '../../coordinator/service/own-addresses.js'
import { openPeerFile } from '../../coordinator/service/peer-file.js'
import { createProviders } from '../../coordinator/service/providers.js'
import { openNodeStore } from '../../node/store.js'
import { announcementOf, policyIdOf, sealManifest, sealPolicyAnnouncement } from '../../proto/index.js'
import {
  channelsOf,
  createBlobStore,
  createHost,
  createSnapshotExchange,
  keepConnected,
  keepNeighbours,
  openAddressNotices,
  requestVerdicts,
  serveVerdicts,
  TransportError,
} from '../../swarm/index.js'
import { flightManifest, flightPolicy } from './proto-samples.js'
import { keyOf, noise } from './swarm-nodes.js'

/**
 * A host of its own process, made of the swarm's real parts, that follows commands on stdin and tells what happens on stdout, one
 * JSON object per line. Seed 1 is the coordinator.
 */
export interface NetworkHostOptions {
  readonly seed: number
  readonly runId: string
  readonly folder: string
  readonly listen: readonly string[]
  /** Where others are told to dial it, in place of where it listens. */
  readonly announce?: readonly string[]
  /** The coordinator's address; null for itself. */
  readonly coordinator: string | null
  /** It hears of nobody but the coordinator. */
  readonly alone: boolean
  /** Of the adapter that the coordinator publishes. */
  readonly adapterBytes: number
}

export type NetworkCommand =
  | { readonly do: 'publish' }
  /** Fetches the adapter as a node does, or from these peers alone. */
  | { readonly do: 'fetch'; readonly from?: readonly string[] }
  /** Asks a peer something small, over a relay if there is no other way. */
  | { readonly do: 'ask'; readonly peer: string; readonly through: string }
  | { readonly do: 'peers' }

const tell = (line: { readonly type: string } & Record<string, unknown>): void =>
  void process.stdout.write(`${JSON.stringify(line)}\n`)

async function main({
  seed,
  runId,
  folder,
  listen,
  announce = [],
  coordinator,
  alone,
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
    finding: { relay: listen.length > 0 && coordinator === null ? 'offered' : 'used' },
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
    onNews: ({ sealed, notice }) => {
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
  if (!alone) host.gossip.join(policy, { deliver: ({ providers }) => neighbours.hear(providers, true) })
  const addresses = (): string[] => [
    ...(notices.newest()?.notice.addresses ?? []).map((address) => `${address}/p2p/${runId}`),
    ...(coordinator === null ? [] : [coordinator]),
  ]
  const connection = coordinator === null ? null : keepConnected(host, { peerId: runId, addresses })
  host.onPeer(({ peer, connected }) => {
    if (peer === runId) tell({ type: 'coordinator', connected })
    const others = host.connections().filter((one) => !one.limited && one.peer !== runId)
    tell({ type: 'neighbours', count: new Set(others.map((one) => one.peer)).size })
    if (!connected || (peer !== runId && host.isConnected(runId))) return
    connection?.retry()
    const pass = async (): Promise<void> => {
      const sealed = await snapshots.fetchNotice(peer, signal)
      if (sealed && (await notices.take(sealed))) await notices.publish()
    }
    pass().catch(() => undefined)
  })
  await serveVerdicts(host, async () => ({ digest: new Uint8Array([seed]), more: false }))

  const blobOf = async () => blobs.describe(await blobs.put(noise(adapterBytes)), 'adapter')
  const providers = createProviders({
    host,
    policyInForce: () => null,
    onDialable: (peer) => neighbours.note(peer),
    random: Math.random,
    signal,
  })
  const publish = async (): Promise<void> => {
    const blob = await blobOf()
    const adapter = { ...flightPolicy.adapter!, sha256: blob.sha256, sizeBytes: adapterBytes }
    const described = { ...flightPolicy, adapter }
    const manifest = { ...flightManifest, policy: described, policyId: policyIdOf(described), blobs: [blob] }
    const sealed = await sealManifest(key, runId, manifest)
    snapshots.offer(sealed)
    while (!signal.aborted) {
      for (const { peer } of host.connections()) providers.note(peer, '')
      const announcement = announcementOf(sealed, { capacity: 0, waiting: 0 }, providers.forAnyone())
      await host.gossip.publish(policy, await sealPolicyAnnouncement(key, runId, announcement))
      await host.clock.sleep(500, signal).catch(() => undefined)
    }
  }
  if (coordinator === null) {
    const file = `${folder}/address.notice`
    const silence = { announcement: () => null, onAnnouncement: () => () => undefined }
    void tellOwnAddresses({ host, key, notices, file, ...silence }, signal)
  }

  const act = async (command: NetworkCommand): Promise<void> => {
    if (command.do === 'publish') return publish()
    if (command.do === 'peers') {
      const connections = host.connections().map(({ peer, limited, address }) => ({ peer, limited, address }))
      return tell({ type: 'peers', connections, uploaded, addresses: host.addresses() })
    }
    if (command.do === 'ask') {
      await host.dialPeer({ peerId: command.peer, addresses: [`${command.through}/p2p-circuit`] }, signal)
      const { digest } = await requestVerdicts(host, command.peer, { cursor: 0, max: 1 }, signal)
      const ways = host.connections(command.peer).map(({ limited }) => limited)
      return tell({ type: 'answered', by: digest[0]!, ways })
    }
    const from = command.from ?? [runId, ...neighbours.connected()]
    const { manifest } = await snapshots.fetchManifest(from, 'newest', signal)
    const blob = manifest.blobs.find(({ role }) => role === 'adapter')!
    // What one has already, it is to get again.
    if (command.from) await blobs.remove(blob.sha256)
    const sharing = { origin: runId, more: () => neighbours.connected() }
    const options = command.from ? {} : sharing
    // As a node does; what has come is kept. A busy machine is slower than any line.
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
