// Sets the checkout up: pinned npm and Python packages inside the checkout, then the build. A second run skips every current step.
// Usage: node scripts/setup.mjs [--tests | --programs] [--gpu]
//   --tests: the trainer's test packages too; --programs: no Python; --gpu: the inference engine's builds for GPUs too
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** A prerequisite that the user has to install or repair. The message says how. */
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
  throw new MissingPrerequisite(`Node.js ${process.versions.node} is too old: install 20.19 or newer (nodejs.org).`)
}

/** Installs the npm packages. @param gpu  the builds of the inference engine for GPUs too: 1 instead of 0.4 GB on Linux */
function installNodeModules(gpu) {
  const stamp = `${root}node_modules/.prove-setup`
  const wanted = digest(readFileSync(`${root}package-lock.json`, 'utf8'), process.platform, process.arch, gpu)
  if (isCurrent(stamp, wanted)) return
  if (!isInstalled(gpu)) {
    console.error(`setup: installing npm packages${gpu ? ' with the builds for GPUs' : ''}`)
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    const hint = 'Check the network connection and try again.'
    // Not `npm ci`, which rejects a lock file that was made with a registry that lacks optional packages of other platforms. Either
    // command installs the locked versions.
    run('npm', ['install', '--no-save', ...flags, ...(gpu ? [] : ['--omit=optional'])], hint)
    if (!gpu) installBesides(platformPackages(false), flags, hint)
  }
  writeFileSync(stamp, wanted)
}

/** Installs packages that `npm install --omit=optional` leaves out. npm does not take them into this folder, so they are moved there. */
function installBesides(packages, flags, hint) {
  const besides = `${root}node_modules/.besides`
  rmSync(besides, { recursive: true, force: true })
  mkdirSync(besides, { recursive: true })
  run('npm', ['install', '--no-save', '--no-package-lock', '--prefix', besides, ...flags, ...packages], hint)
  for (const name of packages.map((one) => one.slice(0, one.lastIndexOf('@')))) {
    const target = `${root}node_modules/${name}`
    rmSync(target, { recursive: true, force: true })
    mkdirSync(dirname(target), { recursive: true })
    renameSync(`${besides}/node_modules/${name}`, target)
  }
  rmSync(besides, { recursive: true, force: true })
}

const readPackages = (path) => JSON.parse(readFileSync(`${root}${path}`, 'utf8')).packages

/** Whether npm has already put every needed package into node_modules, at the locked version. */
function isInstalled(gpu) {
  if (!existsSync(`${root}node_modules/.package-lock.json`)) return false
  const installed = readPackages('node_modules/.package-lock.json')
  const native = new Set(platformPackages(gpu))
  return Object.entries(readPackages('package-lock.json')).every(([path, { version, optional, peer, link }]) => {
    if (path === '' || peer || link) return true
    if (optional) return !native.has(`${nameOf(path)}@${version}`) || versionIn(path) === version
    return installed[path]?.version === version
  })
}

/** Returns the version of the package in a folder of node_modules; undefined: there is none. */
const versionIn = (path) =>
  existsSync(`${root}${path}/package.json`)
    ? JSON.parse(readFileSync(`${root}${path}/package.json`, 'utf8')).version
    : undefined

const nameOf = (path) => path.replace(/^.*node_modules\//, '')

/** Returns the native packages of this platform at the locked versions. @param gpu  the GPU builds of the inference engine too */
function platformPackages(gpu) {
  const { platform, arch } = process
  return Object.entries(readPackages('package-lock.json'))
    .filter(([path, { optional, os, cpu, libc }]) => {
      if (!optional || !os?.includes(platform) || !cpu?.includes(arch)) return false
      return (gpu || !/-(cuda|vulkan)|-ext$/.test(path)) && !libc?.includes('musl')
    })
    .map(([path, { version }]) => `${nameOf(path)}@${version}`)
}

/** Installs Python packages of the trainer into a virtual environment inside the checkout. */
export async function installPython(requirements) {
  const { setUpPython } = await import('../dist/coordinator/jobs/python-setup.js')
  await setUpPython({
    folder: `${root}.venv`,
    requirements: requirements.map((name) => `${root}coordinator/trainer/${name}`),
    ...(process.env.PYTHON ? { candidates: [process.env.PYTHON] } : {}),
    onStep: (what) => console.error(`setup: ${what}`),
    signal: new AbortController().signal,
  })
}

/** Brings the checkout up to date. @returns the seconds that the set-up took */
export async function setup({ tests = false, python = true, gpu = false } = {}) {
  const started = performance.now()
  checkNode()
  installNodeModules(gpu)
  const { build } = await import('./build.mjs')
  build()
  if (python) await installPython(['requirements.txt', ...(tests ? ['requirements-test.txt'] : [])])
  return (performance.now() - started) / 1000
}

/** Runs `setup` for a command: a failure prints one line and ends the process. */
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
    gpu: process.argv.includes('--gpu'),
  })
  console.error(`setup: ready (${seconds.toFixed(1)} s)`)
}
