import { InvalidArgumentError } from 'commander'
import { type JoinAddress, parseJoinAddress } from '../../swarm/index.js'

/** A coordinator's address from the command line. @throws InvalidArgumentError */
export const addressArgument = (text: string): JoinAddress => {
  try {
    return parseJoinAddress(text)
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message)
  }
}
