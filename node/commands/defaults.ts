import envPaths from 'env-paths'
import { packageRoot } from '../../common/cli/index.js'

/** Default data folder of a node. */
export const dataFolder = envPaths('prove-node', { suffix: '' }).data

/** Path of the demo's base model, which is part of this package. */
export const demoModel = `${packageRoot}models/demo/prove-demo-base-f16.gguf`
