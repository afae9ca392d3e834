import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { execa } from 'execa'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { checkout } from '../support/checkout.js'
import { PATIENCE_MS, patience } from '../support/patience.js'

/** `npm test` itself, over the small suites in test/fixtures/runner. */

const RUNNER = [join(checkout, 'scripts', 'test.mjs'), '--built', '--tests', 'test/fixtures/runner']

const test = suite<{ folder: string }>('the test runner')
test.before.each(async (context) => {
  context.folder = await mkdtemp(join(tmpdir(), 'prove-runner-'))
})
test.after.each(({ folder }) => rm(folder, { recursive: true, force: true }))

const run = (paths: readonly string[], env: Record<string, string> = {}) =>
  execa(process.execPath, [...RUNNER, ...paths], {
    env: { PROVE_NO_SKIPS: '', ...env },
    reject: false,
    timeout: PATIENCE_MS,
  })
const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1)!

test('it counts what passed, failed and was skipped, and names the package that a skipped test needs', async () => {
  const { stdout, exitCode } = await run(['unit/mixed'])
  assert.is(lastLine(stdout), '1 passed, 1 failed, 1 skipped')
  assert.is(exitCode, 1)
  assert.match(stdout, /^skip needs a command: needs no-such-command \(apt-get install no-such-package\)$/m)
})

test('it skips a file whose need is missing, and fails only where nothing may be skipped', async () => {
  const env = { PROVE_CHROMIUM: '/nowhere/chromium' }
  const { stdout, exitCode } = await run(['unit/browser'], env)
  assert.match(stdout, /^skip unit\/browser: needs Chromium \(apt-get install chromium, or PROVE_CHROMIUM\)$/m)
  assert.is(lastLine(stdout), '0 passed, 0 failed, 1 skipped')
  assert.is(exitCode, 0)
  const strict = await run(['unit/browser'], { ...env, PROVE_NO_SKIPS: '1' })
  assert.is(lastLine(strict.stdout), '0 passed, 0 failed, 1 skipped')
  assert.is(strict.exitCode, 1)
})

test('a file fails that has no tests, does not exist, or does not declare its needs correctly', async () => {
  const { stdout, exitCode } = await run(['unit/empty', 'unit/gone', 'unit/misnamed', 'unit/undeclared'])
  assert.is(lastLine(stdout), '0 passed, 4 failed, 0 skipped')
  assert.is(exitCode, 1)
  assert.match(stdout, /needs "unicorns", which is unknown/)
  assert.match(stdout, /begin it with "\/\/ needs: python"/)
  assert.match(stdout, /unit\/gone: there is no such test file/)
})

const isAlive = (pid: number): boolean => {
  try {
    // A zombie has no command line any more.
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== ''
  } catch {
    return false
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'] as const)
  test(`${signal} of the runner ends everything that it has started`, async ({ folder }) => {
    const pidFile = join(folder, 'pids')
    const runner = spawn(process.execPath, [...RUNNER, 'proc/orphan'], {
      cwd: checkout,
      env: { ...process.env, ORPHAN_PIDS: pidFile },
      stdio: 'ignore',
    })
    const ended = once(runner, 'exit')
    const pids = await untilAll(pidFile)
    assert.is(pids.length, 3)
    assert.ok(pids.every(isAlive))
    runner.kill(signal)
    await ended
    const limit = patience()
    while (pids.some(isAlive) && !limit.aborted) await sleep(20)
    assert.equal(pids.filter(isAlive), [])
  })

test('SIGKILL of the program that runs single test files ends everything that it has started', async ({ folder }) => {
  const pidFile = join(folder, 'pids')
  const file = join('dist', 'test', 'fixtures', 'runner', 'proc', 'orphan.test.js')
  const runner = spawn(process.execPath, [join(checkout, 'scripts', 'run-test-files.mjs'), file], {
    cwd: checkout,
    env: { ...process.env, PROVE_IN_GROUP: '', ORPHAN_PIDS: pidFile },
    stdio: 'ignore',
  })
  const ended = once(runner, 'exit')
  const pids = await untilAll(pidFile)
  assert.ok(pids.every(isAlive))
  runner.kill('SIGKILL')
  await ended
  const limit = patience()
  while (pids.some(isAlive) && !limit.aborted) await sleep(20)
  assert.equal(pids.filter(isAlive), [])
})

/** The ids of the test, its child and its grandchild, which the file has when the grandchild has added the last one. */
async function untilAll(file: string): Promise<number[]> {
  const limit = patience()
  for (;;) {
    const text = await readFile(file, 'utf8').catch(() => '')
    if (text.endsWith('.')) return text.slice(0, -1).split(' ').map(Number)
    limit.throwIfAborted()
    await sleep(20)
  }
}

test.run()
