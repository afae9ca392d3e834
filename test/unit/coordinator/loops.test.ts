import '../../../swarm/polyfill.js'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Intake } from '../../../coordinator/intake/intake.js'
import type { RunEvent } from '../../../coordinator/ledger/events.js'
import { openRecorder } from '../../../coordinator/ledger/recorder.js'
import { keepHouse } from '../../../coordinator/service/housekeeping.js'
import { runTraining } from '../../../coordinator/versions/training-loop.js'
import { refusal } from '../../../proto/index.js'
import { silentLogger, systemClock } from '../../../swarm/index.js'
import { batched, done, published } from '../../support/run-events.js'

// All files of a suite are loaded before the first test runs, so a timeout that starts here might be over by then.
const { signal } = new AbortController()

test('a duty that fails keeps no other from its turn, nor itself from the next', async () => {
  const stop = new AbortController()
  const calls: string[] = []
  const errors: unknown[] = []
  await keepHouse(
    {
      releaseLapsed: async () => {
        calls.push('lapsed')
        throw new Error('no space left on device')
      },
      openRound: async () => {
        calls.push('round')
        throw new Error('no secret')
      },
      auditSuspects: () => {
        calls.push('suspects')
        if (calls.length > 3) stop.abort()
        throw new Error('no audits')
      },
      clock: systemClock,
      logger: { ...silentLogger, error: (fields: unknown) => errors.push(fields) },
    },
    AbortSignal.any([stop.signal, signal]),
  )
  assert.equal(calls, ['lapsed', 'round', 'suspects', 'lapsed', 'round', 'suspects'])
  assert.is(errors.length, 5, 'the sixth failed because of the stop')
})

const batch = batched('batch-1', 1, ['l'])

/** Resumes a run of one version over this log, with a trainer that stands at a step and has made it of `batch-1`. */
async function resume(
  log: RunEvent[],
  trainerStep: number,
  replayAccepted: Intake['replayAccepted'] = async () => [],
): Promise<RunEvent[]> {
  const spool = await mkdtemp(join(tmpdir(), 'prove-loop-'))
  try {
    const step = join(spool, 'steps', 'step-1')
    await mkdir(step, { recursive: true })
    const lora = { rank: 1, alpha: 1, targetModules: [] }
    const content = {
      step: 1,
      batchId: 'batch-1',
      skipped: 'nonfinite',
      adapterStep: 0,
      lora,
      files: {},
      stats: null,
      probes: [],
    }
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
        config: {
          ...{ versions: 1, maxStaleness: 1, batchGroups: 1 },
          influence: { perKey: 1, perAddressBlock: 1 },
        } as Parts['config'],
        baseSha256: 'base',
        spool,
        recorder,
        intake: { replayAccepted } as unknown as Parts['intake'],
        publisher: {
          announce: async () => undefined,
          openRound: async () => undefined,
          restore: async () => undefined,
          publish: async (version) => {
            const known = recorder.state.publications.some((publication) => publication.version === version)
            if (!known) await recorder.record(() => published(version))
          },
        },
        trainer: {
          start: async () => ({ step: trainerStep }),
          outcome: async () => ({ kind: 'trained', step: 1 }),
          close: async () => undefined,
        },
        clock: { ...systemClock, now: () => 7 },
      },
      signal,
    )
    return log
  } finally {
    await rm(spool, { recursive: true, force: true })
  }
}

test('a stop between the last publication and its record leaves nothing pending for ever', async () => {
  const log = [published(0), ...done('l', 'ann', 0), batch, published(1)]
  assert.equal((await resume(log, 1)).slice(5), [
    { type: 'trained', atMs: 7, batchId: 'batch-1', step: 1, skipped: true },
  ])
})

test('a batch with a group whose world has changed its mind is refused, and the run goes on without it', async () => {
  const log = [published(0), ...done('l', 'ann', 0), ...done('m', 'ben', 0), batch]
  const before = log.length
  await resume(log, 0, async (leaseId) => {
    if (leaseId === 'l') throw refusal('world_unstable', 'banking')
    return []
  })
  const [refused, next, ...rest] = log.slice(before)
  assert.equal(refused, {
    type: 'batch-refused',
    atMs: 7,
    batchId: 'batch-1',
    code: 'world_unstable',
    detail: 'group l: banking',
  })
  assert.equal(next?.type === 'batched' && [next.step, next.leaseIds], [1, ['m']])
  assert.equal(
    rest.map(({ type }) => type),
    ['published', 'trained'],
  )
})

test('a trainer whose spool is not the one of the log stops the run instead of waiting for ever', async () => {
  const log = [published(0), ...done('l', 'ann', 0), batch, published(1)]
  const error = await resume(log, 0).catch((why: Error) => why.message)
  assert.match(String(error), /^trainer_failed: the log ends at step 1, the trainer at step 0: /)
})

test.run()
