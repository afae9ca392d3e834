import envPaths from 'env-paths'
import { packageRoot } from '../../common/cli/index.js'

/** Where a node keeps what is its own, unless it is told otherwise. */
export const dataFolder = envPaths('prove-node', { suffix: '' }).data

/** The demo's base model, which comes with this package. */
export const demoModel = `${packageRoot}models/demo/prove-demo-base-f16.gguf`
