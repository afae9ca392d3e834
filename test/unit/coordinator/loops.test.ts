import '../../../swarm/polyfill.js'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { AuditableGroup } from '../../../coordinator/intake/body-judge.js'
import { BodyError } from '../../../coordinator/intake/group-bodies.js'
import type { RunEvent } from '../../../coordinator/ledger/events.js'
import { openRecorder } from '../../../coordinator/ledger/recorder.js'
import { keepHouse } from '../../../coordinator/service/housekeeping.js'
import { runTraining } from '../../../coordinator/versions/training-loop.js'
import { groupBody, refusal, type SwarmRefusal, sha256 } from '../../../proto/index.js'
import type { LogitErrorSums } from '../../../rollout/verification/logit-error-sums.js'
import { silentLogger, systemClock } from '../../../swarm/index.js'
import { NO_LOGIT_ERRORS } from '../../support/audit-groups.js'
import { WITHOUT_HEADS } from '../../support/memory-log.js'
import { agreed, audited, batchAudited, batched, done, published } from '../../support/run-events.js'
import { bodyOf, lendingTask, play, runtimeOf } from '../../support/scripted.js'

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
      takeBack: async () => undefined,
      openRound: async () => {
        calls.push('round')
        throw new Error('no secret')
      },
      lookForVolunteers: async () => undefined,
      lookForStrain: async () => undefined,
      nameDoubtedBatches: async () => undefined,
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

const task = lendingTask()
const BODY = groupBody.encode(
  bodyOf(task, [await play(task, ['No.', 'No.'], runtimeOf()), await play(task, ['Never.', 'No.'], runtimeOf())]),
)
const bodySha256 = sha256(BODY)

type Audit = (groups: readonly AuditableGroup[]) => (SwarmRefusal | LogitErrorSums)[]
/** What the trainer was told, oldest first. */
const findings: { readonly leftOut: readonly { readonly group: string }[] }[] = []

/**
 * Resumes a run of one version over this log, with a trainer that stands at a step and has made it of `batch-1`.
 * @param read  answers for the store of bodies
 * @param isWritten  whether `batch-1` lies in the spool
 * @param audit  what the evidence on the batch's groups shows; null: there are no audits
 */
async function resume(
  log: RunEvent[],
  trainerStep: number,
  read: (bodySha256: string) => Promise<Uint8Array | null> = async () => BODY,
  isWritten = false,
  audit: Audit | null = null,
): Promise<RunEvent[]> {
  const jobs = await mkdtemp(join(tmpdir(), 'prove-loop-'))
  const isAnswered = (batchId: string): Promise<boolean> =>
    readFile(join(jobs, 'batches', batchId, 'findings.json'), 'utf8').then(
      (text) => findings.push(JSON.parse(text)) > 0,
      () => false,
    )
  try {
    const lora = { rank: 1, alpha: 1, targetModules: [] }
    const content = { adapterStep: 0, lora, warmStart: null, files: {}, stats: null, canaries: [] }
    for (const [step, made] of [
      { batchId: null, skipped: null },
      { batchId: 'batch-1', skipped: 'nonfinite' },
    ].entries()) {
      const folder = join(jobs, 'steps', `step-${step}`)
      await mkdir(folder, { recursive: true })
      await writeFile(join(folder, 'step.json'), JSON.stringify({ step, ...made, ...content }))
    }
    if (isWritten) await mkdir(join(jobs, 'batches', 'batch-1'), { recursive: true })
    const recorder = await openRecorder(
      {
        ...WITHOUT_HEADS,
        append: async (...events) => void log.push(...events),
        async *replay() {
          yield agreed({ versions: 1, batchGroups: 1 })
          yield* [...log]
        },
        close: async () => undefined,
      },
      () => undefined,
    )
    await runTraining(
      {
        jobs,
        recorder,
        bodies: {
          async read({ bodySha256: hash }) {
            const bytes = await read(hash)
            if (bytes) return bytes
            throw new BodyError('body_lost', `no body ${hash}`)
          },
          giveUp: async (leaseId, { detail }) =>
            void (await recorder.record(() => ({ type: 'body-lost', atMs: 7, leaseId, bodySha256: LOST, detail }))),
        },
        blobs: { isWhole: async () => true, path: () => '' },
        losses: { note: () => undefined },
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
          outcome: async (batchId) =>
            audit && !(await isAnswered(batchId)) ? { kind: 'measured' } : { kind: 'trained', step: 1 },
          close: async () => undefined,
          settle: async (configuration) =>
            assert.is(configuration, recorder.state.configuration, 'a batch is trained by the newest terms'),
        },
        judge: { canAudit: () => audit !== null, auditBatch: async (_, groups) => audit!(groups) },
        intake: {
          takeBack: async (leaseId, batchId, { code, detail }) => {
            const finding = { accepted: false, code, detail, logitErrors: null, batchId }
            await recorder.record((state) =>
              state.accepted.has(leaseId) ? { type: 'audited', atMs: 7, leaseId, node: 'ann', ...finding } : null,
            )
          },
          passBatch: async (batchId, groups) => {
            await recorder.record((state) =>
              groups.length === 0 || state.isBatchAudited
                ? null
                : {
                    type: 'batch-audited',
                    atMs: 7,
                    batchId,
                    groups: groups.map((group) => ({ ...group, node: 'ann' })),
                  },
            )
          },
        },
        logger: silentLogger,
        clock: { ...systemClock, now: () => 7 },
      },
      signal,
    )
    return log
  } finally {
    await rm(jobs, { recursive: true, force: true })
  }
}

test('a stop between the last publication and its record leaves nothing pending for ever', async () => {
  const log = [published(0), ...done('l', 'ann', 0, { bodySha256 }), batch, published(1)]
  assert.equal((await resume(log, 1)).slice(5), [
    { type: 'trained', atMs: 7, batchId: 'batch-1', step: 1, skipped: true, reason: 'nonfinite', stats: {} },
  ])
})

const LOST = sha256(Uint8Array.of(1))

test('only the group with a lost body is given up: the batch is formed again from the others', async () => {
  const lost = done('l', 'ann', 0, { bodySha256: LOST })
  const log = [published(0), ...lost, ...done('m', 'ben', 0, { bodySha256 }), batched('batch-1', 1, ['l', 'm'])]
  const before = log.length
  await resume(log, 0, async (hash) => (hash === LOST ? null : BODY))
  const [given, next, ...rest] = log.slice(before)
  assert.equal(given, { type: 'body-lost', atMs: 7, leaseId: 'l', bodySha256: LOST, detail: `no body ${LOST}` })
  assert.equal(next?.type === 'batched' && [next.step, next.leaseIds], [1, ['m']])
  assert.equal(
    rest.map(({ type }) => type),
    ['published', 'trained'],
  )
})

test('a batch that the trainer may have taken is not refused for a body that was lost since', async () => {
  const log = [published(0), ...done('l', 'ann', 0, { bodySha256: LOST }), batch]
  const stated = await resume(log, 1, async () => null, true)
  assert.equal(
    stated.slice(4).map(({ type }) => type),
    ['published', 'trained'],
  )
})

test('a job directory that does not belong to the log stops the run instead of waiting for ever', async () => {
  const log = [published(0), ...done('l', 'ann', 0, { bodySha256 }), batch, published(1)]
  const error = await resume(log, 0).catch((why: Error) => why.message)
  assert.match(String(error), /^trainer_failed: the log ends at step 1, but the trainer at step 0: /)
})

const FAULT = refusal('sampler_mismatch', 'by 3 nats')
const pair = batched('batch-1', 1, ['l', 'm'])
const both = [...done('l', 'ann', 0, { bodySha256 }), ...done('m', 'ann', 0, { bodySha256 })]
const leftOut = () => findings.splice(0).map(({ leftOut: groups }) => groups.map(({ group }) => group))

test('the groups of a batch are audited before the trainer continues, and faults are recorded first', async () => {
  const log = [published(0), ...both, pair]
  const seen: string[] = []
  const events = await resume(log, 0, undefined, false, (groups) => {
    seen.push(...groups.map(({ lease }) => lease.leaseId))
    return groups.map(({ lease }) => (lease.leaseId === 'm' ? FAULT : NO_LOGIT_ERRORS))
  })
  assert.equal(seen, ['l', 'm'])
  assert.equal(leftOut(), [['m']])
  const { code, detail } = FAULT
  assert.equal(events.slice(6, 7), [{ ...audited('m', 'ann', code, 7), detail, batchId: 'batch-1' }])
  assert.equal(
    events.slice(7).map(({ type }) => type),
    ['batch-audited', 'published', 'trained'],
  )
})

test('what passes adds to the sums of its key, once, and no group of a key that is caught by them is trained on', async () => {
  const steered = { ...NO_LOGIT_ERRORS, logitError: 0.03, odds: [30, 0, 0, 0], betterLogitError: 1 }
  const judge: Audit = (groups) => groups.map(({ lease }) => (lease.leaseId === 'm' ? steered : NO_LOGIT_ERRORS))
  const noted = batchAudited('batch-1', [
    ['l', 'ann', NO_LOGIT_ERRORS],
    ['m', 'ann', steered],
  ])
  const events = await resume([published(0), ...both, pair], 0, undefined, false, judge)
  assert.equal(leftOut(), [['l', 'm']])
  assert.equal(events.slice(6, 7), [{ ...noted, atMs: 7 }])
  // Stopped between the record and the word to the trainer: the same groups are judged, and nothing is added again.
  const again = await resume([published(0), ...both, pair, noted], 0, undefined, true, judge)
  assert.equal(leftOut(), [['l', 'm']])
  assert.is(again.filter(({ type }) => type === 'batch-audited').length, 1)
})

test('of a key whose groups wait none is trained on, also none that an audit has passed', async () => {
  const suspect = { ...NO_LOGIT_ERRORS, logitError: 0.02, odds: [8, 0, 0, 0] }
  const log = [
    published(0),
    ...done('l', 'ann', 0, { bodySha256, audit: 'passed' }),
    ...done('m', 'ann', 0, { bodySha256 }),
    pair,
  ]
  await resume(log, 0, undefined, false, (groups) => groups.map(() => suspect))
  assert.equal(leftOut(), [['l', 'm']])
})

test('a stop between the record of a fault and the word to the trainer comes to the same findings', async () => {
  const taken = { ...audited('m', 'ann', FAULT.code, 7), batchId: 'batch-1' }
  const events = await resume([published(0), ...both, pair, taken], 0, undefined, true, (groups) =>
    groups.map(({ lease }) => (lease.leaseId === 'm' ? FAULT : NO_LOGIT_ERRORS)),
  )
  assert.equal(leftOut(), [['m']])
  assert.is(events.filter(({ type }) => type === 'audited').length, 1)
})

test('a group that an audit has passed is not asked about again, and one that cannot be read any more is not trained on', async () => {
  const proved = [...done('l', 'ann', 0, { bodySha256, audit: 'passed' }), ...done('m', 'ann', 0, { bodySha256 })]
  await resume([published(0), ...proved, pair], 0, undefined, false, (groups) => {
    assert.equal(
      groups.map(({ lease }) => lease.leaseId),
      ['m'],
    )
    return [NO_LOGIT_ERRORS]
  })
  assert.equal(leftOut(), [[]])
  const events = await resume(
    [published(0), ...both, pair],
    0,
    async () => null,
    true,
    () => {
      throw new Error('nothing is left to judge')
    },
  )
  assert.equal(leftOut(), [['l', 'm']])
  assert.is(events.filter(({ type }) => type === 'audited').length, 0, 'it is nobody’s lie')
})

test.run()
