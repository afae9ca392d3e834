import { existsSync } from 'node:fs'
import { join } from 'node:path'
import envPaths from 'env-paths'
import { packageRoot } from '../../common/cli/index.js'
import { pythonOf } from './python-setup.js'

/** Folder of the trainer's Python package. */
export const trainerFolder = join(packageRoot, 'coordinator', 'trainer')

/** Default folder in which `prove-coordinator setup` installs the trainer's packages. */
export const installedEnvironment = join(envPaths('prove-coordinator', { suffix: '' }).data, 'python')

/** Returns the Python of the checkout's `.venv`, or of `setup`, or of the system. */
export function defaultPython(): string {
  const own = [join(packageRoot, '.venv'), installedEnvironment].map(pythonOf)
  return own.find((python) => existsSync(python)) ?? 'python3'
}
