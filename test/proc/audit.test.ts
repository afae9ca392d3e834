// needs: python

import '../../swarm/polyfill.js'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type AuditProcess, createAuditProcess } from '../../coordinator/jobs/audit-process.js'
import { TrainerError } from '../../coordinator/jobs/errors.js'
import { referenceScores } from '../../coordinator/jobs/reference-scores.js'
import { canaryPrompts } from '../../coordinator/versions/canary.js'
import { type CalibrationSettings, calibrate } from '../../lab/calibrate.js'
import { DRAW, type EngineProcess, openEngine, openTokenizer } from '../../rollout/engine/index.js'
import { createEpisodeRuntime, DEFAULT_LIMITS, DEFAULT_RULES, rulesNamed } from '../../rollout/episode/index.js'
import type { Calibration } from '../../rollout/verification/thresholds.js'
import { createSeedStateCache } from '../../servers/kernel/index.js'
import { DEMO_PROFILE } from '../../tasks/dataset/index.js'
import { contextFor, streamExamples } from '../../tasks/synthesis/index.js'
import { checkout } from '../support/checkout.js'
import { PATIENCE_MS, patience } from '../support/patience.js'
import { CATALOGUE } from '../support/spoken-catalogue.js'
import { eventually } from '../support/swarm-nodes.js'

const log = pino({ level: 'silent' })
const signal = patience
const opened: AuditProcess[] = []
let folder = ''

test.before.each(async () => {
  folder = await mkdtemp(join(tmpdir(), 'prove-audit-'))
  for (const name of ['audits', 'token-scores']) await mkdir(join(folder, name))
})
test.after.each(async () => {
  for (const process of opened.splice(0)) await process.close()
  await rm(folder, { recursive: true, force: true })
})

/** A program in place of Python that can be made to crash. `life` counts its starts from 1. */
async function processThat(body: string): Promise<AuditProcess> {
  const python = join(folder, 'auditor.mjs')
  const program = `#!${process.execPath}
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
const jobs = process.argv[process.argv.indexOf('--jobs') + 1]
appendFileSync(jobs + '/starts', 'x')
const life = readFileSync(jobs + '/starts', 'utf8').length
const wait = () => setInterval(() => {}, 1000)
${body}
`
  await writeFile(python, program, { mode: 0o755 })
  return opening({ python, packageFolder: folder, base: 'base', config: 'config' })
}

function opening(options: { python: string; packageFolder: string; base: string; config: string }): AuditProcess {
  const created = createAuditProcess({ ...options, jobs: folder, maxFailures: 3, timeoutMs: PATIENCE_MS }, log)
  opened.push(created)
  return created
}

test('an audit process that dies is started again until it answers', async () => {
  const auditor = await processThat(`if (life < 3) process.exit(1)
mkdirSync(jobs + '/token-scores/a'); wait()`)
  assert.equal(await auditor.outcome('a', signal()), { kind: 'audited' })
  assert.is((await readFile(join(folder, 'starts'), 'utf8')).length, 3)
})

test('an audit process that was started early answers the first audit', async () => {
  const auditor = await processThat(`mkdirSync(jobs + '/token-scores/a'); wait()`)
  auditor.start()
  const isStarted = (): Promise<boolean> =>
    stat(join(folder, 'token-scores', 'a')).then(
      () => true,
      () => false,
    )
  await eventually('the process has started', isStarted)
  assert.equal(await auditor.outcome('a', signal()), { kind: 'audited' })
  assert.is((await readFile(join(folder, 'starts'), 'utf8')).length, 1)
})

test('one that only dies is given up with what it said last', async () => {
  const auditor = await processThat(
    `console.log(JSON.stringify({ event: 'error', code: 'base_unreadable', message: 'no such file' })); process.exitCode = 2`,
  )
  try {
    await auditor.outcome('a', signal())
    assert.unreachable()
  } catch (error) {
    assert.instance(error, TrainerError)
    assert.match((error as Error).message, /base_unreadable: no such file/)
  }
})

test('a refusal is passed on, and an abort ends the waiting alone', async () => {
  const auditor = await processThat(`mkdirSync(jobs + '/audits/a')
writeFileSync(jobs + '/audits/a/refused.json', JSON.stringify({ code: 'mask_invalid', message: 'no' })); wait()`)
  assert.equal(await auditor.outcome('a', signal()), { kind: 'refused', code: 'mask_invalid', detail: 'no' })
  const abort = new AbortController()
  const waiting = auditor.outcome('never', abort.signal)
  abort.abort(new Error('enough'))
  await waiting.then(
    () => assert.unreachable(),
    (error: Error) => assert.is(error.message, 'enough'),
  )
  assert.equal(await auditor.outcome('a', signal()), { kind: 'refused', code: 'mask_invalid', detail: 'no' })
})

test('an answer that cannot be read is an error, and not one that is still to come', async () => {
  const auditor = await processThat('wait()')
  // A folder in place of the file: what a disk answers that is there and does not work.
  await mkdir(join(folder, 'audits', 'a', 'refused.json'), { recursive: true })
  await auditor.outcome('a', signal()).then(
    () => assert.unreachable(),
    (error: unknown) => {
      assert.instance(error, TrainerError)
      assert.match((error as TrainerError).message, /audits\/a\/refused\.json: EISDIR/)
    },
  )
})

const python = join(checkout, '.venv', 'bin', 'python')
const packageFolder = join(checkout, 'coordinator', 'trainer')
const MODEL = join(checkout, 'models', 'demo', 'prove-demo-base-f16.gguf')
const SETTINGS: CalibrationSettings = { groups: 10, groupSize: 2, seed: 3, goal: 0.005, confidence: 0.95 }

/** The real audit process, with the demo model. It takes seconds to start, so calibrations that follow each other share one. */
async function demoAuditor(): Promise<{ auditor: AuditProcess; baseSha256: string }> {
  const baseSha256 = createHash('sha256')
    .update(await readFile(MODEL))
    .digest('hex')
  const config = join(folder, 'trainer.json')
  await writeFile(config, JSON.stringify({ schema: 1, baseSha256 }))
  return { auditor: opening({ python, packageFolder, base: MODEL, config }), baseSha256 }
}

/** Calibrates the demo model with the real engine. */
async function calibrateDemo(
  { auditor, baseSha256 }: Awaited<ReturnType<typeof demoAuditor>>,
  journal: string,
  settings: CalibrationSettings,
  stop: AbortSignal,
  onProgress: (done: number) => void = () => {},
  workers = 1,
): Promise<Calibration> {
  const environments = ['banking', 'email'].map((name) => CATALOGUE.get(name)!)
  const seedStates = createSeedStateCache()
  const context = contextFor(environments, DEMO_PROFILE, 0, seedStates)
  const tasks = Array.from(streamExamples(context, 'train', 5), ({ task }) => task)
  const tokenizer = await openTokenizer(MODEL)
  const { maxRolloutTokens: contextSize } = DEFAULT_LIMITS
  const engines: EngineProcess[] = []
  try {
    for (let i = 0; i < workers; i++)
      engines.push(
        await openEngine(
          { modelPath: MODEL, threads: 1, contextSize, slots: 2, gpu: false },
          // The same numbers again: so no slot may be late on a busy machine, which would change its batches.
          { slotWaitMs: PATIENCE_MS },
        ),
      )
    const runtime = createEpisodeRuntime(environments, tokenizer, rulesNamed(DEFAULT_RULES), seedStates)
    const { backend, nodeLlamaCpp } = engines[0]!.build
    return await calibrate(
      {
        subject: { baseSha256, adapters: [], quantisation: 'f16', backend, draw: DRAW, nodeLlamaCpp },
        adapters: [],
        engines,
        runtime,
        auditing: {},
        service: { process: auditor, jobs: folder, baseSha256, reader: runtime, limits: DEFAULT_LIMITS },
        tasks,
        canaries: {
          canaries: canaryPrompts(tasks, runtime, DEFAULT_LIMITS),
          reference: (canaries, until) =>
            referenceScores(
              { python, packageFolder, base: MODEL, baseSha256, adapters: [], canaries, threads: 1 },
              until,
            ),
        },
        journal,
        onSampled: () => {},
        onCanary: () => {},
        onProgress,
      },
      settings,
      stop,
    )
  } finally {
    await Promise.all(engines.map((engine) => engine.close()))
    await tokenizer.close()
  }
}

test('an interrupted calibration resumes to the same numbers, and not with another seed', async () => {
  const desk = await demoAuditor()
  const smooth = await calibrateDemo(desk, join(folder, 'smooth.jsonl'), SETTINGS, signal())
  assert.is(smooth.groups, 10)
  assert.is(smooth.falseRefusals.measured.of, 10)
  // What the f16 engine and torch differ by, and a policy that is not the announced one would exceed a hundredfold.
  assert.ok(smooth.honest['mean deviation, nats']!.max! < 0.02)
  assert.ok(smooth.honest['largest logit error, nats']!.max! < 0.02)
  const { canaries, policies, tokens, worstMean, worstToken } = smooth.canary!
  assert.equal([canaries, policies], [3, 1])
  assert.ok(tokens >= 3 && worstMean > 0 && worstMean <= worstToken && worstToken < 0.02)

  const stop = new AbortController()
  const rough = join(folder, 'rough.jsonl')
  const stopping = calibrateDemo(desk, rough, SETTINGS, stop.signal, (done) => {
    if (done === 8) stop.abort(new Error('enough'))
  })
  await stopping.then(
    () => assert.unreachable(),
    (error: Error) => assert.is(error.message, 'enough'),
  )
  assert.is((await readFile(rough, 'utf8')).split('\n').length, 1 + 8 + 1)
  const silent = () => {}
  assert.equal(await calibrateDemo(desk, rough, SETTINGS, signal(), silent, 2), smooth, 'with two engines')
  assert.is(await readFile(rough, 'utf8'), await readFile(join(folder, 'smooth.jsonl'), 'utf8'))
  assert.equal(await readdir(join(folder, 'token-scores')), [])
  await calibrateDemo(desk, rough, { ...SETTINGS, seed: 4 }, signal()).then(
    () => assert.unreachable(),
    (error: Error) => assert.match(error.message, /another model, adapter, backend, task set, seed or limits/),
  )
})

test.run()
