// The jobs of a test run: each runs a command and counts what passed, failed and was skipped.
import { basename, dirname } from 'node:path'
import { root, runGroup } from '../processes.mjs'

/** Kills a test command after 30 minutes: a hang counts as a failure, a slow run does not. */
const LIMIT_MS = 30 * 60_000
const ENV = {
  NO_COLOR: '1',
  FORCE_COLOR: undefined,
  // Node.js 22 and newer keep compiled modules there; version 20 ignores the variable.
  NODE_COMPILE_CACHE: `${root}dist/.compile-cache`,
}

const run = (command, args, env = {}) => runGroup(command, args, { env: { ...ENV, ...env }, limitMs: LIMIT_MS })
const nothing = { passed: 0, failed: 0, skipped: 0, seconds: 0, cpu: 0 }

/** Prints the line of a finished job, with the whole output if it has failed. */
function finish(name, counts, { seconds, cpu, output }, detail = '') {
  const failed = counts.failed > 0
  const what =
    detail || `${counts.passed} passed, ${counts.failed} failed${counts.skipped ? `, ${counts.skipped} skipped` : ''}`
  console.log(`${failed ? 'FAIL' : 'ok  '} ${name}: ${what} in ${seconds.toFixed(1)} s`)
  if (failed) console.log(output)
  return { ...nothing, ...counts, name, seconds, cpu, ...(failed ? { output } : {}) }
}

/** A job that fails without running anything. */
export function failure(name, why) {
  console.log(`FAIL ${name}: ${why}`)
  return { ...nothing, name, failed: 1, output: why }
}

/** A job that is skipped as a whole. */
export function skip(name, why) {
  console.log(`skip ${name}: ${why}`)
  return { ...nothing, name, skipped: 1, why }
}

/** Runs a command that passes or fails as a whole. */
export async function check(command, args) {
  const result = await run(command, args)
  const name = [command, ...args].join(' ').replaceAll(root, '')
  return finish(
    name,
    { passed: Number(result.ok), failed: Number(!result.ok) },
    result,
    result.ok ? 'passed' : 'failed',
  )
}

/**
 * Runs test files of uvu in one process. uvu exits with 0 when nothing ran, so its output is counted and a file without tests counts
 * as failed. If one of several files ends the process, each file runs alone, so that it hides no other.
 * @param files  paths of compiled tests, relative to the checkout
 * @param node   the Node.js that runs them
 */
export async function uvuFiles(files, { node = process.execPath, env = {}, label = '' } = {}) {
  const result = await run(node, ['scripts/run-test-files.mjs', ...files], { ...env, PROVE_IN_GROUP: '1' })
  const { ok, output } = result
  const count = (what) => Number(output.match(new RegExp(`^  ${what}:\\s+(\\d+)`, 'm'))?.[1] ?? 0)
  const [total, passed, skipped] = [count('Total'), count('Passed'), count('Skipped')]
  if (total === 0 && files.length > 1) {
    const alone = []
    for (const file of files) alone.push(...(await uvuFiles([file], { node, env, label })))
    return alone
  }
  const [, ...parts] = output.split(/^dist\/test\/.+\.test\.js$/m)
  const empty = files.filter((_, i) => !/\(\d+ \/ [1-9]\d*\)$/m.test(parts[i] ?? ''))
  // uvu does not include skipped tests in the total.
  const failed = Math.max(total - passed, empty.length, Number(!ok))
  const names = files.map((file) => basename(file, '.test.js')).join(', ')
  const name = `${label}${dirname(files[0]).slice('dist/test/'.length)}: ${names}`
  const why = empty.length === 0 ? output : `${output}\nwithout tests: ${empty.join(', ')}`
  for (const [line] of output.matchAll(/^skip .+$/gm)) console.log(line)
  return [finish(name, { passed, failed, skipped }, { ...result, output: why })]
}

/** Runs the tests of a folder of Python in the trainer's environment. */
export const pytest = (folder) => pytestIn(`${root}.venv/bin/python`, folder)

/** Runs tests of Python. @param place  a folder or a file. @param name  the name of the job */
export async function pytestIn(python, place, name = place) {
  const result = await run(
    python,
    ['-m', 'pytest', '-q', '-x', '-rs', '--no-header', '-p', 'no:cacheprovider', place],
    // Other tests run at the same time: threads of torch that wait for each other would take their time.
    { OMP_NUM_THREADS: '1' },
  )
  const { ok, output } = result
  const count = (word) => Number(output.match(new RegExp(`(\\d+) ${word}`))?.[1] ?? 0)
  const [passed, skipped] = [count('passed'), count('skipped')]
  const failed = Math.max(count('failed') + count('errors?'), ok && passed > 0 ? 0 : 1)
  for (const [, why] of output.matchAll(/^SKIPPED \[\d+\] (.+)$/gm)) console.log(`skip ${name}: ${why}`)
  return finish(name, { passed, failed, skipped }, result)
}
