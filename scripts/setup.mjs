// Sets the checkout up: pinned npm and Python dependencies inside it, then the build. Safe to run again: what is current
// is left alone. Usage: node scripts/setup.mjs [--tests]
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const python = `${root}.venv/bin/python`
const trainer = `${root}coordinator/trainer`

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

/** The first Python that is new enough and has the venv module. */
function findPython() {
  const probe = 'import sys, venv, ensurepip; print("%d.%d" % sys.version_info[:2])'
  for (const command of [process.env.PYTHON, 'python3', 'python'].filter(Boolean)) {
    const found = spawnSync(command, ['-c', probe], { encoding: 'utf8' })
    const [major, minor] = (found.stdout ?? '').trim().split('.').map(Number)
    if (found.status === 0 && major === 3 && minor >= 10) return command
  }
  throw new MissingPrerequisite(
    'Python 3.10 or newer with the venv module was not found. Install it (Debian: apt install python3 python3-venv), or name one: PYTHON=/path/to/python3',
  )
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

/** Python packages of the trainer, in a virtual environment inside the checkout. */
function installPython(requirements) {
  const text = ['requirements.txt', requirements].map((name) => readFileSync(`${trainer}/${name}`, 'utf8'))
  const stamp = `${root}.venv/.prove-setup-${requirements}`
  const wanted = digest(...text)
  if (isCurrent(stamp, wanted)) return
  const command = findPython()
  if (!existsSync(python)) run(command, ['-m', 'venv', '.venv'], 'Debian needs the package python3-venv for this.')
  console.error('setup: installing Python packages (PyTorch is large; this takes a while)')
  const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', `${trainer}/${requirements}`]
  // Everything is pinned, so an index that does not answer is passed over at once; patience only if that was not enough.
  const quick = spawnSync(python, [...install, '--retries', '0', '--timeout', '5'], { cwd: root, stdio: 'ignore' })
  if (quick.status !== 0) run(python, [...install, '--retries', '5'], 'Check the network connection and try again.')
  writeFileSync(stamp, wanted)
}

/** Brings the checkout up to date. @returns seconds it took */
export async function setup({ tests = false } = {}) {
  const started = performance.now()
  checkNode()
  installNodeModules()
  installPython('requirements.txt')
  if (tests) installPython('requirements-test.txt')
  const { build } = await import('./build.mjs')
  build()
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
  const seconds = await setupOrExit({ tests: process.argv.includes('--tests') })
  console.error(`setup: ready (${seconds.toFixed(1)} s)`)
}
