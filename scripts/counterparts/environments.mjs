// Python environments of the suite `counterparts`: one per row, with pinned packages, in .cache/counterparts/<row>-<hash of the pins>.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { root, runGroup } from '../processes.mjs'

const CACHE = `${root}.cache/counterparts`
const INSTALL_LIMIT_MS = 20 * 60_000
const PROBE_LIMIT_MS = 30_000
/** Packages that every row has: the runner of its tests, and prove-worlds from this checkout, as an editable installation. */
const ALWAYS = ['pytest==9.1.1', 'setuptools==84.2.1']
const WORLDS = `${root}prove-worlds`

/** A reason to skip a row: this machine lacks the Python that the row needs. */
export class MissingPython extends Error {}

export const constraintsOf = (row) => `${root}test/counterparts/constraints/${row.name}.txt`

/** Returns the folder of a row's environment. Any change of its packages, constraints or options gives another folder. */
export function folderOf(row) {
  const constraints = constraintsOf(row)
  const pins = existsSync(constraints) ? readFileSync(constraints, 'utf8') : ''
  const { packages, python, torch, pip = [] } = row
  const parts = [packages, python, torch, pip, ALWAYS, pins, readFileSync(`${WORLDS}/pyproject.toml`, 'utf8')]
  return `${CACHE}/${row.name}-${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12)}`
}

const pythonIn = (folder) => `${folder}/bin/python`
const stampIn = (folder) => `${folder}/installed`

/** Whether a row's environment is complete, so that its tests need no network. */
export const isInstalled = (row) => row.npm !== undefined || existsSync(stampIn(folderOf(row)))

/**
 * Returns the Python of a row's environment, which is installed if missing. An older environment of the same row is removed.
 * @throws MissingPython  if this machine has no Python of the row's version
 * @throws Error          with the output of pip
 */
export async function installRow(row) {
  const folder = folderOf(row)
  if (existsSync(stampIn(folder))) return pythonIn(folder)
  mkdirSync(CACHE, { recursive: true })
  for (const name of readdirSync(CACHE))
    if (/^[0-9a-f]{12}$/.test(name.slice(row.name.length + 1)) && name.startsWith(`${row.name}-`))
      rmSync(`${CACHE}/${name}`, { recursive: true })
  const constraints = constraintsOf(row)
  await install(folder, row, row.packages, existsSync(constraints) ? ['-c', constraints] : [])
  return pythonIn(folder)
}

/** Returns the Python of a new environment with the newest versions of a row's packages. */
export async function installNewest(row) {
  const folder = `${CACHE}/${row.name}-newest`
  rmSync(folder, { recursive: true, force: true })
  await install(
    folder,
    row,
    row.packages.map((pin) => pin.split('==')[0]),
    ['--upgrade'],
  )
  return pythonIn(folder)
}

async function install(folder, { name, python, torch, pip = [] }, packages, options) {
  // The trainer's environment has torch, which need not be installed again. Compiled packages fit one version of Python only.
  const command = torch ? `${root}.venv/bin/python` : await findPython(python)
  if (command === null)
    throw new MissingPython(
      `needs Python ${python} with venv (on the PATH as python${python}, in ~/.pyenv/versions, or named by PROVE_PYTHON)`,
    )
  try {
    await run(command, ['-m', 'venv', folder], `${name}: no environment could be made`)
    if (torch) writeFileSync(`${await sitePackages(pythonIn(folder))}/trainer.pth`, `${await sitePackages(command)}\n`)
    const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...pip, ...options]
    await run(pythonIn(folder), [...install, ...ALWAYS, ...packages], `${name}: pip failed`)
    const local = ['--no-build-isolation', '-e', WORLDS]
    await run(pythonIn(folder), [...install, ...local], `${name}: pip could not install prove-worlds`)
    writeFileSync(stampIn(folder), `${packages.join('\n')}\n`)
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

/** Returns the lines of `pip freeze` for the packages of a row's environment itself. */
export async function freeze(python) {
  const { ok, output: lines } = await runGroup(
    python,
    ['-m', 'pip', 'freeze', '--exclude-editable', '--path', await sitePackages(python)],
    { limitMs: PROBE_LIMIT_MS },
  )
  if (!ok) throw new Error(lines)
  return lines.split('\n').filter((line) => line.includes('=='))
}

const sitePackages = (python) => output(python, 'import sysconfig; print(sysconfig.get_paths()["purelib"])')

/** Returns a command for a Python of at least this version, with venv; null: there is none. PROVE_PYTHON names one. */
async function findPython(version) {
  const [major, minor] = version.split('.').map(Number)
  const names = Array.from({ length: 8 }, (_, i) => `python${major}.${minor + i}`)
  const versions = `${homedir()}/.pyenv/versions`
  const managed = (existsSync(versions) ? readdirSync(versions).sort() : []).flatMap((folder) =>
    names.map((name) => `${versions}/${folder}/bin/${name}`).filter(existsSync),
  )
  const { PROVE_PYTHON } = process.env
  for (const command of [...(PROVE_PYTHON ? [PROVE_PYTHON] : []), 'python3', ...names, ...managed]) {
    const probe = 'import sys, venv, ensurepip; print("%d.%d" % sys.version_info[:2])'
    const { ok, output: found } = await runGroup(command, ['-c', probe], { limitMs: PROBE_LIMIT_MS })
    const [theirMajor = 0, theirMinor = 0] = ok ? found.trim().split('.').map(Number) : []
    if (theirMajor === major && theirMinor >= minor) return command
  }
  return null
}

async function output(python, code) {
  const { ok, output: text } = await runGroup(python, ['-c', code], { limitMs: PROBE_LIMIT_MS })
  if (!ok) throw new Error(text)
  return text.trim()
}

async function run(command, args, what) {
  const result = await runGroup(command, args, { limitMs: INSTALL_LIMIT_MS })
  if (!result.ok) throw new Error(`${what}: ${result.output.trim().slice(-2000)}`)
}
