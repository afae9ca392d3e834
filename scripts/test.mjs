// Sets the checkout up and runs every check and test suite. The last line is `N passed, N failed`.
// Usage: node scripts/test.mjs [suite | suite/file ...]   suites: checks unit swarm proc trainer release; files: proc/recovery, unit/reward
import { spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setupOrExit } from './setup.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const TRAINER = 'coordinator/trainer'
const WORLDS = 'prove-worlds'
const bin = (name) => `${root}node_modules/.bin/${name}`
/** What hangs is a failure, not a lost afternoon; what takes long on a busy machine is neither. */
const LONGEST_MS = 30 * 60_000

/** Runs a command and returns whether it went well and what it wrote, which is shown as it comes unless `quiet`. */
function run(command, args, { quiet = false } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined },
      timeout: LONGEST_MS,
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk
        if (!quiet) process.stdout.write(chunk)
      })
    }
    child.stdin.end()
    child.on('error', (error) => resolve({ ok: false, output: `${output}\n${error.message}` }))
    child.on('close', (code) => resolve({ ok: code === 0, output }))
  })
}

/** What failed with what it said, which is said again at the end. */
const failures = []

const sumOf = (numbers) => numbers.reduce((total, number) => total + number, 0)
const sum = (results, key) => sumOf(results.map((result) => result[key]))

/** A check that passes or fails as a whole. */
async function check(command, args) {
  const { ok, output } = await run(command, args)
  if (!ok) failures.push({ name: [command, ...args].join(' '), output })
  return { passed: Number(ok), failed: Number(!ok) }
}

/** What takes longest begins first, because begun last it would run alone at the end. The others are alike. */
const HEAVIEST =
  'proc/attackers proc/chaos proc/recovery proc/cli proc/audit swarm/chaos unit/synthesis unit/servers'.split(' ')
const weight = (file) => {
  const place = HEAVIEST.findIndex((path) => belongs(file, path))
  return place === -1 ? HEAVIEST.length : place
}

/** Whether a path such as `unit/reward/score.test.js` is, or lies in, what `unit`, `unit/reward` or `unit/reward/score` names. */
const belongs = (file, path) => file.startsWith(`${path}/`) || file === `${path}.test.js`

const allFiles = (suite) =>
  readdirSync(`${root}dist/test/${suite}`, { recursive: true })
    .map((name) => `${suite}/${name}`)
    .filter((name) => name.endsWith('.test.js'))
    .sort()
    .sort((a, b) => weight(a) - weight(b))

/** Files of one process: loading what they all import takes longer than most of them. */
const BATCH = 6

/**
 * @param paths   what of the suite is wanted
 * @param atOnce  processes at a time
 * @param inOne   files of a process; 1 where a file's listeners, timers or children could be in another one's way
 */
async function uvu(suite, paths, atOnce, inOne = 1) {
  const found = allFiles(suite)
  const missing = paths.filter((path) => !found.some((file) => belongs(file, path)))
  for (const path of missing) console.log(`FAIL ${path}: there is no such test`)
  const files = found.filter((file) => paths.some((path) => belongs(file, path)))
  const { default: pLimit } = await import('p-limit') // installed by the set-up
  const limit = pLimit(atOnce)
  const batches = batchesOf(
    files.map((name) => `dist/test/${name}`),
    inOne,
  )
  const results = await Promise.all(batches.map((batch) => limit(() => uvuFiles(batch))))
  return { passed: sum(results, 'passed'), failed: sum(results, 'failed') + missing.length }
}

/** Files of the same folder, which import the same, a few at a time. */
function batchesOf(files, size) {
  const batches = []
  for (const file of files) {
    const last = batches.at(-1)
    if (last && last.length < size && dirname(last[0]) === dirname(file)) last.push(file)
    else batches.push([file])
  }
  return batches
}

/**
 * Files in one process. uvu exits 0 when it ran nothing, so what it says is counted; a file without tests has failed. If one of several
 * ends the process, each is run alone, so that it hides no other.
 */
async function uvuFiles(files) {
  const started = performance.now()
  const { ok, output } = await run(process.execPath, ['scripts/run-test-files.mjs', ...files], { quiet: true })
  const count = (label) => Number(output.match(new RegExp(`^  ${label}:\\s+(\\d+)`, 'm'))?.[1] ?? 0)
  const total = count('Total')
  const passed = count('Passed')
  if (total === 0 && files.length > 1) {
    const alone = []
    for (const file of files) alone.push(await uvuFiles([file]))
    return { passed: sum(alone, 'passed'), failed: sum(alone, 'failed') }
  }
  const [, ...parts] = output.split(/^dist\/test\/.+\.test\.js$/m)
  const empty = files.filter((_, i) => !/\(\d+ \/ [1-9]\d*\)$/m.test(parts[i] ?? ''))
  const failed = Math.max(total - passed, empty.length, Number(!ok))
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  const folder = dirname(files[0]).slice('dist/'.length)
  const name = `${folder}: ${files.map((file) => basename(file, '.test.js')).join(', ')}`
  console.log(`${failed === 0 ? 'ok  ' : 'FAIL'} ${name}: ${passed} passed, ${failed} failed in ${seconds} s`)
  if (failed > 0) {
    const why = empty.length === 0 ? output : `${output}\nwithout tests: ${empty.join(', ')}`
    console.log(why)
    failures.push({ name, output: why })
  }
  return { passed, failed }
}

async function pytest(folder) {
  const { ok, output } = await run(`${root}.venv/bin/python`, [
    '-m',
    'pytest',
    '-q',
    '-x',
    '--no-header',
    '-p',
    'no:cacheprovider',
    folder,
  ])
  const count = (word) => Number(output.match(new RegExp(`(\\d+) ${word}`))?.[1] ?? 0)
  const failed = count('failed') + count('errors?')
  if (!ok) failures.push({ name: folder, output })
  return { passed: count('passed'), failed: Math.max(failed, ok && count('passed') > 0 ? 0 : 1) }
}

/** Files of `proc` at a time. Each may have a coordinator, its trainer, audits and volunteers: up to 2 GB of memory. */
const MOST_PROGRAMS = 4

const SUITES = {
  checks: async () => {
    const lint = await check(bin('biome'), ['ci', '--colors=off', '.'])
    const rooms = await check('npm', ['run', '--silent', 'rooms'])
    const python = await check(process.execPath, ['scripts/lint-python.mjs'])
    const all = [lint, rooms, python]
    for (const folder of [TRAINER, WORLDS])
      all.push(await check(bin('pyright'), ['-p', `${folder}/pyproject.toml`, '--pythonpath', '.venv/bin/python']))
    return { passed: sum(all, 'passed'), failed: sum(all, 'failed') }
  },
  unit: (paths) => uvu('unit', paths, availableParallelism(), BATCH),
  swarm: (paths) => uvu('swarm', paths, availableParallelism()),
  proc: (paths) => uvu('proc', paths, Math.min(availableParallelism(), MOST_PROGRAMS)),
  // A run each: they have files of the same names.
  trainer: async () => {
    const results = []
    for (const folder of [`${TRAINER}/tests`, 'scripts/build-demo-model/tests', `${WORLDS}/tests`])
      results.push(await pytest(folder))
    return { passed: sum(results, 'passed'), failed: sum(results, 'failed') }
  },
  release: () => check(process.execPath, ['scripts/release-check.mjs']),
}

/** `test/proc/recovery.test.ts` and `proc/recovery` are the same. */
const wanted = process.argv.slice(2).map((path) => path.replace(/^test\/|\/$|(\.test)?\.[jt]s$/g, ''))
const suiteOf = (path) => path.split('/')[0]
const unknown = wanted.find(
  (path) =>
    !Object.hasOwn(SUITES, suiteOf(path)) || (path.includes('/') && !existsSync(`${root}test/${suiteOf(path)}`)),
)
if (unknown !== undefined) {
  console.error(
    `there is no suite "${unknown}"; choose from ${Object.keys(SUITES).join(', ')}, or files such as proc/cli`,
  )
  process.exit(2)
}
await setupOrExit({ tests: true })
const total = { passed: 0, failed: 0 }
for (const [name, suite] of Object.entries(SUITES)) {
  const paths = wanted.length === 0 ? [name] : wanted.filter((path) => suiteOf(path) === name)
  if (paths.length === 0) continue
  console.log(`\n== ${name}`)
  const started = performance.now()
  const { passed, failed } = await suite(paths)
  const seconds = ((performance.now() - started) / 1000).toFixed(0)
  console.log(`== ${name}: ${passed} passed, ${failed} failed in ${seconds} s`)
  total.passed += passed
  total.failed += failed
}
for (const { name, output } of failures) console.log(`\n== FAILED ${name}\n${output}`)
process.exitCode = total.failed === 0 ? 0 : 1
console.log(`\n${total.passed} passed, ${total.failed} failed`)
