import { generateKeyPairFromSeed } from '@libp2p/crypto/keys'
import { writeCheckpoint } from '../../coordinator/ledger/checkpoint-file.js'
import { NO_LEASES } from '../../coordinator/ledger/delivery-record.js'
import { openRecorder } from '../../coordinator/ledger/recorder.js'
import { Reputation } from '../../coordinator/ledger/reputation.js'
import type { RunReducer } from '../../coordinator/ledger/run-reducer.js'
import type { RunState } from '../../coordinator/ledger/run-state.js'
import { openDataFolder } from '../../coordinator/settings/data-folder.js'
import { LIMITS, peerIdOfKey, type SealedManifest } from '../../proto/index.js'
import { seededRandom } from '../../servers/kernel/index.js'
import { addressBlock, type KnownPeer, withoutPeer } from '../../swarm/index.js'
import { type CoordinatorSettings, runCoordinator } from '../chaos/coordinator-program.js'
import { openSimLog } from '../chaos/databases.js'
import { tokenizer } from '../chaos/script-policy.js'
import type { SimProcess } from '../chaos/sim-process.js'
import { createSimulatedRun, type SimulatedRun } from '../chaos/simulated-run.js'
import type { TurnMeter } from '../chaos/virtual-time.js'
import { createVirtualClock } from '../chaos/virtual-time.js'
import { library } from '../support/library-environment.js'
import { smallRun } from '../support/run-config.js'
import { runtimeOf } from '../support/scripted.js'
import { createAdapterFlow } from './adapter-flow.js'
import { startProfiler } from './coordinator-profile.js'
import { cpuMeter } from './cpu-meter.js'
import { MEASURED } from './measured.js'
import { createMesh } from './mesh.js'
import { exponential, type Person, person, presence } from './population.js'
import { type Observed, type Report, reportOf, snapshotOf } from './report.js'
import { createSimAuditor } from './sim-auditor.js'
import { PATIENT_AFTER, startSimVolunteer } from './sim-volunteer.js'
import { openRecords } from './simulated-run-state.js'

export interface SimulationOptions {
  readonly nodes: number
  readonly minutes: number
  readonly seed: number
  /** Of one group. */
  readonly auditMs: number
  /** Whether to take samples of what the coordinator does. */
  readonly profiles?: boolean
  /** Ends it early; the report is of what was simulated by then. */
  readonly signal?: AbortSignal
  /** Called once a simulated minute. */
  readonly onMinute?: (minute: number, versions: number) => void
}

/** Figures are of the time behind this: nodes come one after the other in the first minute, and the first groups end together. */
export const WARM_UP_MINUTES = 5
const ARRIVAL_S = [10, 70] as const
/** So many groups of a known key were accepted before the simulation begins; a patient one has just enough of them to begin. */
const DELIVERED_BEFORE = [PATIENT_AFTER, 2000] as const
/** Nobody is back before what it left is over. */
const BACK_AFTER_MS = 30_000
const COORDINATOR = '/ip4/192.0.2.1/tcp/4001'
/** What is on the disk when a turn ends. A log's write takes as long as a good disk needs to sync it. */
const DISK_MS: ReadonlyMap<string, number> = new Map([['log append', 5]])

/** A run of so many volunteers in virtual time. @returns  what it came to */
export async function simulate(options: SimulationOptions): Promise<Report> {
  const { nodes, minutes, seed } = options
  const meter = cpuMeter('coordinator')
  const profiler = options.profiles ? await startProfiler('coordinator') : null
  const turn: TurnMeter = (owner) => {
    const measured = meter.turn(owner)
    const sampled = profiler?.turn(owner)
    return () => {
      measured()
      sampled?.()
    }
  }
  const simulated = await createSimulatedRun(seed, { meter: turn, canBlock: false })
  try {
    const report = await run(simulated, options, meter, { nodes, endMs: simulated.time.nowMs + minutes * 60_000 })
    return profiler ? { ...report, profile: await profiler.stop() } : report
  } finally {
    meter.close()
    await simulated.close()
  }
}

const keyOf = (seed: number, number: number) => {
  const bytes = new Uint8Array(32)
  new DataView(bytes.buffer).setUint32(0, seed)
  new DataView(bytes.buffer).setUint32(4, number)
  return generateKeyPairFromSeed('Ed25519', bytes)
}

async function run(
  simulated: SimulatedRun,
  { seed, auditMs, signal, onMinute = () => undefined }: SimulationOptions,
  meter: ReturnType<typeof cpuMeter>,
  { nodes, endMs }: { readonly nodes: number; readonly endMs: number },
): Promise<Report> {
  const { time, network, directory } = simulated
  const startMs = time.nowMs
  const random = seededRandom(seed + 1)
  const key = await keyOf(seed, 0)
  const runId = peerIdOfKey(key)
  const closing = new AbortController()
  const records = openRecords(() => time.nowMs)
  const config = smallRun({
    groupSize: LIMITS.minGroupSize.value,
    // In the time of a group come in as many as there are nodes; 2.4 batches of this size, of the 4 that a group may be late.
    batchGroups: Math.max(2, Math.min(4096, Math.round(0.41 * nodes))),
    maxStaleness: 4,
    versions: 1_000_000,
    leases: { durationMs: 180_000, perNode: 2 },
    influence: { perKey: 0.5, perAddressBlock: 0.25 },
    rounds: { registrationMs: 5000 },
  })
  const machine = await simulated.machine('coordinator')
  machine.diskMs = ({ what }) => DISK_MS.get(what) ?? 0
  const wire = { toCoordinator: 0, fromCoordinator: 0, messages: 0, streams: new Map<string, number>() }
  network.carried = (from, to, bytes) => {
    if (to === 'coordinator') wire.toCoordinator += bytes
    else if (from === 'coordinator') wire.fromCoordinator += bytes
    if (bytes > 0 && to === 'coordinator') wire.messages += 1
  }
  network.opened = (from, to, protocol) => {
    if (to === 'coordinator' || from === 'coordinator')
      wire.streams.set(protocol, (wire.streams.get(protocol) ?? 0) + 1)
  }
  const clock = createVirtualClock(
    time,
    () => 0,
    () => true,
    'coordinator',
  )
  const mesh = createMesh({
    ...{ time, random, runId, nodes, clock },
    delayMs: () => random.int(10, 70),
  })
  const flow = createAdapterFlow({
    ...{ time, random },
    blobBytes: MEASURED.adapterBytes.value,
    differenceBytes: MEASURED.adapterBytes.value * MEASURED.differenceShare.value,
    coordinatorBytesPerS: MEASURED.coordinatorBps.value / 8,
  })
  const auditor = createSimAuditor({ clock, poisoned: records.poisoned, auditMs, signal: closing.signal })

  const people: Person[] = Array.from({ length: nodes }, (_, i) => person(random, i + 1, true))
  const keys = await Promise.all(people.map(({ number }) => keyOf(seed, number)))
  const peerIds = keys.map(peerIdOfKey)
  const groupsBefore = people.map(({ kind }) => (kind === 'patient' ? PATIENT_AFTER : random.int(...DELIVERED_BEFORE)))
  const manifests = new Map<string, SealedManifest>()
  const replayMeter = cpuMeter('replay', 1)
  const observed: Observed = {
    ...{ nodes, startMs, endMs, records, mesh, flow, wire, auditor, meter, replayMeter, auditMs, batches: [] },
    verdicts: new Map(),
    refusals: new Map(),
    errors: [],
    shards: () => Math.max(1, ...[...manifests.values()].slice(-1).map(({ manifest }) => manifest.shards)),
    state: null,
  }

  const started = Promise.withResolvers<void>()
  const coordinate = (process: SimProcess, onStarted: CoordinatorSettings['onStarted']): void => {
    const coordinating = runCoordinator(simulated, process, {
      ...{ config, key, peerId: runId, auditor, onStarted },
      ...{ adapterBytes: 4096, stepMs: MEASURED.stepS.value * 1000, driftsAt: null },
      onRefusal: ({ code }) => void observed.refusals.set(code, (observed.refusals.get(code) ?? 0) + 1),
      placed: { address: `${COORDINATOR}/p2p/${runId}`, isDialable: true, gossip: mesh.attach },
      checkpointEvents: 10_000,
      replaysOf: ({ atOnce, judge }) => ({
        atOnce,
        async judge(request, ending) {
          const end = replayMeter.turn('replay')
          return judge(request, ending).finally(end)
        },
      }),
    })
    coordinating.catch((error: unknown) => {
      if (process.alive) observed.errors.push({ node: 0, error })
    })
  }
  /** The run begins: its first version is there when this resolves, and its coordinator has ended. */
  const begin = async (): Promise<void> => {
    const process = await simulated.start(machine)
    const published = Promise.withResolvers<void>()
    coordinate(process, ({ recorder }) =>
      recorder.listen(({ type }) => {
        if (type === 'published') published.resolve()
      }),
    )
    await published.promise
    process.kill()
  }
  /** Its coordinator finds at its next start that it has gone on for days: its keys are known. */
  const age = async (process: SimProcess): Promise<void> => {
    const folder = await openDataFolder(machine.folder)
    const log = await openSimLog(simulated, process, folder.log)
    const recorder = await openRecorder(log, () => undefined)
    const { snapshot } = recorder.state as RunReducer
    const known = people.flatMap((one, i) =>
      one.isKnown ? [{ one, node: peerIds[i]!, before: groupsBefore[i]! }] : [],
    )
    const record = ({ one, node, before }: (typeof known)[number]) => ({
      ...{ node, verdicts: [], verdictCount: 0, credit: before, lastLease: 'delivered' as const, abandoned: 0 },
      reputation: { ...new Reputation().snapshot, streak: before },
      addressBlock: addressBlock(one.address),
      deliveryRate: null,
      record: NO_LEASES,
    })
    await writeCheckpoint(folder.checkpoint, {
      at: log.end,
      snapshot: {
        ...snapshot,
        registered: peerIds.map((node) => [node, 0]),
        nodes: known.map(record),
        reliable: known.map(({ node }) => node),
        // The next round is there to admit them all.
        rest: snapshot.rest.map((rest) => ({ ...rest, keysWaiting: 1 })),
      },
    })
    await recorder.close()
  }

  const dialable: KnownPeer[] = people.flatMap(({ isDialable, address }, i) =>
    isDialable ? [{ peerId: peerIds[i]!, addresses: [withoutPeer(address)], reachedAtMs: time.nowMs }] : [],
  )
  const someKnown = (): KnownPeer[] =>
    dialable.length === 0 ? [] : Array.from({ length: LIMITS.peersSought.value }, () => random.pick(dialable))
  const runtime = runtimeOf([library], tokenizer)
  const said = new Map<string, number>()
  const present = new Set<number>()
  const enter = async (one: Person, holds: number | null): Promise<void> => {
    const ownKey = keys[one.number - 1] ?? (await keyOf(seed, one.number))
    const volunteer = await startSimVolunteer(one, ownKey, {
      ...{ network, directory, random, mesh, flow, records, runId, runtime, manifests, said, holds },
      known: one.isKnown ? someKnown() : [],
      patience: groupsBefore[one.number - 1] ?? 0,
      onError: (error) => observed.errors.push({ node: one.number, error }),
    })
    present.add(one.number)
    const stayMs = exponential(random, MEASURED.onlineS.value) * 1000
    time.after(stayMs, () => {
      if (random.chance(MEASURED.abrupt.value)) volunteer.kill()
      else volunteer.leave()
      time.after(BACK_AFTER_MS, () => present.delete(one.number))
    })
  }
  let numbers = nodes
  /** As many come as leave, more in the evenings of where people live. */
  const arrive = (): void => {
    const pause = exponential(random, MEASURED.onlineS.value / nodes / presence((time.nowMs / 1000) % 86_400))
    time.after(pause * 1000, () => {
      if (closing.signal.aborted) return
      numbers += 1
      // Who comes back under its old key is like who was there from the start, but has to be admitted.
      const isNew = random.chance(MEASURED.newcomers.value)
      const gone = isNew ? [] : records.nodes.filter(({ person: { number } }) => !present.has(number))
      void enter(gone.length > 0 ? random.pick(gone).person : person(random, numbers, false), null)
      arrive()
    })
  }

  const live = async (): Promise<void> => {
    await begin()
    const process = await simulated.start(machine)
    await age(process)
    coordinate(process, ({ recorder, state }) => {
      observed.state = state
      recorder.listen((event) => {
        if (event.type === 'published') records.published(event.version)
        if (event.type === 'judged' || event.type === 'audited') observed.verdicts.set(event.leaseId, event)
        if (event.type === 'batched') observed.batches.push(batchOf(state, event.leaseIds, time.nowMs))
      })
      started.resolve()
    })
    await started.promise
    for (const one of people) time.after(random.int(ARRIVAL_S[0] * 1000, ARRIVAL_S[1] * 1000), () => void enter(one, 0))
    arrive()
  }
  live().catch((error: unknown) => observed.errors.push({ node: 0, error }))
  for (let minute = 1; startMs + minute * 60_000 <= endMs; minute++)
    time.after(minute * 60_000, () => {
      if (minute === WARM_UP_MINUTES) observed.atWarm = snapshotOf(observed, time.nowMs)
      onMinute(minute, observed.state?.current?.version ?? 0)
    })
  let isOver = false
  time.after(endMs - startMs, () => {
    isOver = true
  })
  await time.drive(() => isOver || signal?.aborted === true || observed.errors.length > 0, endMs - startMs + 1)
  const report = reportOf({ ...observed, endMs: time.nowMs })
  closing.abort(new Error('the simulation is over'))
  flow.close()
  replayMeter.close()
  return report
}

/** What a batch holds: how many versions each group is late, and which groups it has. */
const batchOf = (state: RunState, leaseIds: readonly string[], atMs: number): Observed['batches'][number] => ({
  atMs,
  leaseIds,
  late: leaseIds.map((leaseId) => state.current!.version - state.leases.get(leaseId)!.version),
})
