import * as assert from 'uvu/assert'
import { openMembership } from '../../node/network/membership.js'
import type { NodeProgress } from '../../node/report/progress.js'
import { openNodeStore } from '../../node/store/store.js'
import { startVolunteer } from '../../node/volunteer/volunteer.js'
import { sha256 } from '../../proto/index.js'
import { type Clock, channelsOf, createBlobStore, requestLeases, systemClock } from '../../swarm/index.js'
import { library } from '../support/library-environment.js'
import { eventually, soon } from '../support/swarm-nodes.js'
import type { TestRun } from '../support/test-run.js'
import { engineSaying, runtime } from './node-at-work.js'
import { runSuite } from './run-suite.js'

const { test, opened } = runSuite('waking')

/** What the coordinator names as the earliest time for another question when there is no work. */
const EARLIEST_MS = 1000
/** By which nobody who waits for work ever asks again by himself: its back-off is longer than that, and never ends. */
const unlessWoken: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms < EARLIEST_MS ? ms : ms === EARLIEST_MS ? 20 : 2 ** 31 - 1, signal),
  timeout: () => new AbortController().signal,
  after: (ms, action) => systemClock.after(ms < EARLIEST_MS ? ms : 2 ** 31 - 1, action),
}

/** A volunteer as `prove-node` starts it, whose policy declines every task. */
async function volunteerOf(run: TestRun): Promise<NodeProgress[]> {
  const { host, key } = await run.swarm.node(9, false, unlessWoken)
  const folder = await run.swarm.folder()
  const understood: NodeProgress[] = []
  const store = await openNodeStore(`${folder}/store`, run.swarm.runId)
  const blobs = await createBlobStore(`${folder}/blobs`)
  const coordinator = { addresses: run.coordinator.node.host.addresses(), peerId: run.swarm.runId }
  const membership = await openMembership({ coordinator, host, store, blobs })
  const volunteer = await startVolunteer({
    host,
    membership,
    key,
    store,
    blobs,
    engine: { ...engineSaying(['No.', 'No.']), usePolicy: async () => undefined },
    tokenizer: runtime.tokenizer,
    baseSha256: sha256(new Uint8Array([1])),
    refit: async () => undefined,
    catalogue: new Map([[library.name, library]]),
    onProgress: (progress) => understood.push(progress),
  })
  opened.push(async () => {
    await volunteer.close()
    await membership.close()
    await store.close()
  })
  return understood
}

test('a waiting node is woken by a new round, a new version and free capacity', async ({ open }) => {
  const run = await open({ batchGroups: 1, maxStaleness: 0 })
  const { coordinator } = run
  const running = coordinator.run({
    start: async () => ({ step: 0 }),
    outcome: (_, signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    close: async () => undefined,
    settle: async () => undefined,
  })
  running.catch(() => undefined)
  const ann = await run.admitted(2)
  const { leases } = await ann.ask()
  assert.is(leases.length, 1, 'all the room there is')
  // The first leases that are given at once, in addition to the room, go to others.
  const held = [{ node: ann, lease: leases[0]! }]
  for (const nr of [3, 4, 5, 6]) {
    const node = await run.admitted(nr)
    for (const lease of (await node.ask()).leases) held.push({ node, lease })
  }
  const understood = await volunteerOf(run)
  const pauses = (): string[] => understood.flatMap((news) => (news.type === 'idle' ? [news.reason] : []))
  await eventually('it is registered', () => pauses().includes('not_registered'))
  const { policy, verdicts } = channelsOf(run.swarm.runId)
  for (const channel of [policy, verdicts])
    await eventually('it listens', () => coordinator.node.host.gossip.listeners(channel).length === 1)
  run.clock.nowMs += 1
  await eventually('it was admitted and asked again', () => pauses().includes('no_work'))
  const asked = pauses().length
  await coordinator.publish()
  await eventually('it asked under the next version', () => pauses().length > asked)
  assert.equal(
    understood.flatMap((news) => (news.type === 'policy' ? [news.version] : [])),
    [0, 1],
  )
  assert.is(understood.filter(({ type }) => type === 'group').length, 0)
  for (const { node, lease } of held) {
    const returned = { kind: 'return', leaseIds: [lease.leaseId], reason: 'shutdown' } as const
    await requestLeases(node.host, run.swarm.runId, returned, soon())
  }
  await eventually('a group', () => understood.some(({ type }) => type === 'group'))
  await eventually('its verdict', () => understood.some(({ type }) => type === 'verdict'))
})

test.run()
