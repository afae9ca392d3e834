import '../../swarm/polyfill.js'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { RunEvent } from '../../coordinator/events.js'
import { keepHouse } from '../../coordinator/housekeeping.js'
import { openRecorder } from '../../coordinator/recorder.js'
import { RunState } from '../../coordinator/run-state.js'
import { runTraining } from '../../coordinator/training-loop.js'
import { silentLogger } from '../../swarm/index.js'

// All files of a suite are loaded before the first test runs, so a timeout that starts here might be over by then.
const { signal } = new AbortController()

const judged = (node: string, leaseId: string): RunEvent => ({
  ...{ type: 'judged', atMs: 1, leaseId, node, version: 0, bodySha256: 'b', accepted: true, code: null, detail: '' },
  ...{ credit: 1, rewards: [0, 1], flat: false, calls: 0, solved: 0 },
})

test('a duty that fails keeps no other from its turn, nor itself from the next', async () => {
  const state = new RunState()
  const stop = new AbortController()
  const calls: string[] = []
  const errors: unknown[] = []
  await keepHouse(
    {
      state,
      releaseLapsed: async () => {
        calls.push('lapsed')
        state.apply(judged('ann', `lease ${calls.length}`))
        throw new Error('no space left on device')
      },
      sendVerdicts: async (node, from, count) => {
        calls.push(`${node} ${from}+${count}`)
        if (from === 1) stop.abort()
        throw new Error('too many messages')
      },
      announcePolicy: async () => {
        calls.push('policy')
        throw new Error('no manifest')
      },
      logger: { ...silentLogger, error: (fields: unknown) => errors.push(fields) },
    },
    AbortSignal.any([stop.signal, signal]),
  )
  assert.equal(calls, ['lapsed', 'ann 0+1', 'policy', 'lapsed', 'ann 1+1'])
  assert.is(errors.length, 4, 'the fifth failed because of the stop')
})

test('many verdicts at once are gossiped in as many pages as it takes, those from before the start not at all', async () => {
  const state = new RunState()
  const stop = new AbortController()
  const pages: [string, number, number][] = []
  for (let i = 0; i < 3; i++) state.apply(judged('ann', `old ${i}`))
  let first = true
  await keepHouse(
    {
      state,
      releaseLapsed: async () => {
        if (first) for (let i = 0; i < 100; i++) state.apply(judged('ann', `new ${i}`))
        first = false
      },
      sendVerdicts: async (...page) => {
        pages.push(page)
        if (pages.length === 2) stop.abort()
      },
      announcePolicy: async () => undefined,
      logger: silentLogger,
    },
    AbortSignal.any([stop.signal, signal]),
  )
  assert.equal(pages, [
    ['ann', 3, 64],
    ['ann', 67, 36],
  ])
})

const published = (version: number): RunEvent => ({
  ...{ type: 'published', atMs: 1, version, step: version, policyId: 'p', manifestId: 'm' },
  ...{ adapterSha256: 'a', roundSecret: 's' },
})
const batched: RunEvent = { type: 'batched', atMs: 1, batchId: 'batch-1', step: 1, leaseIds: ['l'] }

/** Resumes a run of one version over this log, with a trainer that stands at a step and has made it of `batch-1`. */
async function resume(log: RunEvent[], trainerStep: number): Promise<RunEvent[]> {
  const spool = await mkdtemp(join(tmpdir(), 'prove-loop-'))
  try {
    const step = join(spool, 'steps', 'step-1')
    await mkdir(step, { recursive: true })
    const lora = { rank: 1, alpha: 1, targetModules: [] }
    const content = { step: 1, batchId: 'batch-1', skipped: 'nonfinite', lora, files: {}, stats: null, probes: [] }
    await writeFile(join(step, 'step.json'), JSON.stringify(content))
    const recorder = await openRecorder(
      {
        append: async (event) => void log.push(event),
        async *replay() {
          yield* [...log]
        },
        close: async () => undefined,
      },
      () => undefined,
    )
    type Parts = Parameters<typeof runTraining>[0]
    await runTraining(
      {
        config: { versions: 1, maxStaleness: 1, batchGroups: 1 } as Parts['config'],
        baseSha256: 'base',
        spool,
        recorder,
        intake: { replayAccepted: async () => [] } as unknown as Parts['intake'],
        publisher: {
          announce: async () => undefined,
          restore: async () => undefined,
          publish: async (version) => {
            const known = recorder.state.publications.some((publication) => publication.version === version)
            if (!known) await recorder.record(() => published(version) as Extract<RunEvent, { type: 'published' }>)
          },
        },
        trainer: {
          start: async () => ({ step: trainerStep }),
          outcome: async () => ({ kind: 'trained', step: 1 }),
          close: async () => undefined,
        },
        clock: { now: () => 7 },
      },
      signal,
    )
    return log
  } finally {
    await rm(spool, { recursive: true, force: true })
  }
}

test('a stop between the last publication and its record leaves nothing pending for ever', async () => {
  const log = [published(0), judged('ann', 'l'), batched, published(1)]
  assert.equal((await resume(log, 1)).slice(4), [
    { type: 'trained', atMs: 7, batchId: 'batch-1', step: 1, skipped: true },
  ])
})

test('a trainer whose spool is not the one of the log stops the run instead of waiting for ever', async () => {
  const log = [published(0), judged('ann', 'l'), batched, published(1)]
  const error = await resume(log, 0).catch((why: Error) => why.message)
  assert.match(String(error), /^trainer_failed: the log ends at step 1, the trainer at step 0: /)
})

test.run()
