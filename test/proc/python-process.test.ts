import '../../swarm/polyfill.js'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { TrainerError } from '../../coordinator/jobs/errors.js'
import { createPythonProcess, type PythonProcessOptions } from '../../coordinator/jobs/python-process.js'
import type { Ending } from '../../coordinator/jobs/supervisor.js'

/** How a Python child is kept alive, with a program in its place that does as it is told. */

let folder = ''
const opened: { close(): Promise<void> }[] = []
test.before.each(async () => {
  folder = await mkdtemp(join(tmpdir(), 'prove-python-'))
})
test.after.each(async () => {
  for (const child of opened.splice(0)) await child.close()
  await rm(folder, { recursive: true, force: true })
})

/** Starts a child that runs this program. @returns what became of it, and the first line it says */
async function childThat(program: string, change: Partial<PythonProcessOptions> = {}) {
  const python = join(folder, 'python.mjs')
  await writeFile(python, `#!${process.execPath}\n${program}`, { mode: 0o755 })
  const over = Promise.withResolvers<TrainerError>()
  const line = Promise.withResolvers<unknown>()
  const endings: Ending[] = []
  const child = createPythonProcess({
    python,
    packageFolder: folder,
    args: ['--task', 'sing'],
    restartPauseMs: 10,
    closeTimeoutMs: 300,
    onLine: (value) => line.resolve(value),
    onEnd: (ending) => {
      endings.push(ending)
      if (endings.length === 3) throw new TrainerError('trainer_failed', 'thrice')
    },
    onOver: over.resolve,
    ...change,
  })
  opened.push(child)
  child.start()
  return { child, over: over.promise, line: line.promise, endings }
}

test('a child that ends is started again until its owner gives it up, and each end is told with its last words', async () => {
  const { over, endings, child } = await childThat(`console.error('first\\nlast words'); process.exitCode = 7`)
  assert.is((await over).message, 'trainer_failed: thrice')
  assert.equal(
    endings.map(({ code, lastWords }) => [code, lastWords]),
    [1, 2, 3].map(() => [7, 'last words']),
  )
  assert.is(child.failure?.code, 'trainer_failed')
})

test('a child has the environment of the package and knows whose it is', async () => {
  const { line } = await childThat(`
    const { PYTHONPATH, OMP_NUM_THREADS } = process.env
    console.log(JSON.stringify([process.argv.slice(2), PYTHONPATH, OMP_NUM_THREADS]))
    setInterval(() => {}, 1000)`)
  assert.equal(await line, [['--task', 'sing', '--parent-pid', String(process.pid)], folder, '1'])
})

for (const [what, lay] of [
  ['that is not there', async () => undefined],
  // Of this the system tells before a process is tried at all.
  ['that is a link to itself', (python: string) => symlink(python, python)],
] as const)
  test(`a Python ${what} is no failure that starting again could cure`, async () => {
    const python = join(folder, 'no-python')
    await lay(python)
    const { over, endings } = await childThat('', { python })
    const { code, message } = await over
    assert.is(code, 'trainer_unusable')
    assert.match(message, /no-python: .*(ENOENT|ELOOP)/)
    assert.equal(endings, [])
  })

test('a child that will not end when asked is killed', async () => {
  const { child, line, over, endings } = await childThat(`
    process.on('SIGTERM', () => {})
    console.log('"deaf"')
    setInterval(() => {}, 1000)`)
  assert.is(await line, 'deaf')
  await child.close()
  assert.is((await over).code, 'closed')
  assert.equal(endings, [], 'whoever asked for the end is not told of it')
})

test('a fault in its listener ends the child instead of leaving it unheard', async () => {
  const { over } = await childThat(`console.log('1'); setInterval(() => {}, 1000)`, {
    onLine: () => {
      throw new TypeError('no such field')
    },
  })
  const { code, message } = await over
  assert.equal([code, message], ['trainer_failed', 'trainer_failed: no such field'])
})

test.run()
