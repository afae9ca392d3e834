import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateKeyPairFromSeed } from '@libp2p/crypto/keys'
import { LIMITS, type PolicyManifest, peerIdOfKey, policyIdOf, sealManifest, sha256 } from '../../proto/index.js'
import { type BlobStore, createBlobStore, createHost, createSnapshotExchange } from '../../swarm/index.js'
import type { BenchResult } from './result.js'

const SIZE_BYTES = 32 * LIMITS.chunkBytes.value
const REPETITIONS = 3

/**
 * Measures the download of one blob from 1, 2 and 4 sources: libp2p over the loopback interface, every chunk hashed and written, the
 * whole hashed again and synced. All hosts share one process and one core, so the numbers are a lower bound for separate machines. The
 * comparison is plain HTTP in the same process with the same hashing and a synced file, but without encryption. Each number is the
 * median of three downloads.
 */
export async function run(): Promise<{ results: BenchResult[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'prove-bench-snapshot-'))
  try {
    const content = noise(SIZE_BYTES)
    const seed = await createBlobStore(join(folder, 'seed'))
    const hash = await seed.put(content)
    const http = await median((attempt) => overHttp(content, hash, join(folder, `http-${attempt}`)))
    const results: BenchResult[] = [{ metric: 'http download, 1 source', value: http, unit: 'MB/s' }]
    for (const sources of [1, 2, 4]) {
      const value = await median((attempt) => overSwarm(folder, seed, hash, sources, attempt))
      const metric = `snapshot download, ${sources} source${sources > 1 ? 's' : ''}`
      results.push({
        metric,
        value,
        unit: 'MB/s',
        peer: 'node:http, same hashing and sync, unencrypted',
        ratio: round(value / http),
      })
    }
    return { results }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function overSwarm(
  folder: string,
  seed: BlobStore,
  hash: string,
  sources: number,
  attempt: number,
): Promise<number> {
  const keys = await Promise.all(
    Array.from({ length: sources + 1 }, (_, index) =>
      generateKeyPairFromSeed('Ed25519', new Uint8Array(32).fill(index + 1)),
    ),
  )
  const [coordinator] = keys
  if (!coordinator) throw new Error('no coordinator')
  const runId = peerIdOfKey(coordinator)
  const hosts = await Promise.all(
    keys.map((privateKey) =>
      createHost({
        privateKey,
        runId,
        listen: ['/ip4/127.0.0.1/tcp/0'],
        connectionsPerSecond: 100,
      }),
    ),
  )
  try {
    const blob = await seed.describe(hash, 'adapter')
    const sealed = await sealManifest(coordinator, runId, manifestOf(hash, blob.chunkSha256s))
    const downloader = hosts.at(-1)
    if (!downloader) throw new Error('no downloader')
    const holders = hosts.slice(0, sources)
    for (const holder of holders) {
      const exchange = await createSnapshotExchange(holder, { store: seed })
      exchange.offer(sealed)
      await downloader.dial(holder.addresses()[0] ?? '', AbortSignal.timeout(5000))
    }
    const store = await createBlobStore(join(folder, `download-${sources}-${attempt}`))
    const exchange = await createSnapshotExchange(downloader, { store })
    const startedMs = performance.now()
    const peers = holders.map((holder) => holder.peerId)
    const path = await exchange.fetchBlob(blob, peers, { signal: AbortSignal.timeout(60_000) })
    const elapsedMs = performance.now() - startedMs
    if (sha256(await readFile(path)) !== hash) throw new Error('the download differs')
    await store.remove(hash)
    return SIZE_BYTES / 1000 / elapsedMs
  } finally {
    await Promise.all(hosts.map((host) => host.close()))
  }
}

async function overHttp(content: Uint8Array, hash: string, path: string): Promise<number> {
  const server = createServer((_, response) => response.end(content))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = server.address() as AddressInfo
    const startedMs = performance.now()
    const response = await fetch(`http://127.0.0.1:${port}/`)
    const bytes = new Uint8Array(await response.arrayBuffer())
    // The swarm hashes each chunk and then the whole.
    for (let from = 0; from < bytes.length; from += LIMITS.chunkBytes.value) {
      sha256(bytes.subarray(from, from + LIMITS.chunkBytes.value))
    }
    if (sha256(bytes) !== hash) throw new Error('the download differs')
    const file = await open(path, 'w')
    await file.writeFile(bytes)
    await file.sync()
    await file.close()
    return SIZE_BYTES / 1000 / (performance.now() - startedMs)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

function manifestOf(hash: string, chunkSha256s: readonly string[]): PolicyManifest {
  const policy = {
    base: { name: 'bench', ggufSha256: hash, quantisation: 'F16' },
    adapter: { sha256: hash, sizeBytes: SIZE_BYTES, rank: 8, alpha: 16, targetModules: ['q_proj'] },
    chatTemplateSha256: hash,
    toolCallFormat: 'hermes',
    reward: 'paper',
    cacheType: 'f16',
    toolsetSchemaSha256: hash,
    sampler: { temperature: 1, topK: 0, topP: 1, minP: 0, repeatPenalty: 1, draw: 'gumbel-murmur3' },
    engine: { nodeLlamaCpp: '3.22.1', llamaCpp: 'v0.5.0' },
  }
  return {
    round: 0,
    version: 0,
    policyId: policyIdOf(policy),
    policy,
    blobs: [{ role: 'adapter', sha256: hash, sizeBytes: SIZE_BYTES, chunkSha256s }],
    canary: [],
    canaryTolerance: { mean: 0.02, max: 0.3 },
    limits: {
      groupSize: 2,
      maxTurnTokens: 1,
      maxRolloutTokens: 1,
      maxAssistantTurns: 1,
      maxUserTurns: 1,
      maxStaleness: 0,
    },
    taskSpec: {},
    roundSecretHash: hash,
    closedRounds: [],
    shards: 1,
    difference: null,
    createdAtMs: 0,
    configurationId: hash,
    head: { events: 0, logHash: hash, step: 1, verdicts: 0, verdictsRoot: hash },
    expiresAtMs: 0,
  }
}

/** Returns incompressible bytes. */
function noise(sizeBytes: number): Uint8Array {
  const bytes = new Uint8Array(sizeBytes)
  const words = new Uint32Array(bytes.buffer)
  let state = 1
  for (let index = 0; index < words.length; index += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    words[index] = state
  }
  return bytes
}

async function median(measure: (attempt: number) => Promise<number>): Promise<number> {
  const values: number[] = []
  for (let attempt = 0; attempt < REPETITIONS; attempt += 1) values.push(await measure(attempt))
  return round(values.sort((a, b) => a - b)[REPETITIONS >> 1] ?? Number.NaN)
}

const round = (value: number): number => Math.round(value * 100) / 100
