import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { systemClock } from '../../swarm/index.js'
import { createTestRun } from '../support/test-run.js'
import type { Order, Report } from './messages.js'

/**
 * The coordinator's parts in a separate process, so that its memory contains nothing else. Trains nothing, but forms batches and
 * publishes versions as a run does, so that groups become stale.
 */
const BATCH_GROUPS = 64
/** Short, so that leases of dishonest nodes do not use up the limit of open leases. */
const STALENESS = 4
const TICK_MS = 250
/** Interval at which a round opens for registered keys. */
const ROUND_TICKS = 20

const run = await createTestRun(
  {
    batchGroups: BATCH_GROUPS,
    maxStaleness: STALENESS,
    leases: { durationMs: 60_000, perNode: 8 },
    versions: 1_000_000,
  },
  // Half-open streams have to time out as in a run.
  systemClock,
)
setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')
let records = 1
let stopping = false

/** Drops the events and rejections that the test harness keeps, which are no part of the coordinator. */
const forget = (): void => {
  records += run.events.splice(0).length
  run.coordinator.node.refusals.splice(0)
}

const report = (message: Report): void => void process.send!(message)

const tellWhatIsInForce = (): void => {
  const { node, recorder } = run.coordinator
  report({
    type: 'in-force',
    address: node.host.addresses()[0]!,
    runId: node.host.runId,
    policyId: recorder.state.current!.policyId,
  })
}

const sample = (): void => {
  forget()
  collect()
  collect()
  const { heapUsed, rss } = process.memoryUsage()
  const connections = run.coordinator.node.host.connections()
  report({
    type: 'sample',
    heapBytes: heapUsed,
    rssBytes: rss,
    handles: process.getActiveResourcesInfo().length,
    connections: connections.length,
    streams: connections.reduce((sum, { streams }) => sum + streams, 0),
    records,
  })
}

/** Does the work of a coordinator that its parts do not do by themselves. */
async function keepRunning(): Promise<void> {
  const sent = new Map<string, number>()
  for (let turn = 0; !stopping; turn++) {
    run.clock.nowMs = Date.now()
    const { recorder, leases, services, publisher } = run.coordinator
    await leases.releaseLapsed()
    if (turn % ROUND_TICKS === 0) await publisher.openRound()
    for (const [node, { verdictCount }] of recorder.state.nodes) {
      const from = sent.get(node) ?? 0
      const count = Math.min(verdictCount - from, 64)
      sent.set(node, from + count)
      if (count > 0) await services.sendVerdicts(node, from, count)
    }
    const chosen = recorder.state.trainable(STALENESS).slice(0, BATCH_GROUPS)
    if (chosen.length === BATCH_GROUPS) {
      const step = recorder.state.current!.version + 1
      const batchId = `step-${step}`
      const leaseIds = chosen.map(({ leaseId }) => leaseId)
      await recorder.record(() => ({ type: 'batched', atMs: Date.now(), batchId, step, leaseIds }))
      await run.coordinator.publish()
      await recorder.record(() => ({ type: 'trained', atMs: Date.now(), batchId, step, skipped: false }))
      tellWhatIsInForce()
    }
    forget()
    await sleep(TICK_MS)
  }
}

let work = keepRunning()
process.on('message', (order: Order) => {
  void (async () => {
    if (order === 'sample') return sample()
    stopping = true
    await work
    if (order === 'stop') {
      await run.close()
      process.disconnect()
      return
    }
    await run.restart()
    stopping = false
    work = keepRunning()
    tellWhatIsInForce()
  })()
})
tellWhatIsInForce()
