import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { RunEvent } from '../../../coordinator/ledger/events.js'
import { openRecorder } from '../../../coordinator/ledger/recorder.js'
import { createHistoryService } from '../../../coordinator/service/history-service.js'
import { type HistoryAlarm, openHeadKeeper } from '../../../node/history/head-keeper.js'
import { headOfManifest } from '../../../node/history/signed-head.js'
import { checkHistory } from '../../../node/history/watch-history.js'
import { sealVerdictDigest } from '../../../proto/index.js'
import { createBlobStore, createHost, createSnapshotExchange, readKey, serveVerdicts } from '../../../swarm/index.js'
import { memoryLog } from '../../support/memory-log.js'
import { patientClock } from '../../support/swarm-nodes.js'
import type { Attack } from '../attack.js'
import { dialPatiently } from '../participant.js'

/** The operator itself: it has all keys, and its new log has a whole chain. */
export const rewrittenLog: Attack = {
  name: 'rewritten-log',
  about: 'operates the run, and restarts with a log that halves every credit',
  provable: true,
  places: ['volunteer'],
  async attempt(arena, i, signal) {
    const { run, policies } = arena
    const { runId } = run
    const folder = join(run.machine.folder, `rewritten-${i}`)
    await mkdir(folder, { recursive: true })
    const cleanUps: (() => Promise<unknown>)[] = []
    const alarms: HistoryAlarm[] = []
    const onAlarm = (alarm: HistoryAlarm): void => void alarms.push(alarm)
    const started = process.cpuUsage()
    try {
      const keeper = await openHeadKeeper({ folder, run: runId, onAlarm })
      /** A volunteer without verdicts, which has only seen a manifest. */
      const check = async (address: string): Promise<void> => {
        const host = await createHost({ privateKey: await arena.newKey(), runId, clock: patientClock })
        cleanUps.push(() => host.close())
        await dialPatiently(host, address)
        const snapshots = await createSnapshotExchange(host, { store: await createBlobStore(join(folder, 'blobs')) })
        cleanUps.push(() => snapshots.close())
        const store = { verdicts: async () => [], verdictCount: async () => 0 }
        const parts = { host, store, snapshots, keeper, onAlarm, neighbours: () => [], random: () => 0 }
        await checkHistory(parts, signal)
      }
      await keeper.note(headOfManifest((await policies.newest(signal)).sealed))
      await check(run.address)
      const before = alarms.length
      const address = await serveRewritten(arena, cleanUps)
      await check(address)
      const { user, system } = process.cpuUsage(started)
      const caught = before === 0 && alarms.some(({ proof }) => proof !== null)
      return {
        caught,
        place: caught ? 'volunteer' : null,
        code: null,
        costMs: (user + system) / 1000,
        detail: before > 0 ? `an alarm about the honest log: ${alarms[0]!.text}` : (alarms[0]?.text ?? 'no alarm'),
      }
    } finally {
      for (const cleanUp of cleanUps.reverse()) await cleanUp()
    }
  },
}

/** Serves another history under the run's key. @returns  its address */
async function serveRewritten(
  { run }: Parameters<Attack['attempt']>[0],
  cleanUps: (() => Promise<unknown>)[],
): Promise<string> {
  const events = run.coordinator.lines.flatMap(({ type, event }) => {
    if (type !== 'event') return []
    const one = event as RunEvent
    return [one.type === 'judged' ? { ...one, credit: one.credit / 2 } : one]
  })
  const recorder = await openRecorder(memoryLog(events), () => undefined)
  const { privateKey: key } = (await readKey(run.dataDir))!
  const host = await createHost({ privateKey: key, runId: run.runId, listen: ['/ip4/127.0.0.1/tcp/0'] })
  cleanUps.push(() => host.close())
  const history = createHistoryService({ recorder, key, runId: run.runId, credit: 0, clock: host.clock })
  await serveVerdicts(host, async (request, { peer }) => ({
    digest: await sealVerdictDigest(key, run.runId, {
      ...{ peerId: peer, fromCursor: 0, verdicts: [], totalCredit: 0 },
      issuedAtMs: host.clock.now(),
    }),
    more: false,
    ...(await history.answer(request, peer)),
  }))
  return host.addresses()[0]!
}
