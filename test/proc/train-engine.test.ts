import '../../swarm/polyfill.js'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { writeFindings } from '../../coordinator/jobs/batch-folder.js'
import { TrainerError } from '../../coordinator/jobs/errors.js'
import type { TrainEngine } from '../../coordinator/jobs/train-engine.js'
import { isOfRanks, type TrainerEvent } from '../../coordinator/jobs/trainer-events.js'
import { createTrainerProcess, type TrainerProcessOptions } from '../../coordinator/jobs/trainer-process.js'
import { patience } from '../support/patience.js'

/**
 * How the coordinator supervises its trainer. In place of Python stands a program that speaks the trainer's protocol
 * (docs/reference/trainer.md) and can be told to die, which the real one cannot; that one is driven in recovery.test.ts.
 */

const signal = patience
const engines: TrainEngine[] = []
let jobs = ''

test.before.each(async () => {
  jobs = await mkdtemp(join(tmpdir(), 'prove-spool-'))
  await mkdir(join(jobs, 'batches'), { recursive: true })
})
test.after.each(async () => {
  for (const engine of engines.splice(0)) await engine.close()
  await rm(jobs, { recursive: true, force: true })
})

/** @param life  body of `async ({ say, batches, life, sleep })`; `life` counts the starts from 1 */
async function trainerThat(
  life: string,
  change: Partial<TrainerProcessOptions> = {},
): Promise<{ engine: TrainEngine; events: TrainerEvent[] }> {
  const program = join(jobs, 'trainer.mjs')
  await writeFile(
    program,
    `#!${process.execPath}
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
const spool = process.argv[process.argv.indexOf('--jobs') + 1]
appendFileSync(spool + '/starts', 'x')
const life = readFileSync(spool + '/starts', 'utf8').length
let say = (event, fields = {}) => process.stdout.write(JSON.stringify({ event, ...fields }) + '\\n')
const die = (code, ...words) => new Promise(() => process.stderr.write(words.join(' ') + '\\n', () => process.exit(code)))
const batch = async () => {
  for (;;) {
    const [name] = readdirSync(spool + '/batches').sort()
    if (name) return name
    await sleep(20)
  }
}
${life}
`,
    { mode: 0o755 },
  )
  const events: TrainerEvent[] = []
  const engine = createTrainerProcess(
    {
      python: program,
      packageFolder: jobs,
      jobs,
      base: 'base.gguf',
      config: 'trainer.json',
      processes: 1,
      logFile: join(jobs, 'trainer.log'),
      maxFailures: 3,
      onEvent: (event) => events.push(event),
      ...change,
    },
    pino({ level: 'silent' }),
  )
  engines.push(engine)
  return { engine, events }
}

const starts = async (): Promise<number> => (await readFile(join(jobs, 'starts'), 'utf8')).length
const addBatch = (name: string) => mkdir(join(jobs, 'batches', name))

async function failure(work: Promise<unknown>): Promise<TrainerError> {
  const error = await work.then(
    () => null,
    (why: unknown) => why,
  )
  assert.instance(error, TrainerError)
  return error as TrainerError
}

test('a trainer that dies in the middle of a step is started again, and the batch is trained', async () => {
  const { engine, events } = await trainerThat(`
    say('ready', { step: 4 })
    const batchId = await batch()
    say('training', { batchId, step: 5 })
    if (life < 3) process.kill(process.pid, 'SIGKILL')
    say('step', { batchId, step: 5 })
    await sleep(600_000)`)
  assert.equal(await engine.start(signal()), { step: 4 })
  await addBatch('step-5')
  assert.equal(await engine.outcome('step-5', signal()), { kind: 'trained', step: 5 })
  assert.is(await starts(), 3)
  assert.equal(
    events.map(({ event }) => event),
    ['ready', 'training', 'ready', 'training', 'ready', 'training', 'step'],
  )
  assert.equal(await engine.outcome('step-5', signal()), { kind: 'trained', step: 5 }, 'the answer is remembered')
})

test('that evidence awaits findings is told until they are there, also when the trainer has ended in between', async () => {
  const { engine } = await trainerThat(`
    say('ready', { step: 0 })
    const batchId = await batch()
    say('training', { batchId, step: 1 })
    const folder = spool + '/batches/' + batchId
    mkdirSync(folder + '/token-scores', { recursive: true })
    say('measured', { batchId })
    while (!existsSync(folder + '/findings.json')) await sleep(20)
    if (life === 1) process.kill(process.pid, 'SIGKILL')
    say('step', { batchId, step: 1 })
    await sleep(600_000)`)
  await engine.start(signal())
  await addBatch('step-1')
  assert.equal(await engine.outcome('step-1', signal()), { kind: 'measured' })
  assert.equal(await engine.outcome('step-1', signal()), { kind: 'measured' }, 'nobody has answered yet')
  await writeFindings(jobs, 'step-1', [])
  let outcome = await engine.outcome('step-1', signal())
  // The second life of the trainer says so once more.
  while (outcome.kind === 'measured') outcome = await engine.outcome('step-1', signal())
  assert.equal(outcome, { kind: 'trained', step: 1 })
  assert.is(await starts(), 2)
})

test('a batch that kills the trainer three times is refused and out of its sight, and the next one is trained', async () => {
  const { engine, events } = await trainerThat(`
    say('ready', { step: 0 })
    const batchId = await batch()
    say('training', { batchId, step: 1 })
    if (batchId === 'poison') await die(1, 'out of memory')
    say('step', { batchId, step: 1 })
    await sleep(600_000)`)
  await engine.start(signal())
  await addBatch('poison')
  const outcome = await engine.outcome('poison', signal())
  assert.is(outcome.kind === 'refused' && outcome.code, 'trainer_failed')
  assert.is(events.filter(({ event }) => event === 'training').length, 3)
  assert.equal(await readdir(join(jobs, 'batches')), [])
  assert.equal(await readdir(join(jobs, 'given-up')), ['poison'])
  await addBatch('sound')
  assert.equal(await engine.outcome('sound', signal()), { kind: 'trained', step: 1 })
})

test('a trainer that never gets ready is given up with its last words, and no batch is blamed', async () => {
  const { engine } = await trainerThat(`await die(1, 'Traceback ...\\nModuleNotFoundError: no torch here')`)
  await addBatch('step-1')
  const waiting = failure(engine.outcome('step-1', signal()))
  const error = await failure(engine.start(signal()))
  assert.is(error.code, 'trainer_failed')
  assert.match(error.message, /ModuleNotFoundError: no torch here \(see .*trainer\.log\)/)
  assert.is(await starts(), 3)
  assert.is((await waiting).code, 'trainer_failed')
  assert.is((await failure(engine.outcome('step-1', signal()))).code, 'trainer_failed', 'also who asks later hears it')
  assert.equal(await readdir(join(jobs, 'batches')), ['step-1'])
  assert.match(await readFile(join(jobs, 'trainer.log'), 'utf8'), /no torch here/)
})

test('a trainer that refuses its settings is not started again', async () => {
  const { engine } = await trainerThat(`
    say('error', { code: 'config_invalid', message: 'lr must be positive', batchId: null })
    process.exitCode = 2`)
  assert.match((await failure(engine.start(signal()))).message, /config_invalid: lr must be positive/)
  assert.is(await starts(), 1)
})

test('a refusal that was written while nobody listened is found', async () => {
  const { engine } = await trainerThat(`
    say('ready', { step: 2 })
    await sleep(600_000)`)
  await addBatch('step-3')
  await writeFile(join(jobs, 'batches', 'step-3', 'refused.json'), '{"code":"bad_tokens","message":"token 70000"}')
  await engine.start(signal())
  const refused = { kind: 'refused', code: 'bad_tokens', detail: 'token 70000' }
  assert.equal(await engine.outcome('step-3', signal()), refused)
})

test('a refusal that cannot be read is an error, and not a batch that is still worked on', async () => {
  const { engine } = await trainerThat(`
    say('ready', { step: 2 })
    await sleep(600_000)`)
  await engine.start(signal())
  for (const [name, text] of [
    ['torn', '{"code":"bad'],
    ['nameless', '{"message":"token 70000"}'],
  ] as const) {
    await addBatch(name)
    await writeFile(join(jobs, 'batches', name, 'refused.json'), text)
    assert.match((await failure(engine.outcome(name, signal()))).message, new RegExp(`${name}/refused.json: `))
  }
})

test('a trainer that dies between writing a refusal and telling it is asked again at its next start', async () => {
  const { engine } = await trainerThat(`
    const { writeFileSync } = await import('node:fs')
    say('ready', { step: 0 })
    const batchId = await batch()
    if (life === 1) {
      writeFileSync(spool + '/batches/' + batchId + '/refused.json', '{"code":"bad_mask","message":"no ones"}')
      process.kill(process.pid, 'SIGKILL')
    }
    await sleep(600_000)`)
  await engine.start(signal())
  const outcome = engine.outcome('step-1', signal())
  await addBatch('step-1')
  assert.equal(await outcome, { kind: 'refused', code: 'bad_mask', detail: 'no ones' })
})

test('a close ends the trainer, whether it runs or is about to be started again', async () => {
  const { engine } = await trainerThat(`
    say('ready', { step: 0, pid: process.pid })
    await sleep(600_000)`)
  await engine.start(signal())
  const waiting = failure(engine.outcome('step-1', signal()))
  await engine.close()
  assert.is((await waiting).code, 'closed')
  assert.is(await starts(), 1)

  const dying = await trainerThat(`
    say('ready', { step: 0 })
    await die(1)`)
  await dying.engine.start(signal())
  await dying.engine.close()
  const lives = await starts()
  assert.is((await failure(dying.engine.outcome('step-1', signal()))).code, 'closed')
  assert.is(await starts(), lives)
})

test('who stops waiting leaves the trainer alone', async () => {
  const { engine } = await trainerThat(`
    say('ready', { step: 0 })
    const batchId = await batch()
    say('step', { batchId, step: 1 })
    await sleep(600_000)`)
  await engine.start(signal())
  const impatient = new AbortController()
  const waiting = engine.outcome('step-1', impatient.signal).catch((why: unknown) => why)
  impatient.abort('no more')
  assert.is(await waiting, 'no more')
  await addBatch('step-1')
  assert.equal(await engine.outcome('step-1', signal()), { kind: 'trained', step: 1 })
})

/**
 * Two ranks that a command has started elsewhere: they report through the spool. `say` is rank 0's; `tell` writes what a rank
 * says of itself; `lease` is what the coordinator's lease says, null without one.
 */
const CLUSTER = `
const { writeFileSync, renameSync } = await import('node:fs')
const name = process.argv[process.argv.indexOf('--life') + 1]
const folder = spool + '/launch/' + name
say = (event, fields = {}) => appendFileSync(folder + '/events.jsonl', JSON.stringify({ event, ...fields }) + '\\n')
let beat = 0
const tell = (rank, fields = {}) => {
  const known = { schema: 1, rank, host: 'host-' + rank, pid: 4711, beat: beat++, ended: false, error: null }
  const path = folder + '/rank-' + rank + '.json'
  writeFileSync(path + '.tmp', JSON.stringify({ ...known, ...fields }))
  renameSync(path + '.tmp', path)
}
const lease = () => {
  try { return JSON.parse(readFileSync(spool + '/launch/lease.json', 'utf8')).life } catch { return null }
}
`

const SILENCE_MS = 1500
const onHosts: TrainerProcessOptions['launch'] = {
  hosts: ['host-0'],
  command: ['sh', '-c', 'echo this is no event; exec "$@"', '{host}', '{program}'],
  env: {},
  silenceMs: SILENCE_MS,
}

test('ranks elsewhere are heard of through the spool, and end when their lease is withdrawn', async () => {
  const { engine, events } = await trainerThat(
    `${CLUSTER}
    if (lease() !== name) throw new Error('no lease')
    tell(0)
    tell(1)
    say('ready', { step: 0 })
    const batchId = await batch()
    say('step', { batchId, step: 1 })
    while (lease() === name) {
      tell(0)
      tell(1)
      await sleep(20)
    }
    appendFileSync(spool + '/withdrawn', 'x')`,
    { launch: onHosts },
  )
  assert.equal(await engine.start(signal()), { step: 0 })
  await addBatch('step-1')
  assert.equal(await engine.outcome('step-1', signal()), { kind: 'trained', step: 1 })
  assert.equal(
    events.find(isOfRanks)?.ranks.map(({ rank, host }) => [rank, host]),
    [
      [0, 'host-0'],
      [1, 'host-1'],
    ],
  )
  await engine.close()
  assert.is(await readFile(join(jobs, 'withdrawn'), 'utf8'), 'x', 'it ended by itself')
  assert.match(await readFile(join(jobs, 'trainer.log'), 'utf8'), /this is no event/)
})

test('a rank elsewhere that falls silent costs all ranks their life, and the batch nothing', async () => {
  const { engine, events } = await trainerThat(
    `${CLUSTER}
    tell(0)
    tell(1)
    say('ready', { step: 0 })
    const batchId = await batch()
    say('training', { batchId, step: 1 })
    while (life === 1 && lease() === name) {
      tell(0)
      await sleep(20)
    }
    for (const rank of [0, 1]) tell(rank, { ended: life === 1 })
    if (life === 1) process.exit(1)
    say('step', { batchId, step: 1 })
    while (lease() === name) {
      tell(0)
      tell(1)
      await sleep(20)
    }`,
    { launch: onHosts, maxFailures: 1 },
  )
  await engine.start(signal())
  await addBatch('step-1')
  assert.equal(await engine.outcome('step-1', signal()), { kind: 'trained', step: 1 })
  assert.is(await starts(), 2)
  assert.ok(events.filter(isOfRanks).some(({ ranks }) => ranks.every(({ ended }) => ended)))
  assert.match(
    await readFile(join(jobs, 'trainer.log'), 'utf8'),
    /rank 1 on host-1 has sent no sign of life for 1500 ms/,
  )
})

test('a batch is to blame for what any rank says that it does to it, and not for a peer that is lost', async () => {
  const { engine } = await trainerThat(
    `${CLUSTER}
    tell(0)
    tell(1)
    say('ready', { step: 0 })
    const batchId = await batch()
    say('training', { batchId, step: 1 })
    const lost = { code: 'peer_lost', message: 'Connection closed by peer', batchId }
    const error = life === 1 ? null : { code: 'internal', message: 'no more memory', batchId }
    say('error', lost)
    tell(0, { ended: true, error: lost })
    tell(1, { ended: true, error })
    process.exit(1)`,
    { launch: onHosts, maxFailures: 1 },
  )
  await engine.start(signal())
  await addBatch('poison')
  const outcome = await engine.outcome('poison', signal())
  assert.is(outcome.kind === 'refused' && outcome.code, 'trainer_failed')
  assert.is(await starts(), 2)
})

test('a command that is not there is no trainer', async () => {
  const { engine } = await trainerThat('', { launch: { ...onHosts!, command: ['no-such-command', '{program}'] } })
  assert.is((await failure(engine.start(signal()))).code, 'trainer_unusable')
})

test.run()
