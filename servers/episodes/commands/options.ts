import { InvalidArgumentError, Option } from 'commander'
import { isOrigin } from '../../../common/http/index.js'
import { PAPER, REWARD_PRESETS } from '../../../rollout/reward/index.js'

/** Commander ends the process with 1 after a wrong option; wrong usage is 2 here, whichever part of it was wrong. */
export const WRONG_USAGE = 2

export const portOption = (text: string): number => {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new InvalidArgumentError('a port from 0 to 65535')
  return Number(text)
}

export const countOption = (text: string): number => {
  if (!/^\d{1,6}$/.test(text) || Number(text) < 1) throw new InvalidArgumentError('an integer from 1 to 999999')
  return Number(text)
}

export const originOption = (text: string, earlier: string[]): string[] => {
  if (!isOrigin(text)) throw new InvalidArgumentError('an origin such as http://localhost:5173')
  return [...earlier, text]
}

export const rewardOption = (): Option =>
  new Option('--reward <name>', 'the reward, where none is named')
    .argParser((text) => {
      const preset = REWARD_PRESETS.get(text)
      if (!preset) throw new InvalidArgumentError(`One of ${[...REWARD_PRESETS.keys()].join(', ')}.`)
      return preset
    })
    .default(PAPER, PAPER.name)

/** Fires when the program is asked to end. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort())
  return stop.signal
}

/** Fires when stdin ends: a program that was started with a pipe there is not left behind, however its parent ended. */
export function stdinEnded(): AbortSignal {
  const ended = new AbortController()
  for (const name of ['end', 'error'] as const) process.stdin.once(name, () => ended.abort())
  process.stdin.resume()
  return ended.signal
}

/** How the folder of a world is typed where worlds are named. */
export const shownFolder = (parent: string, name: string): string =>
  parent === '.' ? `./${name}` : `${parent}/${name}`
