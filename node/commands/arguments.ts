import { InvalidArgumentError } from 'commander'
import envPaths from 'env-paths'
import { packageRoot } from '../../cli/index.js'
import { type JoinAddress, parseJoinAddress } from '../../swarm/index.js'

/** Where a node keeps what is its own, unless it is told otherwise. */
export const dataFolder = envPaths('prove-node', { suffix: '' }).data

/** The demo's base model, which comes with this package. */
export const demoModel = `${packageRoot}models/demo/prove-demo-base-f16.gguf`

/** A coordinator's address from the command line. @throws InvalidArgumentError */
export const addressArgument = (text: string): JoinAddress => {
  try {
    return parseJoinAddress(text)
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message)
  }
}
