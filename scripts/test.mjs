// Sets the checkout up and runs every check and test suite. The last line is `N passed, N failed`.
// Usage: node scripts/test.mjs [suite ...]   suites: checks unit swarm proc trainer
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { setupOrExit } from './setup.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const bin = (name) => `${root}node_modules/.bin/${name}`
const ROOMS = [
  'proto',
  'servers',
  'engine',
  'reward',
  'episode',
  'synthesis',
  'swarm',
  'judging',
  'node',
  'coordinator',
]
/** A suite that hangs is a failure, not a lost afternoon. */
const SUITE_TIMEOUT_MS = 20 * 60_000

/** Runs a command, shows its output, and returns both. */
function run(command, args, env = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, ...env },
      timeout: SUITE_TIMEOUT_MS,
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk
        process.stdout.write(chunk)
      })
    }
    child.stdin.end()
    child.on('error', (error) => resolve({ ok: false, output: `${output}\n${error.message}` }))
    child.on('close', (code) => resolve({ ok: code === 0, output }))
  })
}

/** A check that passes or fails as a whole. */
async function check(command, args) {
  const { ok } = await run(command, args)
  return { passed: Number(ok), failed: Number(!ok) }
}

/** uvu exits 0 when it ran nothing, so its summary is counted; a suite without tests has failed. */
async function uvu(suite) {
  const { ok, output } = await run(process.execPath, [
    `${root}node_modules/uvu/bin.js`,
    `dist/test/${suite}`,
    '\\.test\\.js$',
  ])
  const count = (label) => Number(output.match(new RegExp(`^  ${label}:\\s+(\\d+)`, 'm'))?.[1] ?? 0)
  const total = count('Total')
  const passed = count('Passed')
  const failed = Math.max(total - passed, ok && total > 0 ? 0 : 1)
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
    const rooms = await check(bin('depcruise'), ['--config', '.dependency-cruiser.cjs', ...ROOMS])
    return { passed: lint.passed + rooms.passed, failed: lint.failed + rooms.failed }
  },
  unit: () => uvu('unit'),
  swarm: () => uvu('swarm'),
  proc: () => uvu('proc'),
  // Two runs: both folders have a test_export.py.
  trainer: async () => {
    const trainer = await pytest('coordinator/trainer/tests')
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
