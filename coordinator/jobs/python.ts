import { existsSync } from 'node:fs'
import { join } from 'node:path'
import envPaths from 'env-paths'
import { packageRoot } from '../../common/cli/index.js'
import { pythonOf } from './python-setup.js'

/** The folder that holds the trainer's Python package. */
export const trainerFolder = join(packageRoot, 'coordinator', 'trainer')

/** Where `prove-coordinator setup` puts the trainer's packages unless told otherwise. */
export const installedEnvironment = join(envPaths('prove-coordinator', { suffix: '' }).data, 'python')

/** The Python of the checkout's own environment, or of the one that `setup` made, or the system's where there is neither. */
export function defaultPython(): string {
  const own = [join(packageRoot, '.venv'), installedEnvironment].map(pythonOf)
  return own.find((python) => existsSync(python)) ?? 'python3'
}
