import '../../../swarm/polyfill.js'
import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { conversationOf } from '../../../coordinator/dashboard/conversation.js'
import { DASHBOARD_LIMITS } from '../../../coordinator/dashboard/limits.js'
import { followRevisions } from '../../../coordinator/dashboard/live-updates.js'
import type { RunEvent } from '../../../coordinator/ledger/events.js'
import { openRecorder } from '../../../coordinator/ledger/recorder.js'
import { GroupsTally } from '../../../coordinator/report/group-report.js'
import { followRun, LiveReport } from '../../../coordinator/report/live-report.js'
import { NodesTally } from '../../../coordinator/report/node-report.js'
import { RunTally } from '../../../coordinator/report/run-report.js'
import { memoryLog } from '../../support/memory-log.js'
import { patience } from '../../support/patience.js'
import { randomLogs } from '../../support/random-logs.js'
import { agreed, batched, done, judged, leased, published, trained } from '../../support/run-events.js'

const NODES = ['ann', 'ben', 'cleo', 'dora']
const registered = NODES.map((node): RunEvent => ({ type: 'registered', atMs: 0, node, round: 0 }))
const logs = randomLogs.map((log): RunEvent[] => [agreed(), ...registered, ...log])
const RUNS = { numRuns: 30, seed: 7 }

test('a report that is kept up says what one that reads the whole log says, wherever it began to listen', async () => {
  await fc.assert(
    fc.asyncProperty(logs, fc.nat(), async (log, place) => {
      const count = place % log.length
      const events = log.slice(0, count)
      const stored = memoryLog(events)
      const recorder = await openRecorder(stored, () => undefined)
      const live = new LiveReport()
      const followed = followRun(live, { log: stored, recorder, count }, patience())
      for (const event of log.slice(count)) await recorder.record(() => event)
      await followed
      assert.is(live.behind, 0)
      assert.is(live.revision, log.length)
      const [run, nodes, groups] = [new RunTally(), new NodesTally(), new GroupsTally()]
      for (const event of log) for (const tally of [run, nodes, groups]) tally.add(event)
      assert.equal(live.run.report(), run.report())
      assert.equal(live.nodes.report(1e6), nodes.report(1e6))
      assert.equal(live.groups.newest(), groups.newest())
      const leases = live.coverage.tasks().reduce((sum, task) => sum + task.leases, 0)
      assert.is(leases, log.filter(({ type }) => type === 'leased').length)
    }),
    RUNS,
  )
})

test('the newest groups are remembered, and later events of forgotten ones do no harm', () => {
  const tally = new GroupsTally(2)
  for (const lease of ['a', 'b', 'c']) for (const event of done(lease, 'ann', 0)) tally.add(event)
  tally.add(batched('one', 1, ['a', 'b', 'c']))
  tally.add(trained('one', 1))
  tally.add(batched('two', 2, []))
  tally.add(batched('three', 3, []))
  assert.equal(
    [...tally.reports()].map(({ lease, batches }) => [lease.leaseId, batches.length]),
    [
      ['b', 0],
      ['c', 0],
    ],
    'the batch is too old as well',
  )
})

test('a version knows the parts of its rewards, and how old the groups were that it was made of', () => {
  const tally = new RunTally()
  const parts = (coverage: number) => ({ rewardParts: { coverage }, completions: ['0'.repeat(16)] })
  const log = [
    ...[agreed(), published(0), leased('a', 'ann', 0), judged('a', 'ann', 0, parts(0.25)), published(1)],
    ...[
      leased('b', 'ann', 1),
      judged('b', 'ann', 1, parts(0.5)),
      leased('c', 'ann', 1),
      judged('c', 'ann', 1, parts(1)),
    ],
    ...[leased('d', 'ann', 1), judged('d', 'ann', 1), batched('batch', 2, ['a', 'b']), published(2)],
    { ...trained('batch', 2), skipped: true, reason: 'not_finite' },
  ]
  for (const event of log) tally.add(event)
  const { versions } = tally.report()
  assert.equal(
    versions.map((version) => version.parts),
    [{ coverage: 0.25 }, { coverage: 0.75 }, {}],
  )
  assert.is(versions[2]!.staleness, 0.5)
  assert.is(versions[2]!.skippedFor, 'not_finite')
})

test('an environment is covered by its tasks with an accepted group', () => {
  const live = new LiveReport()
  for (const event of [agreed(), ...registered, published(0), ...done('a', 'ann', 0, {}, 1)]) live.add(event)
  const [email, travel] = live.coverage.environments([['email'], ['email', 'travel'], ['travel']])
  assert.equal([email!.tasks, email!.tasksCovered, email!.leases, email!.reward], [2, 1, 1, 0.65])
  assert.equal([travel!.tasks, travel!.tasksCovered], [2, 1])
})

test('a character of several tokens is one piece of a conversation, as likely as all of them', () => {
  const bytes = [...new TextEncoder().encode('a€b')]
  const detokenize = (tokens: readonly number[]): string => new TextDecoder().decode(Uint8Array.from(tokens))
  const rollout = {
    ...{ tokens: [120, ...bytes, 121], maskRuns: [1, 5, 1], logprobs: [-1, -2, -3, -4, -5], calls: [] },
    ...{ reward: { total: 1, components: [] }, stateHash: '', endReason: 'finished' },
  }
  assert.equal(conversationOf(rollout, { detokenize }).passages, [
    { kind: 'prompt', text: 'x', tokens: 1 },
    {
      kind: 'assistant',
      tokens: 5,
      pieces: [
        { text: 'a', logprob: -1 },
        { text: '€', logprob: -9 },
        { text: 'b', logprob: -5 },
      ],
    },
    { kind: 'environment', text: 'y', tokens: 1 },
  ])
  const broken = { ...rollout, tokens: [120, 0xe2, 0x82, 0xe2, 0x82, 0xe2, 121] }
  assert.is(conversationOf(broken, { detokenize }).passages.length, 3, 'half characters end somewhere')
})

test('many events at once are one piece of news, and a silent run still shows that somebody is there', async () => {
  const live = new LiveReport()
  const over = new AbortController()
  const said: string[] = []
  const waits: { ms: number; end: () => void }[] = []
  const clock = {
    sleep: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
        waits.push({ ms, end: resolve })
      }),
  }
  const following = followRevisions(
    live,
    { send: async (revision) => said.push(`revision ${revision}`), beat: async () => said.push('beat') },
    clock,
    over.signal,
  )
  const waited = async (): Promise<{ ms: number; end: () => void }> => {
    while (waits.length === 0) await new Promise((resolve) => setImmediate(resolve))
    return waits.shift()!
  }
  const first = await waited()
  assert.is(first.ms, DASHBOARD_LIMITS.updateMs)
  live.add(agreed())
  live.add(published(0))
  first.end()
  const second = await waited()
  second.end()
  const silence = await waited()
  assert.is(silence.ms, DASHBOARD_LIMITS.heartbeatMs)
  silence.end()
  await waited()
  over.abort(new Error('the page is left'))
  await following
  assert.equal(said, ['revision 0', 'revision 2', 'beat'])
})

test.run()
