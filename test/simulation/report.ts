import type { RunState } from '../../coordinator/ledger/run-state.js'
import { type AdapterFlow, REASONS, type Reason } from './adapter-flow.js'
import type { CoordinatorProfile } from './coordinator-profile.js'
import type { CpuMeter } from './cpu-meter.js'
import { MEASURED } from './measured.js'
import type { Mesh, TopicCount } from './mesh.js'
import type { GroupBook, NodeBook, Reach, SimulatedRunState } from './simulated-run-state.js'

export interface Batch {
  readonly atMs: number
  readonly leaseIds: readonly string[]
  /** Versions that each group came after its own. */
  readonly late: readonly number[]
}

/** Counters that only grow, at one moment. */
interface Snapshot {
  readonly atMs: number
  readonly cpuUs: number
  readonly replayUs: number
  readonly streams: ReadonlyMap<string, number>
  readonly toCoordinator: number
  readonly fromCoordinator: number
  readonly messages: number
  readonly gossip: ReadonlyMap<string, Readonly<TopicCount>>
  readonly adapters: { readonly fromCoordinator: Readonly<Record<Reason, number>>; readonly fromPeers: number }
  readonly auditBusyMs: number
  readonly spentMs: NodeBook['spentMs']
}

/** What was seen of a simulation. */
export interface Observed {
  readonly nodes: number
  readonly startMs: number
  readonly endMs: number
  readonly auditMs: number
  readonly records: SimulatedRunState
  readonly mesh: Mesh
  readonly flow: AdapterFlow
  readonly wire: {
    readonly toCoordinator: number
    readonly fromCoordinator: number
    readonly messages: number
    /** Streams that were opened with the coordinator, by protocol. */
    readonly streams: ReadonlyMap<string, number>
  }
  readonly auditor: { readonly busyMs: number }
  readonly meter: CpuMeter
  /** Replays of the coordinator. */
  readonly replayMeter: CpuMeter
  readonly batches: Batch[]
  /** The last on each lease. */
  readonly verdicts: Map<string, { readonly accepted: boolean; readonly code: string | null }>
  readonly refusals: Map<string, number>
  readonly errors: { readonly node: number; readonly error: unknown }[]
  /** Number of gossip shards in the newest manifest. */
  shards: () => number
  state: RunState | null
  atWarm?: Snapshot
}

export function snapshotOf(
  { records, meter, replayMeter, wire, mesh, flow, auditor }: Observed,
  atMs: number,
): Snapshot {
  const spentMs = { fetch: 0, wait: 0, work: 0 }
  for (const node of records.nodes) {
    for (const doing of ['fetch', 'wait', 'work'] as const) spentMs[doing] += node.spentMs[doing]
    if (node.untilMs === null) spentMs[node.doing] += atMs - node.doingSinceMs
  }
  return {
    ...{
      atMs,
      cpuUs: meter.spentUs,
      replayUs: replayMeter.spentUs,
      ...wire,
      streams: new Map(wire.streams),
      spentMs,
      auditBusyMs: auditor.busyMs,
    },
    gossip: new Map([...mesh.counts].map(([topic, counts]) => [topic, { ...counts }])),
    adapters: { ...flow.counts, fromCoordinator: { ...flow.counts.fromCoordinator } },
  }
}

interface Quantiles {
  readonly p50: number | null
  readonly p95: number | null
  readonly p99: number | null
}

/** Shares are of 1; times in seconds; null: there is nothing to tell it by. */
export interface Report {
  readonly nodes: number
  readonly simulatedMinutes: number
  readonly versions: number
  readonly coordinator: {
    /** Of one core, measured: its own code as it ran here. Differs from run to run. */
    readonly cpuMeasured: number
    /** Of this, the replays. Groups are short here. */
    readonly cpuOfReplays: number
    /** The same with replays of groups of usual length instead. */
    readonly cpuWithReplay: number
    /** Streams that are opened in a second, by either side, by protocol. */
    readonly streamsPerS: Readonly<Record<string, number>>
    readonly messagesPerS: number
    readonly sentBytesPerS: number
    readonly receivedBytesPerS: number
    /** Share of the time in which the audit process was busy. */
    readonly audits: number
    /** Entries of the state, as a checkpoint has them. */
    readonly stateEntries: number
  }
  /** Gossip of a node, each way: the mean over nodes, with gossipsub's frames. */
  readonly gossipPerNode: { readonly messagesPerS: number; readonly bytesPerS: number }
  /** Share of the nodes' time in which they wait for an adapter, 0 .. 1. */
  readonly fetchShare: number
  /** Gossip shards at the end. */
  readonly shards: number
  readonly node: {
    /** Announcements that volunteers did not pass on. */
    readonly announcementsHeld: number
    readonly adapterBytesPerS: number
  }
  readonly propagation: {
    readonly versions: number
    /** Until the adapter is there. */
    readonly fetched: Quantiles
    /** Until it is worked under: groups under way are ended first. */
    readonly loaded: Quantiles
    readonly shareFromCoordinator: number | null
    /** The same, by why it was asked. */
    readonly sharesByReason: Readonly<Record<Reason, number>>
  }
  readonly staleness: { readonly mean: number | null; readonly most: number | null }
  readonly time: { readonly work: number; readonly wait: number; readonly fetch: number }
  readonly groups: {
    readonly delivered: number
    readonly left: number
    readonly trained: number
    readonly waste: number | null
    readonly refused: Readonly<Record<string, number>>
  }
  readonly poisoned: {
    readonly delivered: number
    readonly trained: number
    readonly trainedByKind: Readonly<Record<string, number>>
    readonly keysQuarantined: number
  }
  readonly newcomers: {
    readonly came: number
    readonly firstLeaseP50: number | null
    readonly firstLeaseP95: number | null
    readonly without: number
  }
  readonly turnedAway: Readonly<Record<string, number>>
  readonly invariants: readonly string[]
  readonly error: string | null
  /** What the coordinator did, if samples were taken. */
  readonly profile?: CoordinatorProfile
}

const SETTLED_MS = 120_000
/** So long after its publication a version counts for propagation, whether it has reached everybody or not. */
const SPREAD_MS = 360_000
/** A node that has been there for so long, in vain, is one that the run has no work for. */
const PATIENCE_MS = 300_000

/** Nearest rank; null for none. */
function percentile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null
}
const rounded = (value: number, digits = 4): number => Number(value.toFixed(digits))
const orNull = (value: number | null): number | null =>
  value === null || !Number.isFinite(value) ? null : rounded(value, 1)
const sumOf = (values: Iterable<number>): number => [...values].reduce((sum, value) => sum + value, 0)
const countBy = <T>(items: Iterable<T>, name: (item: T) => string): Record<string, number> => {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(name(item), (counts.get(name(item)) ?? 0) + 1)
  return Object.fromEntries([...counts].sort())
}

export function reportOf(observed: Observed): Report {
  const { nodes, startMs, endMs, records, mesh, batches, state, refusals, errors } = observed
  const now = snapshotOf(observed, endMs)
  const from = observed.atWarm ?? { ...now, ...EMPTY, atMs: startMs }
  const seconds = Math.max(1, (now.atMs - from.atMs) / 1000)
  const per = (count: number): number => count / seconds
  const gossiped = (what: keyof TopicCount): number =>
    sumOf([...now.gossip].map(([topic, counts]) => counts[what] - (from.gossip.get(topic)?.[what] ?? 0)))
  const trained = new Set(batches.flatMap(({ leaseIds }) => leaseIds))
  const trainedGroups = [...trained].flatMap((leaseId) => records.groups.get(leaseId) ?? [])
  const late = batches.filter(({ atMs }) => atMs >= from.atMs).flatMap((batch) => batch.late)
  const byReason = REASONS.map(
    (reason) => [reason, now.adapters.fromCoordinator[reason] - from.adapters.fromCoordinator[reason]] as const,
  )
  const adapters = {
    fromCoordinator: sumOf(byReason.map(([, bytes]) => bytes)),
    fromPeers: now.adapters.fromPeers - from.adapters.fromPeers,
  }
  const moved = adapters.fromCoordinator + adapters.fromPeers
  const measured = (now.cpuUs - from.cpuUs) / 1e6 / seconds
  const replays = (now.replayUs - from.replayUs) / 1e6 / seconds
  const judgedSince = [...records.groups.values()].filter(
    ({ leaseId, startedMs }) => observed.verdicts.has(leaseId) && startedMs >= from.atMs,
  ).length
  const nodeSeconds = { ...now.spentMs }
  for (const doing of ['fetch', 'wait', 'work'] as const) nodeSeconds[doing] -= from.spentMs[doing]
  const allSeconds = Math.max(1, nodeSeconds.fetch + nodeSeconds.wait + nodeSeconds.work)
  const groups = groupFigures(observed, from.atMs, trained)
  const poisonedTrained = trainedGroups.filter(({ leaseId }) => isTrained(observed, leaseId))
  return {
    nodes,
    simulatedMinutes: rounded((endMs - startMs) / 60_000, 1),
    versions: state?.current?.version ?? 0,
    coordinator: {
      cpuMeasured: rounded(measured, 6),
      cpuOfReplays: rounded(replays, 6),
      cpuWithReplay: rounded(measured - replays + per(judgedSince) * (MEASURED.replayMs.value / 1000), 6),
      streamsPerS: Object.fromEntries(
        [...now.streams].map(([protocol, count]) => [
          protocol,
          rounded(per(count - (from.streams.get(protocol) ?? 0)), 1),
        ]),
      ),
      messagesPerS: rounded(per(now.messages - from.messages), 1),
      sentBytesPerS: Math.round(per(now.fromCoordinator - from.fromCoordinator + adapters.fromCoordinator)),
      receivedBytesPerS: Math.round(
        per(now.toCoordinator - from.toCoordinator + judgedSince * MEASURED.bodyBytes.value),
      ),
      audits: rounded(per(now.auditBusyMs - from.auditBusyMs) / 1000),
      stateEntries: state ? state.leases.size + state.judged.size + state.nodes.size : 0,
    },
    gossipPerNode: {
      messagesPerS: rounded(per(gossiped('heard')) * mesh.copies, 1),
      bytesPerS: Math.round(per(gossiped('heardBytes')) * mesh.copies),
    },
    fetchShare: rounded(nodeSeconds.fetch / allSeconds),
    shards: observed.shards(),
    node: {
      announcementsHeld: gossiped('held'),
      adapterBytesPerS: Math.round(per(adapters.fromPeers) / nodes),
    },
    propagation: {
      ...propagationOf(observed, from.atMs),
      shareFromCoordinator: moved > 0 ? rounded(adapters.fromCoordinator / moved) : null,
      sharesByReason: Object.fromEntries(
        byReason.map(([reason, bytes]) => [reason, moved > 0 ? rounded(bytes / moved) : 0]),
      ) as Record<Reason, number>,
    },
    staleness: {
      mean: late.length > 0 ? rounded(sumOf(late) / late.length, 2) : null,
      most: late.length > 0 ? Math.max(...late) : null,
    },
    time: {
      work: rounded(nodeSeconds.work / allSeconds),
      wait: rounded(nodeSeconds.wait / allSeconds),
      fetch: rounded(nodeSeconds.fetch / allSeconds),
    },
    groups: { ...groups, trained: trained.size },
    poisoned: {
      delivered: [...records.poisoned.keys()].filter((leaseId) => records.groups.get(leaseId)?.fate === 'delivered')
        .length,
      trained: poisonedTrained.filter(({ leaseId }) => records.poisoned.has(leaseId)).length,
      trainedByKind: countBy(
        poisonedTrained.filter(({ leaseId }) => records.poisoned.has(leaseId)),
        ({ kind }) => kind,
      ),
      keysQuarantined: [...(state?.nodes.values() ?? [])].filter(({ reputation }) => reputation.isQuarantined(endMs))
        .length,
    },
    newcomers: newcomersOf(observed, from.atMs),
    turnedAway: Object.fromEntries([...refusals].sort()),
    invariants: broken(observed),
    error: errors.length > 0 ? `node ${errors[0]!.node}: ${String((errors[0]!.error as Error)?.stack)}` : null,
  }
}

const EMPTY = {
  ...{
    cpuUs: 0,
    replayUs: 0,
    streams: new Map<string, number>(),
    toCoordinator: 0,
    fromCoordinator: 0,
    messages: 0,
    auditBusyMs: 0,
    gossip: new Map(),
  },
  ...{
    adapters: { fromCoordinator: { alone: 0, promised: 0, lacking: 0, slow: 0 }, fromPeers: 0 },
    spentMs: { fetch: 0, wait: 0, work: 0 },
  },
}

/** A batch has it, and its audit before the update did not take it out. */
const isTrained = ({ verdicts }: Observed, leaseId: string): boolean => verdicts.get(leaseId)?.accepted ?? false

/** Of honest nodes: what became of the time that they spent on groups. */
function groupFigures(
  { records, verdicts, state, endMs }: Observed,
  fromMs: number,
  trained: ReadonlySet<string>,
): Omit<Report['groups'], 'trained'> {
  const counted = [...records.groups.values()].filter(
    (group) => group.startedMs >= fromMs && group.fate !== 'begun' && group.kind === 'honest',
  )
  const maxStaleness = state?.configuration?.maxStaleness ?? 0
  const isOfUse = (group: GroupBook): boolean => {
    if (group.fate === 'left') return false
    if (trained.has(group.leaseId)) return isTrained({ verdicts } as Observed, group.leaseId)
    const verdict = verdicts.get(group.leaseId)
    if (!verdict) return endMs - group.startedMs - group.spentMs < SETTLED_MS
    const lease = state?.leases.get(group.leaseId)
    return verdict.accepted && !!lease && state!.current!.version - lease.version <= maxStaleness
  }
  const all = sumOf(counted.map(({ spentMs }) => spentMs))
  const refusedOnes = counted.flatMap(({ leaseId }) => verdicts.get(leaseId)?.code ?? [])
  return {
    delivered: counted.filter(({ fate }) => fate === 'delivered').length,
    left: counted.filter(({ fate }) => fate === 'left').length,
    waste: all > 0 ? rounded(1 - sumOf(counted.filter(isOfUse).map(({ spentMs }) => spentMs)) / all) : null,
    refused: countBy(refusedOnes, (code) => code),
  }
}

function propagationOf(
  { records, endMs }: Observed,
  fromMs: number,
): Omit<Report['propagation'], 'shareFromCoordinator' | 'sharesByReason'> {
  const isOld = (atMs: number): boolean => atMs >= fromMs && endMs - atMs >= SPREAD_MS
  const quantiles = (reach: Reach): Quantiles => {
    const delaysS = [...reach.values()]
      .filter(({ atMs }) => isOld(atMs))
      .flatMap(({ delaysMs, awaited }) => [
        ...delaysMs.map((ms) => ms / 1000),
        ...[...awaited].map(() => Number.POSITIVE_INFINITY),
      ])
    const at = (share: number): number | null => orNull(percentile(delaysS, share))
    return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
  }
  const versions = [...records.fetched.values()].filter(({ atMs }) => isOld(atMs)).length
  return { versions, fetched: quantiles(records.fetched), loaded: quantiles(records.loaded) }
}

function newcomersOf({ records, startMs, endMs }: Observed, fromMs: number): Report['newcomers'] {
  const came = records.nodes.filter(
    ({ person, sinceMs }) =>
      !person.isKnown && person.kind === 'honest' && sinceMs >= Math.max(fromMs, startMs + 60_000),
  )
  const waits = came.flatMap(({ firstLeaseMs, sinceMs }) =>
    firstLeaseMs === null ? [] : (firstLeaseMs - sinceMs) / 1000,
  )
  return {
    came: came.length,
    firstLeaseP50: orNull(percentile(waits, 0.5)),
    firstLeaseP95: orNull(percentile(waits, 0.95)),
    without: came.filter(
      ({ firstLeaseMs, sinceMs, untilMs }) => firstLeaseMs === null && (untilMs ?? endMs) - sinceMs >= PATIENCE_MS,
    ).length,
  }
}

/** What must hold in every run, whatever the figures are. */
function broken({ records, batches, nodes, mesh, startMs, endMs }: Observed): string[] {
  const found: string[] = []
  const trained = new Set<string>()
  for (const leaseId of batches.flatMap(({ leaseIds }) => leaseIds)) {
    if (trained.has(leaseId)) found.push(`the group of lease ${leaseId} is in two batches`)
    if (records.groups.get(leaseId)?.fate !== 'delivered') found.push(`nobody has delivered the group of ${leaseId}`)
    trained.add(leaseId)
  }
  for (const { person, firstLeaseMs, sinceMs, untilMs } of records.nodes)
    if (person.kind === 'honest' && firstLeaseMs === null && (untilMs ?? endMs) - sinceMs >= PATIENCE_MS)
      found.push(`node ${person.number} got no work`)
  const announced = sumOf(
    [...mesh.counts].flatMap(([topic, { messages }]) => (topic.includes('/groups/') ? [messages] : [])),
  )
  const perS = announced / ((endMs - startMs) / 1000)
  if (perS > (2 * nodes) / MEASURED.groupS.value) found.push(`${perS} announcements a second`)
  return found.slice(0, 20)
}
