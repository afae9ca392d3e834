import { homedir } from 'node:os'
import { packageRoot } from '../../common/cli/index.js'

/**
 * Default data folder of a node. If this user has no home folder, it is empty, and commands need `--data-dir`. The library asks the
 * system for the home folder when it is loaded.
 */
export const dataFolder = hasHome() ? (await import('env-paths')).default('prove-node', { suffix: '' }).data : ''

/** Tests whether the system knows a home folder of this user. @param home  asks the system */
export function hasHome(home: () => string = homedir): boolean {
  try {
    return home() !== ''
  } catch {
    return false
  }
}

/** Path of the demo's base model, which is part of this package. */
export const demoModel = `${packageRoot}models/demo/prove-demo-base-f16.gguf`
