import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Root of the package: Python's sources and its environment are not compiled into dist/. */
const packageRoot = fileURLToPath(new URL(import.meta.url.includes('/dist/') ? '../../../' : '../../', import.meta.url))

/** The folder that holds the trainer's Python package. */
export const trainerFolder = join(packageRoot, 'coordinator', 'trainer')

/** The Python of the checkout's own environment, or the system's where the set-up has made none. */
export function defaultPython(): string {
  const own = join(packageRoot, '.venv', 'bin', 'python')
  return existsSync(own) ? own : 'python3'
}
