import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { createAdmission } from '../../coordinator/intake/admission.js'
import { createLeaseService } from '../../coordinator/leases/lease-service.js'
import { openChainedLog } from '../../coordinator/ledger/chained-log.js'
import { type EventLog, openEventLog } from '../../coordinator/ledger/event-log.js'
import type { RunEvent } from '../../coordinator/ledger/events.js'
import type { LogHead } from '../../coordinator/ledger/log-chain.js'
import { openRecorder, type Recorder } from '../../coordinator/ledger/recorder.js'
import { openGroupAnnouncement, peerIdOfKey, sealGroupAnnouncement, sealVerdictDigest } from '../../proto/index.js'
import type { Task } from '../../rollout/episode/index.js'
import { UNWATCHED } from '../../rollout/verification/index.js'
import { createMetrics, systemClock } from '../../swarm/index.js'
import { agreed, judged, leased, released } from '../support/run-events.js'
import { measureAges, measureStarts } from './coordinator-age.js'
import type { BenchResult } from './result.js'

const NODES = [100, 1000, 10_000]
const WAITING = [1, 16, 256]
/** Number of repeats per mean. */
const TIMES = 400
const PER_NODE = 2
/** Largest number of waiting events that are written together. */
const LEAST_WRITES = 400
const HOUR_MS = 3_600_000

/** Measures the work of the coordinator's single thread per node, its growth with the number of nodes, and the log. */
export async function run(): Promise<{ versions: Record<string, string>; results: BenchResult[] }> {
  const results: BenchResult[] = []
  for (const nodes of NODES) results.push(...(await measureNodes(nodes)))
  for (const waiting of WAITING) results.push(await measureLog(waiting))
  results.push(...measureAges(), ...(await measureStarts()))
  return { versions: {}, results }
}

const hex = (bytes: number): string => randomBytes(bytes).toString('hex')

/** Measures with a number of active nodes, each of which has a lease and a group that waits for its batch. */
async function measureNodes(nodes: number): Promise<BenchResult[]> {
  const policyId = hex(32)
  const names = Array.from({ length: nodes }, () => `12D3KooW${hex(22)}`)
  const recorder = await openRecorder(await openLogInMemory(), () => undefined)
  const { state } = recorder
  const tasks = [{ id: 'task', environments: [] } as unknown as Task]
  const key = await generateKeyPair('Ed25519')
  const author = peerIdOfKey(key)
  const write = (event: RunEvent) => recorder.record(() => event)
  await prepare(recorder, policyId, [...names, author])
  const parts = {
    tasks,
    recorder,
    registrationMs: 5000,
    addressBlockOf: () => null,
    metrics: createMetrics(),
    clock: systemClock,
  }
  const leases = createLeaseService(parts)
  const ask = (node: string, holding: readonly string[]) =>
    leases.answer(
      {
        ...{ kind: 'ask', count: 1, policyId, nonce: hex(16), holding },
        ...{ agent: 'bench', backend: 'cpu', tokensPerSecond: 0 },
      },
      node,
    )
  const one = (i: number): string => names[i % nodes]!
  const held = new Map([...state.openLeases].map(([leaseId, { node }]) => [node, leaseId]))
  const given: string[] = []
  const question = await perSecond(
    async (i) => {
      const { leases } = await ask(one(i), [held.get(one(i))!])
      for (const { leaseId } of leases) given.push(leaseId)
    },
    Math.min(TIMES, nodes),
  )
  if (given.length !== Math.min(TIMES, nodes)) throw new Error(`${given.length} leases were given`)
  const refused = await perSecond((i) => ask(one(i), [held.get(one(i))!, given[i % nodes]!]), given.length)
  const lapsed = await perSecond(() => leases.releaseLapsed())
  const admission = createAdmission({
    state,
    tasks,
    configurationOf: (lease) => state.roundOf(lease).configuration,
    owedBody: () => undefined,
    clock: systemClock,
    watch: UNWATCHED,
  })
  const runId = author
  const sealed: Uint8Array[] = []
  for (let i = 0; i < TIMES; i++) {
    const leaseId = hex(16)
    await write(leased(leaseId, author, 0, { index: i, deadlineMs: Date.now() + HOUR_MS }))
    const claim = { taskId: 'task', policyId, rewards: [0, 1], bodySizeBytes: 1000, nonce: hex(16), tokensGenerated: 9 }
    sealed.push(await sealGroupAnnouncement(key, runId, { leaseId, ...claim, bodySha256: hex(32) }, null))
  }
  const announcement = await perSecond(async (i) => {
    const group = await openGroupAnnouncement(sealed[i]!, runId)
    admission.admit({ ...group, sealed: sealed[i]! })
  })
  const verdict = await perSecond(async (i) => {
    const node = one(i)
    const leaseId = given[i % given.length]!
    if (i < given.length) await write(judged(leaseId, state.leases.get(leaseId)!.node, 0))
    const verdicts = [
      { leaseId, bodySha256: hex(32), accepted: true, code: null, detail: '', credit: 1, receivedAtMs: 0 },
    ]
    const digest = { peerId: node, fromCursor: 0, verdicts, totalCredit: 1, issuedAtMs: 0 }
    await sealVerdictDigest(key, runId, digest)
  }, given.length)
  const event = await perSecond((i) => write(released(`none ${i}`)))
  const of = `${nodes.toLocaleString('en')} nodes`
  const line = (what: string, value: number): BenchResult => ({ metric: `${of}: ${what}`, value, unit: '/s of CPU' })
  return [
    line('questions that get a lease', question),
    line('questions that get none', refused),
    line('looks for lapsed leases', lapsed),
    line('announcements, opened and admitted', announcement),
    line('verdicts, recorded and sealed', verdict),
    line('events decided on and applied', event),
  ]
}

async function prepare(recorder: Recorder, policyId: string, nodes: readonly string[]): Promise<void> {
  const waiting: Promise<unknown>[] = []
  const write = (event: RunEvent): void => void waiting.push(recorder.record(() => event))
  const opened = { atMs: 0, version: 0, policyId, manifestId: hex(32), roundSecret: hex(32), skippedTasks: '' }
  write(
    agreed({
      batchGroups: 2 * nodes.length,
      leases: { durationMs: HOUR_MS, perNode: PER_NODE },
      influence: { perKey: 0.5, perAddressBlock: 1 },
    }),
  )
  write({ type: 'published', ...opened, round: 0, step: 0, adapterStep: 0, adapterSha256: hex(32) })
  for (const node of nodes) write({ type: 'registered', atMs: 0, node, round: 0 })
  write({ type: 'reopened', ...opened, round: 1 })
  const deadlineMs = Date.now() + HOUR_MS
  for (const node of nodes) {
    const leaseIds = [hex(16), hex(16)]
    for (const [index, leaseId] of leaseIds.entries())
      write(leased(leaseId, node, 0, { round: 1, index, deadlineMs, seed: hex(32) }))
    write(judged(leaseIds[0]!, node, 0, { addressBlock: `ip4/${node.slice(-6)}` }))
  }
  await Promise.all(waiting)
}

/** The real log with its hash chain, on a disk that takes no time and stores nothing. */
async function openLogInMemory(): Promise<EventLog> {
  let newest: LogHead | null = null
  return openChainedLog(
    {
      count: async () => 0,
      append: async () => undefined,
      async *records() {},
      close: async () => undefined,
    },
    {
      path: 'memory',
      get newest() {
        return newest
      },
      async write(head) {
        newest = head
      },
      close: async () => undefined,
    },
    'memory',
  )
}

/** Returns how often an operation runs per second of this process's CPU time. */
async function perSecond(work: (i: number) => unknown, times = TIMES): Promise<number> {
  const before = process.cpuUsage()
  for (let i = 0; i < times; i++) await work(i)
  const { user, system } = process.cpuUsage(before)
  return (times * 1e6) / (user + system)
}

/** Measures synced events per second while a fixed number of events always waits. */
async function measureLog(waiting: number): Promise<BenchResult> {
  const folder = await mkdtemp(join(tmpdir(), 'prove-bench-'))
  const recorder = await openRecorder(await openEventLog(join(folder, 'log')), () => undefined)
  try {
    await recorder.record(() => agreed())
    const events = LEAST_WRITES * Math.min(64, waiting)
    const before = performance.now()
    let left = events
    const writer = async (): Promise<void> => {
      while (left-- > 0) await recorder.record(() => released('none'))
    }
    await Promise.all(Array.from({ length: waiting }, writer))
    const value = (1000 * events) / (performance.now() - before)
    return { metric: `events on disk, ${waiting} waiting`, value, unit: '/s' }
  } finally {
    await recorder.close()
    await rm(folder, { recursive: true, force: true })
  }
}
