import type { PrivateKey } from '@libp2p/interface'
import type { Outbox } from '../../node/delivery/outbox.js'
import { createNodeEvents } from '../../node/network/events.js'
import { AHEAD_PATIENCE_MS, type LoadedPolicy } from '../../node/policy/policy-keeper.js'
import { workLoop } from '../../node/work/work-loop.js'
import type { WorkLoopParts } from '../../node/work/work-parts.js'
import {
  groupRequest,
  LIMITS,
  openGroupAnnouncement,
  openManifest,
  openVerdictDigest,
  PROTOCOLS,
  peerIdOfKey,
  reply,
  type SealedManifest,
  sealGroupAnnouncement,
  sha256,
  type VerdictDigest,
} from '../../proto/index.js'
import type { Engine } from '../../rollout/engine/index.js'
import { DEFAULT_LIMITS, type EpisodeRuntime } from '../../rollout/episode/index.js'
import type { SeededRandom } from '../../servers/kernel/index.js'
import { createByteStream } from '../../swarm/byte-stream.js'
import {
  channelsOf,
  createShardMember,
  type KnownPeer,
  keepNeighbours,
  offerGroup,
  requestVerdicts,
  type ShardMember,
  type SwarmHost,
  TransportError,
} from '../../swarm/index.js'
import { openSnapshotSource } from '../../swarm/snapshot-source.js'
import { scriptOf, taskOfPrompt, tokenizer } from '../chaos/script-policy.js'
import { createSimHost, type HostDirectory } from '../chaos/sim-host.js'
import type { SimNetwork } from '../chaos/sim-network.js'
import { startProcess } from '../chaos/sim-process.js'
import { scriptedSource } from '../support/scripted.js'
import type { AdapterFlow } from './adapter-flow.js'
import { MEASURED } from './measured.js'
import type { Mesh } from './mesh.js'
import { lognormal, type Person } from './population.js'
import type { NodeBook, SimulatedRunState } from './simulated-run-state.js'

/** Turns of one second, as in `node/delivery/outbox.ts`. */
const TURN_MS = 1000
const FRESH_TURNS = 2
const MOST_TURNS = 8
const REQUEST_MS = 10_000
const PAGE = 64
/** Longer than any lease can be renewed. */
const NEVER_MS = 24 * 3_600_000

export interface VolunteerParts {
  readonly network: SimNetwork
  readonly directory: HostDirectory
  readonly random: SeededRandom
  readonly mesh: Mesh
  readonly flow: AdapterFlow
  readonly records: SimulatedRunState
  readonly runId: string
  readonly runtime: EpisodeRuntime
  /** Manifests that were opened before: all nodes are shown the same. */
  readonly manifests: Map<string, SealedManifest>
  /** Seeds that others have sampled with, by task and slot, for copiers. */
  readonly said: Map<string, number>
  /** Nodes that this one was connected with in an earlier life. */
  readonly known: readonly KnownPeer[]
  /** Holds the adapter in force from the start. */
  readonly holds: number | null
  /** Groups in a row after which a patient one begins to cheat. */
  readonly patience: number
  readonly onError: (error: unknown) => void
}

export interface SimVolunteer {
  readonly book: NodeBook
  /** The owner ends it in order: what is under way is given back. */
  leave(): void
  /** The line is cut. */
  kill(): void
}

/**
 * A volunteer among thousands: the node's own work loop, waiting, renewals and neighbours. Its engine needs time and says what a
 * script says, its adapter comes over the flow, and its outbox keeps groups in memory.
 */
export async function startSimVolunteer(person: Person, key: PrivateKey, parts: VolunteerParts): Promise<SimVolunteer> {
  const { network, directory, random, mesh, flow, records, runId, runtime, onError } = parts
  const { time } = network
  const peerId = peerIdOfKey(key)
  const name = `node-${person.number}`
  const machine = { name, folder: '', clockOffsetMs: 0, diskMs: () => 0, faultAt: () => null }
  const process = startProcess(machine, time)
  const { clock } = process
  const link = network.link('coordinator', name)
  Object.assign(link, { delayMs: person.delayMs, bytesPerSecond: MEASURED.uplinkBps.value / 8 })
  const host = createSimHost({
    ...{ network, directory, process, peerId, runId },
    address: `${person.address}/p2p/${peerId}`,
    isDialable: person.isDialable,
    gossip: mesh.attach,
  })
  const closing = new AbortController()
  const { signal } = closing
  const book = records.enter(person, peerId)
  const unit = (): number => random.int(0, 999_999) / 1e6

  const events = createNodeEvents(clock)
  const shard = createShardMember(host)
  const neighbours = keepNeighbours({
    host,
    shards: () => shard.shards,
    known: parts.known,
    keep: async () => undefined,
    random: unit,
  })
  flow.join({
    id: peerId,
    upBytesPerS: MEASURED.uplinkBps.value / 8,
    downBytesPerS: MEASURED.downlinkBps.value / 8,
    neighbours: () => neighbours.connected(),
  })
  if (parts.holds !== null) flow.hold(peerId, parts.holds)
  host.gossip.join(channelsOf(runId).policy, {
    deliver: (announcement) => {
      // A node that has its neighbours would take note of further ones: for ten thousand, every second, that is all they would do.
      if (host.ends.size <= LIMITS.peersSought.value) neighbours.suggest(announcement.providers, true)
      shard.follow(announcement)
      events.publish({ type: 'announced', announcement })
    },
  })
  // Others' groups are checked by the mesh, once for all.
  shard.join('groups', { deliver: () => undefined })
  const keeper = createKeeper(parts, { host, book, runtime })
  const bodies = new Map<string, Uint8Array>()
  await serveBodies(host, bodies)
  let inARow = parts.patience
  const outbox = createOutbox(parts, { host, shard, key, bodies, signal }, ({ accepted }) => {
    inARow = accepted ? inARow + 1 : 0
    events.publish({ type: 'settled' })
  })

  let leaseId = ''
  const engine: Engine = {
    build: { nodeLlamaCpp: '3.22.1', backend: 'cpu' },
    usePolicy: async () => undefined,
    async openSlots(requests, ending) {
      const isBad = cheats(person, inARow)
      if (isBad) records.poisoned.set(leaseId, person.kind)
      const ms = person.groupS * 1000 * lognormal(random, MEASURED.lengthSpread.value)
      await clock.sleep(person.kind === 'idle' ? NEVER_MS : ms, ending)
      const adapter = keeper.loaded!.manifest.policy.adapter!.sha256
      return requests.map(({ prompt, seeds }, slot) => {
        const task = taskOfPrompt(prompt)
        const place = `${task.id} ${slot} ${adapter}`
        const seed = (isBad && person.kind === 'copies' ? parts.said.get(place) : undefined) ?? seeds[0]!
        if (!isBad) parts.said.set(place, seed)
        return scriptedSource(scriptOf(adapter, task, slot, seed), tokenizer)
      })
    },
    score: async () => [],
    scoreTokens: async () => [],
    close: async () => undefined,
  }
  const connect = async (ending: AbortSignal): Promise<void> => {
    if (!host.isConnected(runId)) await host.dial(`/p2p/${runId}`, ending)
  }
  const work: WorkLoopParts = {
    ...{ host, key, coordinator: runId, engine, keeper, outbox, events, random: unit },
    store: { keepRounds: async () => undefined },
    agent: 'prove-node/0.1.0',
    connection: { connected: connect, problem: null },
    onProviders: (providers) => neighbours.suggest(providers, true),
    onProgress(progress) {
      if (progress.type === 'leased') {
        leaseId = progress.leaseId
        book.firstLeaseMs ??= time.nowMs
        records.turn(book, 'work')
        const group = { node: peerId, kind: person.kind, leaseId, startedMs: time.nowMs }
        records.groups.set(leaseId, { ...group, spentMs: 0, fate: 'begun' })
      }
      if (progress.type === 'group') end('delivered')
    },
  }
  const end = (fate: 'delivered' | 'left'): void => {
    const group = records.groups.get(leaseId)
    if (group?.fate !== 'begun') return
    group.fate = fate
    group.spentMs = time.nowMs - group.startedMs
    records.turn(book, 'wait')
  }
  const over = (): void => {
    end('left')
    records.leave(book)
    flow.leave(peerId)
    shard.close()
    host.gossip.close()
  }
  workLoop(work, signal).catch((error: unknown) => {
    if (process.alive && !signal.aborted) onError(error)
  })

  return {
    book,
    leave() {
      if (!process.alive || signal.aborted) return
      over()
      closing.abort(new TransportError('closed', 'the node is closing'))
      // What was under way is given back over this connection.
      time.after(REQUEST_MS, () => process.kill(), name)
      void neighbours.close()
    },
    kill() {
      if (!process.alive || signal.aborted) return
      over()
      process.kill()
    },
  }
}

/** Whether a key's next group is bad. @param inARow  groups that were accepted since the last refusal */
function cheats({ kind }: Person, inARow: number): boolean {
  if (kind === 'patient') return inARow >= PATIENT_AFTER
  return kind === 'canned' || kind === 'copies' || kind === 'near-ties'
}

/** docs/explain/attackers.md, "Simulated gains of cheating": a key that waits so long gets most past the lottery. */
export const PATIENT_AFTER = 100

/** The newest manifest from the coordinator; its adapter over the flow. */
function createKeeper(
  { flow, records, manifests }: VolunteerParts,
  { host, book, runtime }: { readonly host: SwarmHost; readonly book: NodeBook; readonly runtime: EpisodeRuntime },
): WorkLoopParts['keeper'] {
  let loaded: LoadedPolicy | null = null
  const newest = async (signal: AbortSignal): Promise<SealedManifest> => {
    const source = await openSnapshotSource(host, host.runId, signal)
    const { data } = await source.ask({ kind: 'newest-manifest' }).finally(() => source.close())
    const name = sha256(data)
    const sealed = manifests.get(name) ?? (await openManifest(data, host.runId))
    manifests.set(name, sealed)
    return sealed
  }
  const fetch = async (version: number, signal: AbortSignal, originPatienceMs?: number): Promise<void> => {
    await flow.fetch(host.peerId, version, signal, originPatienceMs)
    records.reached('fetched', book, version)
  }
  return {
    get loaded() {
      return loaded
    },
    async update(signal) {
      const { manifest, manifestId } = await newest(signal)
      if (loaded?.manifestId === manifestId) return loaded
      if (loaded?.manifest.policyId !== manifest.policyId) {
        records.turn(book, 'fetch')
        await fetch(manifest.version, signal).finally(() => records.turn(book, 'wait'))
        records.reached('loaded', book, manifest.version)
      }
      const { maxTurnTokens, maxRolloutTokens, maxAssistantTurns } = manifest.limits
      const limits = { ...DEFAULT_LIMITS, maxTurnTokens, maxRolloutTokens, maxAssistantTurns }
      loaded = { manifestId, manifest, limits, runtime }
      return loaded
    },
    async fetchAhead(signal) {
      const { manifest } = await newest(signal)
      if (loaded?.manifest.policyId !== manifest.policyId) await fetch(manifest.version, signal, AHEAD_PATIENCE_MS)
    },
    fetchRest: async () => undefined,
  }
}

/** Gives bodies to whoever asks for them by hash. Without the books of `serveRequests`, which ten thousand times over fill the memory. */
async function serveBodies(host: SwarmHost, bodies: ReadonlyMap<string, Uint8Array>): Promise<void> {
  const codec = reply('groupBodyBytes')
  await host.handle(PROTOCOLS.group, (stream) => {
    const bytes = createByteStream(stream, host.clock)
    const signal = host.clock.timeout(REQUEST_MS)
    const serve = async (): Promise<void> => {
      const request = groupRequest.parse(await bytes.readFrame(groupRequest.maxBytes, signal))
      const body = request.kind === 'fetch' ? bodies.get(request.bodySha256) : undefined
      const answer = body
        ? ({ ok: true, payload: body } as const)
        : ({ ok: false, code: 'not_found', detail: '' } as const)
      await bytes.writeFrame(codec.encode(answer), signal)
      await bytes.end(signal)
    }
    serve().catch((why: unknown) => bytes.abort(why as Error))
  })
}

/** As `node/delivery/outbox.ts` brings groups to their verdicts, without a disk and without a timer while nothing waits. */
function createOutbox(
  { runId }: VolunteerParts,
  parts: {
    readonly host: SwarmHost
    readonly shard: ShardMember
    readonly key: PrivateKey
    readonly bodies: Map<string, Uint8Array>
    readonly signal: AbortSignal
  },
  onVerdict: (verdict: { readonly accepted: boolean }) => void,
): Outbox {
  const { host, shard, key, bodies, signal } = parts
  const waiting = new Map<string, string>()
  let cursor = 0
  const forget = (leaseId: string): void => {
    bodies.delete(waiting.get(leaseId) ?? '')
    waiting.delete(leaseId)
  }
  const take = ({ peerId, fromCursor, verdicts }: VerdictDigest): number => {
    if (peerId !== host.peerId || fromCursor > cursor) return 0
    const fresh = verdicts.slice(Math.max(0, cursor - fromCursor))
    cursor = Math.max(cursor, fromCursor + verdicts.length)
    for (const verdict of fresh) {
      forget(verdict.leaseId)
      onVerdict(verdict)
    }
    return fresh.length
  }
  shard.join('verdicts', { deliver: (digest) => void take(digest) })
  const timely = (): AbortSignal => AbortSignal.any([signal, host.clock.timeout(REQUEST_MS)])
  const ask = async (): Promise<void> => {
    for (let more = true; more; ) {
      const page = await requestVerdicts(host, runId, { cursor, max: PAGE }, timely())
      const digest = await openVerdictDigest(page.digest, host.runId)
      cursor = Math.max(cursor, digest.fromCursor)
      more = take(digest) > 0 && page.more
    }
  }
  const follow = async (leaseId: string, sealed: Uint8Array): Promise<void> => {
    for (let turns = FRESH_TURNS, offers = 0; ; offers += 1) {
      await host.clock.sleep(turns * TURN_MS, signal)
      if (!waiting.has(leaseId)) return
      turns = Math.min(MOST_TURNS, 2 ** offers)
      try {
        await ask()
        if (!waiting.has(leaseId)) return
        await offerGroup(host, runId, sealed, timely())
      } catch (why) {
        signal.throwIfAborted()
        if (!(why instanceof TransportError)) throw why
        if (why.refusal === 'lease_expired' || why.refusal === 'unknown_lease') forget(leaseId)
      }
    }
  }
  return {
    get waiting() {
      return [...waiting.keys()]
    },
    async add({ leaseId, bodySha256, body, sealed: inline }) {
      // A group of usual length is too large to be gossiped: the coordinator pulls it.
      const { announcement } = await openGroupAnnouncement(inline, runId)
      const sealed = await sealGroupAnnouncement(key, runId, announcement, null)
      waiting.set(leaseId, bodySha256)
      bodies.set(bodySha256, body)
      await shard.publish(sealed)
      follow(leaseId, sealed).catch(() => undefined)
    },
    close: async () => undefined,
  }
}
