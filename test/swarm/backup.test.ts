import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { chmod, copyFile, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { interruptible } from '../../common/cli/index.js'
import { reachControl, serveControl } from '../../common/control/index.js'
import { BackupError } from '../../coordinator/backup/backup-error.js'
import { type LogSource, makeBackup } from '../../coordinator/backup/make-backup.js'
import { restoreBackup } from '../../coordinator/backup/restore-backup.js'
import { openEventLog } from '../../coordinator/ledger/event-log.js'
import { openRecorder } from '../../coordinator/ledger/recorder.js'
import type { RunState } from '../../coordinator/ledger/run-state.js'
import { LOG_END, LOG_RECORDS } from '../../coordinator/service/control-routes.js'
import { keepBackups } from '../../coordinator/service/own-backups.js'
import { exportIdentity, importIdentity, readKey } from '../../swarm/index.js'
import { bend } from '../chaos/damage.js'
import { createMovedClock } from '../support/moved-clock.js'
import { connect, eventually } from '../support/swarm-nodes.js'
import type { TestRun } from '../support/test-run.js'
import { leaseFor, offer, runSuite, verdictOn } from './run-suite.js'

const { test } = runSuite('backups')

const never = new AbortController().signal
const made: string[] = []
const folder = async (): Promise<string> => {
  const path = await mkdtemp(join(tmpdir(), 'prove-backup-'))
  made.push(path)
  return path
}
test.after(async () => {
  for (const path of made) await rm(path, { recursive: true, force: true })
})

/** Makes a run one that a coordinator could go on with: with its key, and the files of its trainer. */
async function equip(run: TestRun): Promise<TestRun> {
  const { key, host } = run.coordinator.node
  await importIdentity(run.folder, exportIdentity({ privateKey: key, peerId: host.peerId }))
  await writeFile(join(run.folder, 'trainer.json'), '{}')
  await writeStep(run.folder, 0)
  return run
}

/** A complete step in the spool, as far as a coordinator reads it. */
async function writeStep(dataDir: string, step: number): Promise<void> {
  const path = join(dataDir, 'jobs', 'steps', `step-${step}`)
  const adapter = `adapter of step ${step}`
  await mkdir(path, { recursive: true })
  await writeFile(join(path, 'adapter.gguf'), adapter)
  const files = { 'adapter.gguf': createHash('sha256').update(adapter).digest('hex') }
  const lora = { rank: 4, alpha: 8, targetModules: ['q_proj'] }
  const content = { step, batchId: null, skipped: null, adapterStep: step, lora, warmStart: null, files, stats: null }
  await writeFile(join(path, 'step.json'), JSON.stringify({ ...content, canaries: [] }))
}

const sourceOf = (run: TestRun): LogSource => {
  const { log } = run.coordinator
  return { end: async () => log.end, records: (until) => log.records(until) }
}

const back = (run: TestRun, target: string, log = sourceOf(run)) =>
  makeBackup({ log, dataDir: run.folder, configFile: null, target, now: new Date(0) }, never)

/** A run with two accepted groups, backed up. */
async function backedUp(run: TestRun): Promise<string> {
  await equip(run)
  const ann = await run.admitted(2)
  for (let i = 0; i < 2; i++) {
    const lease = await leaseFor(ann)
    await offer(ann, await ann.finish(lease))
    await verdictOn(run, lease.leaseId)
  }
  const target = join(await folder(), 'backup')
  await back(run, target)
  return target
}

async function stateIn(dataDir: string): Promise<RunState> {
  const recorder = await openRecorder(await openEventLog(join(dataDir, 'log')), () => undefined)
  await recorder.close()
  return recorder.state
}

async function refusal(work: Promise<unknown>): Promise<BackupError> {
  const why = await work.then(
    () => null,
    (error: unknown) => error,
  )
  assert.instance(why, BackupError)
  return why as BackupError
}

async function filesBelow(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

test('a coordinator backs itself up at intervals, and keeps the newest backups', async ({ open }) => {
  const run = await equip(await open())
  const clock = createMovedClock()
  const closing = new AbortController()
  const target = join(await folder(), 'backups')
  const results: object[] = []
  const settings = { everyMs: 3_600_000, keep: 2, folder: target }
  const ended = keepBackups(
    {
      ...{ settings, log: run.coordinator.log, dataDir: run.folder, configFile: null, clock },
      logger: { error: () => undefined } as never,
      onBackup: (result) => results.push(result),
    },
    closing.signal,
  )
  for (const count of [1, 2, 3]) {
    await eventually('it waits', () => clock.pauses.length === 1)
    clock.advance(settings.everyMs)
    await eventually('a backup', () => results.length === count)
  }
  closing.abort()
  await ended
  assert.ok(results.every((result) => 'events' in result))
  const kept = (await readdir(target)).sort()
  assert.is(kept.length, 2)
  const restored = join(await folder(), 'data')
  await restoreBackup(join(target, kept.at(-1)!), restored, never)
  assert.is((await stateIn(restored)).current!.version, 0)
})

test('a run is backed up over the control socket while it works, and restored as it was then', async ({ open }) => {
  const run = await equip(await open())
  const ann = await run.admitted(2)
  const [lease, later] = (await ann.ask({ count: 2 })).leases
  await offer(ann, await ann.finish(lease!))
  await verdictOn(run, lease!.leaseId)
  const { log } = run.coordinator
  const server = await serveControl(run.folder, run.coordinator.routes)
  const target = join(await folder(), 'backup')
  const { count } = log.end
  const control = (await reachControl(run.folder, never))!
  const stated: LogSource = {
    end: async () => (await control.get(LOG_END)) as { count: number; hash: string },
    async *records(until) {
      // The run goes on meanwhile: another group comes in, its body lies beside the others, and a round opens.
      await offer(ann, await ann.finish(later!))
      await verdictOn(run, later!.leaseId)
      await run.volunteer(3).then((ben) => ben.ask())
      run.clock.nowMs += 10
      await run.coordinator.publisher.openRound()
      await writeStep(run.folder, 1)
      await copyFile(
        join(run.folder, 'versions', '000000000.manifest'),
        join(run.folder, 'versions', '000000001.manifest'),
      )
      yield* control.lines(`${LOG_RECORDS}?until=${until}`)
    },
  }
  const backup = await back(run, target, stated)
  await server.close()
  assert.equal(backup.events.count, count)
  assert.ok(log.end.count > count + 2)

  const elsewhere = join(await folder(), 'restored')
  await restoreBackup(target, elsewhere, never)
  assert.is((await readKey(elsewhere))!.peerId, run.swarm.runId)
  const state = await stateIn(elsewhere)
  assert.equal([...state.judged.keys()], [lease!.leaseId])
  assert.equal([...state.openLeases.keys()], [later!.leaseId])
  assert.is(state.trainable(8).length, 1)
  assert.equal(await readdir(join(elsewhere, 'bodies')), [state.judged.get(lease!.leaseId)!.bodySha256])
  assert.equal(await readdir(join(elsewhere, 'jobs', 'steps')), ['step-0'])
  assert.equal(
    await readdir(join(elsewhere, 'versions')),
    ['000000000.manifest'],
    'not that of a version after the log',
  )
  for (const path of await filesBelow(elsewhere)) {
    // LevelDB's own follow the process's mask, which the command sets.
    if (!path.includes('/log/')) assert.is((await stat(path)).mode & 0o777, 0o600, path)
  }
})

test('a restored run goes on: it takes the group that was under way, and pays for it', async ({ open }) => {
  const run = await equip(await open())
  const ann = await run.admitted(2)
  const [first, second] = (await ann.ask({ count: 2 })).leases
  await offer(ann, await ann.finish(first!))
  await verdictOn(run, first!.leaseId)
  const target = join(await folder(), 'backup')
  await back(run, target)
  const before = JSON.stringify([...run.coordinator.recorder.state.nodes])
  await run.restart({}, async () => {
    await rm(run.folder, { recursive: true })
    await restoreBackup(target, run.folder, never)
  })
  assert.is(JSON.stringify([...run.coordinator.recorder.state.nodes]), before)
  await connect(ann, run.coordinator.node)
  await offer(ann, await ann.finish(second!))
  assert.ok((await verdictOn(run, second!.leaseId)).accepted)
})

test('a backup in which one file of any kind is bent, cut, missing or too much is refused, and the file is named', async ({
  open,
}) => {
  const good = await backedUp(await open())
  const kinds = new Map<string, string>()
  for (const path of await filesBelow(good)) {
    const name = path.slice(good.length + 1)
    kinds.set(name.replace(/[0-9a-f]{64}|\d{6}/, '*'), name)
  }
  assert.ok(kinds.size >= 10, [...kinds.keys()].join())
  for (const name of kinds.values()) {
    const damages = [
      async (path: string) => bend(path, Math.floor((await stat(path)).size / 2)),
      async (path: string) => writeFile(path, (await readFile(path)).subarray(0, -1)),
      async (path: string) => rm(path),
    ]
    for (const damage of damages) {
      const bent = join(await folder(), 'bent')
      await cp(good, bent, { recursive: true })
      await damage(join(bent, name))
      const target = join(await folder(), 'restored')
      const why = await refusal(restoreBackup(bent, target, never))
      assert.ok(why.message.includes(name), `${name}: ${why.message}`)
      assert.equal(await readdir(join(target, '..')), [], 'nothing is left behind')
    }
  }
  await writeFile(join(good, 'data', 'more'), 'x')
  assert.match((await refusal(restoreBackup(good, join(await folder(), 'restored'), never))).message, /data\/more/)
})

test('a backup that was not finished, and a folder that is none, are refused; so is a data folder that is not empty', async ({
  open,
}) => {
  const good = await backedUp(await open())
  const half = join(await folder(), 'backup.part-x')
  await cp(good, half, { recursive: true })
  await rm(join(half, 'backup.json'))
  assert.is((await refusal(restoreBackup(half, join(await folder(), 'restored'), never))).code, 'no_backup')
  assert.is((await refusal(restoreBackup(await folder(), join(await folder(), 'restored'), never))).code, 'no_backup')
  const full = await folder()
  await writeFile(join(full, 'something'), '')
  assert.is((await refusal(restoreBackup(good, full, never))).code, 'exists')
  const empty = await folder()
  await restoreBackup(good, empty, never)
  assert.ok((await readdir(empty)).includes('log.head'))
})

test('a backup takes no place that is taken, and needs a run', async ({ open }) => {
  const run = await equip(await open())
  assert.is((await refusal(back(run, await folder()))).code, 'exists')
  const parts = { log: sourceOf(run), configFile: null, target: join(await folder(), 'backup'), now: new Date(0) }
  assert.is((await refusal(makeBackup({ ...parts, dataDir: await folder() }, never))).code, 'no_run')
})

test('a file that goes while it is copied is made up for by a later cut, and one that stays away is named', async ({
  open,
}) => {
  const run = await equip(await open())
  const missing = join(run.folder, 'manifests', '000000.manifest')
  await rename(missing, `${missing}.away`)
  const parent = await folder()
  const why = await refusal(back(run, join(parent, 'backup')))
  assert.is(why.code, 'not_whole')
  assert.match(why.message, /manifests\/000000\.manifest, which the run needs/)
  assert.equal(await readdir(parent), [])
  let cuts = 0
  const { end, records } = sourceOf(run)
  await back(run, join(parent, 'backup'), {
    records,
    async end() {
      if (++cuts === 2) await rename(`${missing}.away`, missing)
      return end()
    },
  })
  assert.is(cuts, 2)
})

test('a backup without the body of a group that is still to be trained on is not made', async ({ open }) => {
  const run = await equip(await open())
  const ann = await run.admitted(2)
  const lease = await leaseFor(ann)
  await offer(ann, await ann.finish(lease))
  const { bodySha256 } = await verdictOn(run, lease.leaseId)
  await rm(join(run.folder, 'bodies', bodySha256))
  const why = await refusal(back(run, join(await folder(), 'backup')))
  assert.is(why.code, 'not_whole')
  assert.ok(why.message.includes(bodySha256))
})

test('the control socket is for the owner alone, refuses what makes no sense, and is gone with the coordinator', async ({
  open,
}) => {
  const run = await open()
  const { log } = run.coordinator
  const deep = join(await folder(), 'deep'.repeat(20), 'deep'.repeat(20))
  await mkdir(deep, { recursive: true })
  for (const dataDir of [run.folder, deep]) {
    assert.is(await reachControl(dataDir, never), null)
    const server = await serveControl(dataDir, run.coordinator.routes)
    const control = (await reachControl(dataDir, never))!
    assert.equal(await control.get(LOG_END), log.end)
    for (const until of ['-1', 'x', String(log.end.count + 1)])
      await control.get(`${LOG_RECORDS}?until=${until}`).then(
        () => assert.unreachable(),
        (why) => assert.match(why.message, /refused: .*at most/),
      )
    await control.get('/nothing').then(
      () => assert.unreachable(),
      (why) => assert.is(why.code, 'refused'),
    )
    if (dataDir === run.folder) assert.is((await stat(join(dataDir, 'control.sock'))).mode & 0o777, 0o600)
    await server.close()
    assert.is(await reachControl(dataDir, never), null)
    assert.equal(
      (await readdir(dataDir)).filter((name) => name.startsWith('control')),
      [],
    )
  }
})

test('what a killed coordinator left of its socket does not keep the next one from its own', async ({ open }) => {
  const run = await open()
  await writeFile(join(run.folder, 'control.sock'), '')
  const server = await serveControl(run.folder, run.coordinator.routes)
  assert.ok(await reachControl(run.folder, never))
  await server.close()
})

test('a data folder that others could read is closed to them at the start, and what is not its own is left alone', async ({
  open,
}) => {
  const run = await equip(await open())
  const { folder: dataDir } = run
  await writeFile(join(dataDir, 'notes.txt'), 'mine')
  for (const path of [
    'notes.txt',
    'trainer.json',
    'log.head',
    'manifests/000000.manifest',
    'jobs/steps/step-0/step.json',
  ])
    await chmod(join(dataDir, path), 0o644)
  for (const path of ['.', 'log', 'jobs', 'manifests']) await chmod(join(dataDir, path), 0o755)
  await run.restart()
  const modeOf = async (path: string): Promise<number> => (await stat(join(dataDir, path))).mode & 0o777
  for (const path of ['.', 'log', 'jobs', 'manifests']) assert.is(await modeOf(path), 0o700, path)
  for (const path of ['trainer.json', 'log.head', 'manifests/000000.manifest', 'jobs/steps/step-0/step.json'])
    assert.is(await modeOf(path), 0o600, path)
  assert.is(await modeOf('notes.txt'), 0o644)
})

test('a restore that is interrupted at any moment leaves nothing behind', async ({ open }) => {
  const target = await backedUp(await open())
  // A signal that nobody hears any more, because the restore is just done, ends the process.
  const understood = (): void => undefined
  process.on('SIGINT', understood)
  let inTheMiddle = 0
  for (let turns = 1; ; turns += Math.max(3, Math.ceil(turns / 8))) {
    const parent = await folder()
    const work = interruptible('the restore', (signal) => restoreBackup(target, join(parent, 'data'), signal)).then(
      () => null,
      (why: unknown) => why,
    )
    for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate)
    const names = readdirSync(parent)
    if (names.some((name) => name.startsWith('data.part-'))) inTheMiddle += 1
    process.emit('SIGINT')
    const why = await work
    if (why === null) {
      assert.equal(await readdir(parent), ['data'])
      break
    }
    assert.is((why as BackupError).code, 'interrupted')
    assert.equal(await readdir(parent), [])
  }
  process.off('SIGINT', understood)
  assert.ok(inTheMiddle > 0)
})

test.run()
