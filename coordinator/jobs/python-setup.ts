import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { TrainerError } from './errors.js'

/** Supported versions of Python, unless a set-up has others. */
const SUPPORTED: PythonRange = { oldest: [3, 10] }
/** An index that does not answer is skipped at once, because all packages are pinned. Retries follow only if that fails. */
const QUICK = ['--retries', '0', '--timeout', '5']
const PATIENT = ['--retries', '5']

type Version = readonly [major: number, minor: number]

export interface PythonRange {
  readonly oldest: Version
  /** Default: any of the same major version. */
  readonly newest?: Version
}

export interface PythonSetup {
  /** Folder of the virtual environment, which is created if missing. */
  readonly folder: string
  /** Files of pinned packages, as pip reads them. */
  readonly requirements: readonly string[]
  /** Commands that may be a Python. The first that is new enough is used. Default: those of the system. */
  readonly candidates?: readonly string[]
  /** Versions of Python that the packages support. Default: 3.10 and newer. */
  readonly supported?: PythonRange
  /** Text for messages: what is installed, and how large it is. */
  readonly contents?: string
  /** Whether the files name every package that is needed. Then pip adds no dependencies, and compiles a module when it is first imported. */
  readonly complete?: boolean
  /** Called before each step that takes long. */
  readonly onStep: (what: string) => void
  readonly signal: AbortSignal
}

/** Returns the interpreter of a virtual environment. */
export const pythonOf = (folder: string): string => join(folder, 'bin', 'python')

/**
 * Installs pinned Python packages into a virtual environment. Does nothing when they are installed.
 * @returns  the interpreter that has them
 * @throws TrainerError `no_python`, `trainer_unusable` with instructions
 */
export async function setUpPython(setup: PythonSetup): Promise<string> {
  const { folder, requirements, candidates = ['python3', 'python'], supported = SUPPORTED, onStep, signal } = setup
  const { contents = 'PyTorch is large; this takes a while', complete = false } = setup
  const python = pythonOf(folder)
  const stamp = join(folder, `.installed-${await hashOf(requirements)}`)
  if (existsSync(python) && existsSync(stamp)) return python
  if (!existsSync(python)) {
    const command = await findPython(candidates, supported, signal)
    onStep(`creating a Python environment in ${folder}`)
    await run(command, ['-m', 'venv', folder], 'on Debian, install the package python3-venv', signal)
  }
  onStep(`installing Python packages (${contents})`)
  const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
  if (complete) install.push('--no-deps', '--no-compile')
  const files = requirements.flatMap((file) => ['-r', file])
  const quick = await execa(python, [...install, ...files, ...QUICK], { reject: false, cancelSignal: signal })
  if (quick.failed)
    await run(python, [...install, ...files, ...PATIENT], 'check the network connection and try again', signal)
  await writeFile(stamp, '')
  return python
}

async function hashOf(files: readonly string[]): Promise<string> {
  const hash = createHash('sha256')
  for (const file of files) hash.update(await readFile(file))
  return hash.digest('hex').slice(0, 16)
}

async function findPython(
  candidates: readonly string[],
  { oldest, newest }: PythonRange,
  signal: AbortSignal,
): Promise<string> {
  const probe = 'import sys, venv, ensurepip; print("%d.%d" % sys.version_info[:2])'
  for (const command of candidates) {
    const { stdout, failed } = await execa(command, ['-c', probe], { reject: false, cancelSignal: signal })
    signal.throwIfAborted()
    const [major = 0, minor = 0] = failed ? [] : stdout.trim().split('.').map(Number)
    if (major === oldest[0] && minor >= oldest[1] && minor <= (newest?.[1] ?? minor)) return command
  }
  const wanted = `${oldest.join('.')} ${newest === undefined ? 'or newer' : `to ${newest.join('.')}`}`
  throw new TrainerError(
    'no_python',
    `Python ${wanted} with the venv module was not found: install it (Debian: apt install python3 python3-venv), or name one with --python`,
  )
}

async function run(command: string, args: readonly string[], advice: string, cancelSignal: AbortSignal): Promise<void> {
  const { failed, stderr } = await execa(command, args, { reject: false, cancelSignal })
  cancelSignal.throwIfAborted()
  if (failed) throw new TrainerError('trainer_unusable', `${command} failed: ${stderr.trim().slice(-500)} (${advice})`)
}
