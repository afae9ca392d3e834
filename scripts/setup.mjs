// Sets the checkout up: pinned npm and Python dependencies inside it, then the build. Safe to run again: what is current
// is left alone. Usage: node scripts/setup.mjs [--tests | --programs]   --programs: what a package is made of, without Python
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Something the user has to install or repair; the message says what and how. */
class MissingPrerequisite extends Error {}

const digest = (...parts) => createHash('sha256').update(parts.join('\n')).digest('hex')
const isCurrent = (stamp, wanted) => existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted

function run(command, args, what) {
  const result = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  if (result.error?.code === 'ENOENT') throw new MissingPrerequisite(`${command} was not found. ${what}`)
  if (result.status !== 0) throw new Error(`${command} ${args.slice(0, 3).join(' ')} … failed. ${what}`)
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return
  throw new MissingPrerequisite(`Node.js ${process.versions.node} is too old: 20.19 or newer is needed (nodejs.org).`)
}

/** npm packages. PROVE_LEAN=1 leaves out the GPU builds of the inference engine: 0.4 instead of 1 GB on Linux. */
function installNodeModules() {
  const lean = process.env.PROVE_LEAN === '1'
  const stamp = `${root}node_modules/.prove-setup`
  const wanted = digest(readFileSync(`${root}package-lock.json`, 'utf8'), process.platform, process.arch, lean)
  if (isCurrent(stamp, wanted)) return
  console.error(`setup: installing npm packages${lean ? ' (lean: CPU builds only)' : ''}`)
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const hint = 'Check the network connection and try again.'
  // Not `npm ci`: it refuses a lock file made where a registry lacks other platforms' optional packages. The versions are
  // the locked ones either way.
  run('npm', ['install', '--no-save', ...flags, ...(lean ? ['--omit=optional'] : [])], hint)
  if (lean) run('npm', ['install', '--no-save', '--omit=optional', ...flags, ...platformPackages()], hint)
  writeFileSync(stamp, wanted)
}

/** The native packages of this platform, CPU builds only, at the versions of the lock file. */
function platformPackages() {
  const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8'))
  const { platform, arch } = process
  return Object.entries(packages)
    .filter(([path, { optional, os, cpu, libc }]) => {
      if (!optional || !os?.includes(platform) || !cpu?.includes(arch)) return false
      return !/-(cuda|vulkan)|-ext$/.test(path) && !libc?.includes('musl')
    })
    .map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')}@${version}`)
}

/** Python packages of the trainer, in a virtual environment inside the checkout, as an installed coordinator has them in its own. */
async function installPython(requirements) {
  const { setUpPython } = await import('../dist/coordinator/jobs/python-setup.js')
  await setUpPython({
    folder: `${root}.venv`,
    requirements: requirements.map((name) => `${root}coordinator/trainer/${name}`),
    ...(process.env.PYTHON ? { candidates: [process.env.PYTHON] } : {}),
    onStep: (what) => console.error(`setup: ${what}`),
    signal: new AbortController().signal,
  })
}

/** Brings the checkout up to date. @returns seconds it took */
export async function setup({ tests = false, python = true } = {}) {
  const started = performance.now()
  checkNode()
  installNodeModules()
  const { build } = await import('./build.mjs')
  build()
  if (python) await installPython(['requirements.txt', ...(tests ? ['requirements-test.txt'] : [])])
  return (performance.now() - started) / 1000
}

/** Like `setup`, for commands: a failure ends the process with one clear line. */
export async function setupOrExit(options) {
  try {
    return await setup(options)
  } catch (error) {
    console.error(`setup: ${error.message}`)
    process.exit(error instanceof MissingPrerequisite ? 2 : 1)
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const seconds = await setupOrExit({
    tests: process.argv.includes('--tests'),
    python: !process.argv.includes('--programs'),
  })
  console.error(`setup: ready (${seconds.toFixed(1)} s)`)
}
