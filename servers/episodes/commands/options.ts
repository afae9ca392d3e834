import { InvalidArgumentError, Option } from 'commander'
import { stopSignal } from '../../../common/cli/index.js'
import { CodedError } from '../../../common/errors/index.js'
import { isOrigin } from '../../../common/http/index.js'
import { PAPER, REWARD_PRESETS } from '../../../rollout/reward/index.js'

/** Parses a TCP port; 0 means any free port. */
export const portOption = (text: string): number => {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new InvalidArgumentError('Give a port from 0 to 65535.')
  return Number(text)
}

/** Parses a number of sessions or episodes. */
export const countOption = (text: string): number => {
  if (!/^\d{1,6}$/.test(text) || Number(text) < 1) throw new InvalidArgumentError('Give an integer from 1 to 999999.')
  return Number(text)
}

/** Parses one value of a repeatable option for web origins. */
export const originOption = (text: string, earlier: string[]): string[] => {
  if (!isOrigin(text)) throw new InvalidArgumentError('Give an origin such as http://localhost:5173.')
  return [...earlier, text]
}

/** Creates `--reward`. */
export const rewardOption = (): Option =>
  new Option(
    '--reward <name>',
    `reward preset, unless a request names another: ${[...REWARD_PRESETS.keys()].join(', ')}`,
  )
    .argParser((text) => {
      const preset = REWARD_PRESETS.get(text)
      if (!preset) throw new InvalidArgumentError(`Choose from ${[...REWARD_PRESETS.keys()].join(', ')}.`)
      return preset
    })
    .default(PAPER, PAPER.name)

/** The server cannot listen on its address and port. */
export class ListenError extends CodedError<'bad_listen'> {
  constructor(host: string, port: number, cause: Error) {
    super('bad_listen', `${host}, port ${port}: ${cause.message}; choose another with --port or --host`, { cause })
  }
}

/** Returns a signal that aborts at the first SIGINT or SIGTERM. */
export const interruption = (): AbortSignal => stopSignal().signal

/** Returns a signal that aborts when stdin ends, so a child process with a pipe there ends with its parent. */
export function stdinEnded(): AbortSignal {
  const ended = new AbortController()
  for (const name of ['end', 'error'] as const) process.stdin.once(name, () => ended.abort())
  process.stdin.resume()
  return ended.signal
}

/** Returns the path of an environment's folder as a user types it for `--environments`. */
export const shownFolder = (parent: string, name: string): string =>
  parent === '.' ? `./${name}` : `${parent}/${name}`
