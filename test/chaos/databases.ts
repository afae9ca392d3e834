import { openChainedLog, type RecordStore } from '../../coordinator/ledger/chained-log.js'
import { type ChainedLog, openEventLog, openRecordStore } from '../../coordinator/ledger/event-log.js'
import type { RunEvent } from '../../coordinator/ledger/events.js'
import { headFileOf, openHeadFile } from '../../coordinator/ledger/log-head.js'
import { type NodeStore, openNodeStore } from '../../node/store/store.js'
import type { SimProcess } from './sim-process.js'
import type { SimulatedRun } from './simulated-run.js'

/** The event log of a simulated coordinator: a real database and a real head, each of whose operations may be the process's last. */
export async function openSimLog(simulated: SimulatedRun, process: SimProcess, folder: string): Promise<ChainedLog> {
  const { underway } = simulated
  const store = await simulated.database(process, folder, () => openRecordStore(folder))
  const onDisk: RecordStore = {
    count: () => process.disk('log read', false, () => underway.count(store.count())),
    append: (first, records) => process.disk('log append', true, () => underway.count(store.append(first, records))),
    async *records(from, until) {
      yield* await process.disk('log read', false, () => underway.count(readAll(store.records(from, until))))
    },
    close: () => process.disk('log close', false, () => underway.count(store.close())),
  }
  return openChainedLog(onDisk, await openHeadFile(headFileOf(folder)), folder)
}

async function readAll<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

/** All events of a log that nobody has open. */
export async function readLog(simulated: SimulatedRun, folder: string): Promise<RunEvent[]> {
  const { underway } = simulated
  const log = await underway.count(openEventLog(folder))
  const events = await underway.count(readAll(log.replay()))
  await underway.count(log.close())
  return events
}

/** The store of a simulated volunteer, likewise. */
export async function openSimStore(
  simulated: SimulatedRun,
  process: SimProcess,
  folder: string,
  runId: string,
): Promise<NodeStore> {
  const { underway } = simulated
  const store = await simulated.database(process, folder, () => openNodeStore(folder, runId))
  const operation = <A extends unknown[], T>(writes: boolean, what: string, run: (...args: A) => Promise<T>) => {
    return (...args: A): Promise<T> => process.disk(what, writes, () => underway.count(run(...args)))
  }
  return {
    pending: operation(false, 'store read', () => store.pending()),
    addPending: operation(true, 'store write', (group) => store.addPending(group)),
    removePending: operation(true, 'store write', (leaseId) => store.removePending(leaseId)),
    body: operation(false, 'store read', (hash) => store.body(hash)),
    verdictCount: operation(false, 'store read', () => store.verdictCount()),
    addVerdicts: operation(true, 'store write', (from, verdicts) => store.addVerdicts(from, verdicts)),
    verdicts: operation(false, 'store read', () => store.verdicts()),
    missingVerdicts: operation(false, 'store read', (isReported) => store.missingVerdicts(isReported)),
    verdictOn: operation(false, 'store read', (leaseId) => store.verdictOn(leaseId)),
    keptGroup: operation(false, 'store read', () => store.keptGroup()),
    keepRounds: operation(true, 'store write', (rounds) => store.keepRounds(rounds)),
    rounds: operation(false, 'store read', () => store.rounds()),
    keepPeers: operation(true, 'store write', (peers) => store.keepPeers(peers)),
    peers: operation(false, 'store read', () => store.peers()),
    keepNotice: operation(true, 'store write', (sealed) => store.keepNotice(sealed)),
    notice: operation(false, 'store read', () => store.notice()),
    close: operation(false, 'store close', () => store.close()),
  }
}
