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

/** Runs a command and returns whether it went well and what it wrote. */
function run(command, args, env = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...env, NO_COLOR: '1', FORCE_COLOR: undefined },
      timeout: LONGEST_MS,
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk
      })
    }
    child.stdin.end()
    child.on('error', (error) => resolve({ ok: false, output: `${output}\n${error.message}` }))
    child.on('close', (code) => resolve({ ok: code === 0, output }))
  })
}

/** What failed with what it said, which is said again at the end. */
const failures = []

const sum = (results, key) => results.reduce((total, result) => total + result[key], 0)

/** A check that passes or fails as a whole. */
async function check(command, args) {
  const started = performance.now()
  const { ok, output } = await run(command, args)
  const name = [command, ...args].join(' ').replaceAll(root, '')
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${name} in ${((performance.now() - started) / 1000).toFixed(1)} s`)
  if (!ok) {
    console.log(output)
    failures.push({ name, output })
  }
  return { passed: Number(ok), failed: Number(!ok) }
}

/** What takes longest begins first, because begun last it would run alone at the end. The others are alike. */
const HEAVIEST = [
  ...['proc/attackers', 'proc/chaos', 'proc/walk', 'proc/recovery', 'proc/cli', 'release', 'trainer'],
  ...['proc/dashboard'],
  ...['proc/steering', 'proc/mcp-python-client', 'swarm/chaos', 'unit/synthesis', 'unit/servers'],
]
/** How early a file, or a suite that is one job, begins. */
const priorityOf = (name) => {
  const place = HEAVIEST.findIndex((path) => name === path || belongs(name, path))
  return place === -1 ? 0 : HEAVIEST.length - place
}

/** Whether a path such as `unit/reward/score.test.js` is, or lies in, what `unit`, `unit/reward` or `unit/reward/score` names. */
const belongs = (file, path) => file.startsWith(`${path}/`) || file === `${path}.test.js`

const allFiles = (suite) =>
  readdirSync(`${root}dist/test/${suite}`, { recursive: true })
    .map((name) => `${suite}/${name}`)
    .filter((name) => name.endsWith('.test.js'))
    .sort()

/** Files of one process: loading what they all import takes longer than most of them. */
const BATCH = 6

/**
 * Jobs that run a suite's files.
 * @param paths  what of the suite is wanted
 * @param inOne  files of a process; 1 where a file's listeners, timers or children could be in another one's way
 */
function uvu(suite, paths, inOne = 1) {
  const found = allFiles(suite)
  const missing = paths.filter((path) => !found.some((file) => belongs(file, path)))
  const files = found.filter((file) => paths.some((path) => belongs(file, path)))
  return [
    ...missing.map((path) => ({ name: path, run: async () => notFound(path) })),
    ...batchesOf(files, inOne).map((batch) => ({
      name: batch[0],
      run: () => uvuFiles(batch.map((file) => `dist/test/${file}`)),
    })),
  ]
}

function notFound(path) {
  console.log(`FAIL ${path}: there is no such test`)
  return { passed: 0, failed: 1 }
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
  const { ok, output } = await run(process.execPath, ['scripts/run-test-files.mjs', ...files])
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
  const { ok, output } = await run(
    `${root}.venv/bin/python`,
    ['-m', 'pytest', '-q', '-x', '--no-header', '-p', 'no:cacheprovider', folder],
    // Other tests run beside these: threads of torch that wait for each other would take their time.
    { OMP_NUM_THREADS: '1' },
  )
  const count = (word) => Number(output.match(new RegExp(`(\\d+) ${word}`))?.[1] ?? 0)
  const passed = count('passed')
  const failed = Math.max(count('failed') + count('errors?'), ok && passed > 0 ? 0 : 1)
  console.log(`${failed === 0 ? 'ok  ' : 'FAIL'} ${folder}: ${output.trimEnd().split('\n').at(-1)}`)
  if (failed > 0) {
    console.log(output)
    failures.push({ name: folder, output })
  }
  return { passed, failed }
}

/** Files of `proc` at a time. Each may have a coordinator, its trainer, audits and volunteers: up to 2 GB of memory. */
const MOST_PROGRAMS = 4

/** What each suite runs, given the paths that are wanted of it. */
const SUITES = {
  checks: () =>
    [
      [bin('biome'), ['ci', '--colors=off', '.']],
      [process.execPath, ['scripts/prose.mjs']],
      ['npm', ['run', '--silent', 'imports']],
      [process.execPath, ['scripts/lint-python.mjs']],
      ...[TRAINER, WORLDS].map((folder) => [
        bin('pyright'),
        ['-p', `${folder}/pyproject.toml`, '--pythonpath', '.venv/bin/python'],
      ]),
    ].map(([command, args]) => ({ name: 'checks', run: () => check(command, args) })),
  unit: (paths) => uvu('unit', paths, BATCH),
  swarm: (paths) => uvu('swarm', paths),
  proc: (paths) => uvu('proc', paths).map((job) => ({ ...job, program: true })),
  // A run each: they have files of the same names.
  trainer: () =>
    [`${TRAINER}/tests`, 'scripts/build-demo-model/tests', `${WORLDS}/tests`].map((folder) => ({
      name: 'trainer',
      run: () => pytest(folder),
    })),
  release: () => [{ name: 'release', run: () => check(process.execPath, ['scripts/release-check.mjs']) }],
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
const { default: PQueue } = await import('p-queue') // installed by the set-up

const jobs = Object.entries(SUITES).flatMap(([name, suite]) => {
  const paths = wanted.length === 0 ? [name] : wanted.filter((path) => suiteOf(path) === name)
  return paths.length === 0 ? [] : suite(paths).map((job) => ({ ...job, suite: name }))
})
// One more than there are cores: programs that wait for each other leave a quarter of the time unused.
const cores = new PQueue({ concurrency: availableParallelism() + 1 })
const programs = new PQueue({ concurrency: MOST_PROGRAMS })
const started = performance.now()
const results = await Promise.all(
  jobs.map(async ({ suite, name, program, run }) => {
    const order = { priority: priorityOf(name) }
    const onACore = () => cores.add(run, order)
    return { suite, ...(await (program ? programs.add(onACore, order) : onACore())) }
  }),
)
for (const { name, output } of failures) console.log(`\n== FAILED ${name}\n${output}`)
console.log('')
for (const name of new Set(jobs.map(({ suite }) => suite))) {
  const own = results.filter(({ suite }) => suite === name)
  console.log(`== ${name}: ${sum(own, 'passed')} passed, ${sum(own, 'failed')} failed`)
}
const failed = sum(results, 'failed')
process.exitCode = failed === 0 ? 0 : 1
console.log(`in ${((performance.now() - started) / 60_000).toFixed(1)} minutes`)
console.log(`\n${sum(results, 'passed')} passed, ${failed} failed`)
