// Sets the checkout up and runs every check and test suite. The last line is `N passed, N failed`.
// Usage: node scripts/test.mjs [suite ...]   suites: checks unit swarm proc trainer
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { setupOrExit } from './setup.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const TRAINER = 'coordinator/trainer'
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

const sum = (results, key) => results.reduce((total, result) => total + result[key], 0)

/** A check that passes or fails as a whole. */
async function check(command, args) {
  const { ok } = await run(command, args)
  return { passed: Number(ok), failed: Number(!ok) }
}

/**
 * One process per file, so that a file which ends its process hides no other.
 * @param atOnce  files at a time: 1 where a test starts processes of its own
 */
async function uvu(suite, atOnce) {
  const folder = `dist/test/${suite}`
  const files = readdirSync(root + folder, { recursive: true })
    .filter((name) => name.endsWith('.test.js'))
    .sort()
  const { default: pLimit } = await import('p-limit') // installed by the set-up
  const limit = pLimit(atOnce)
  const results = await Promise.all(files.map((name) => limit(() => uvuFile(`${folder}/${name}`))))
  // A suite without tests has failed.
  if (files.length === 0) return { passed: 0, failed: 1 }
  return { passed: sum(results, 'passed'), failed: sum(results, 'failed') }
}

/** uvu exits 0 when it ran nothing, so its summary is counted; a file without tests has failed. */
async function uvuFile(file) {
  const started = performance.now()
  const { ok, output } = await run(process.execPath, [file], { quiet: true })
  const count = (label) => Number(output.match(new RegExp(`^  ${label}:\\s+(\\d+)`, 'm'))?.[1] ?? 0)
  const total = count('Total')
  const passed = count('Passed')
  const failed = Math.max(total - passed, ok && total > 0 ? 0 : 1)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(
    `${failed === 0 ? 'ok  ' : 'FAIL'} ${file.slice('dist/'.length)}: ${passed} passed, ${failed} failed in ${seconds} s`,
  )
  if (failed > 0) console.log(output)
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
  return { passed: count('passed'), failed: Math.max(failed, ok && count('passed') > 0 ? 0 : 1) }
}

const SUITES = {
  checks: async () => {
    const lint = await check(bin('biome'), ['ci', '.'])
    const rooms = await check('npm', ['run', '--silent', 'rooms'])
    const python = await check(process.execPath, ['scripts/lint-python.mjs'])
    const types = await check(bin('pyright'), ['-p', `${TRAINER}/pyproject.toml`, '--pythonpath', '.venv/bin/python'])
    const all = [lint, rooms, python, types]
    return { passed: sum(all, 'passed'), failed: sum(all, 'failed') }
  },
  unit: () => uvu('unit', availableParallelism()),
  swarm: () => uvu('swarm', 1),
  proc: () => uvu('proc', 1),
  // Two runs: both folders have a test_export.py.
  trainer: async () => {
    const trainer = await pytest(`${TRAINER}/tests`)
    const model = await pytest('scripts/build-demo-model/tests')
    return { passed: trainer.passed + model.passed, failed: trainer.failed + model.failed }
  },
}

const wanted = process.argv.slice(2)
const unknown = wanted.find((name) => !Object.hasOwn(SUITES, name))
if (unknown !== undefined) {
  console.error(`there is no suite "${unknown}"; choose from ${Object.keys(SUITES).join(', ')}`)
  process.exit(2)
}
await setupOrExit({ tests: true })
const total = { passed: 0, failed: 0 }
for (const [name, suite] of Object.entries(SUITES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  console.log(`\n== ${name}`)
  const started = performance.now()
  const { passed, failed } = await suite()
  console.log(
    `== ${name}: ${passed} passed, ${failed} failed in ${((performance.now() - started) / 1000).toFixed(0)} s`,
  )
  total.passed += passed
  total.failed += failed
}
process.exitCode = total.failed === 0 ? 0 : 1
console.log(`\n${total.passed} passed, ${total.failed} failed`)
