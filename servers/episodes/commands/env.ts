import { once } from 'node:events'
import { type Command, Option } from 'commander'
import type { RewardPreset } from '../../../rollout/reward/index.js'
import { SPLITS, type Split } from '../../../tasks/dataset/index.js'
import { loadEnvironments } from '../../catalogue.js'
import { withEnvironmentFolders } from '../../environment-option.js'
import { createTaskRuntime } from '../episode-runtime.js'
import { createEpisodes } from '../episodes.js'
import { EPISODE_SERVER_LIMITS } from '../limits.js'
import { REWARD_SIGNALS, type RewardSignal } from '../reward-signal.js'
import { serveEpisodes } from '../serve.js'
import { readTasks } from '../tasks.js'
import { type UserOptions, userSimulatorFor, userSimulatorSummary, withUserOptions } from '../user-simulator/options.js'
import {
  countOption,
  interruption,
  ListenError,
  originOption,
  portOption,
  rewardOption,
  stdinEnded,
} from './options.js'

interface EnvOptions extends UserOptions {
  readonly dataset: string
  readonly port: number
  readonly host: string
  readonly allowHost: string[]
  readonly allowOrigin: string[]
  readonly reward: RewardPreset
  readonly rewardSignal: RewardSignal
  readonly split: Split
  readonly maxEpisodes: number
  readonly maxEpisodesPerClient: number
  readonly endWithStdin: boolean
}

export function addEnvCommand(program: Command): void {
  withUserOptions(withEnvironmentFolders(program.command('env')))
    .description('Serve the tasks of a data set as episodes with tools, user turns and rewards, for any trainer')
    .requiredOption('--dataset <folder>', 'data set, from prove-lab synthesize')
    .option('--port <number>', 'port to listen on; 0: any free port', portOption, 8080)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--allow-host <names...>', 'additional host names that clients may use', [])
    .option('--allow-origin <origin>', 'web origin whose pages may send requests; repeatable', originOption, [])
    .addOption(rewardOption())
    .addOption(
      new Option(
        '--reward-signal <when>',
        'when an episode reports its reward: final (at its end), total (so far, after each action) or delta (its change)',
      )
        .choices(REWARD_SIGNALS)
        .default('final'),
    )
    .addOption(
      new Option('--split <name>', 'split of the data set, for requests without one').choices(SPLITS).default('train'),
    )
    .option('--max-episodes <number>', 'most open episodes', countOption, EPISODE_SERVER_LIMITS.episodes)
    .option(
      '--max-episodes-per-client <number>',
      'most open episodes of one address',
      countOption,
      EPISODE_SERVER_LIMITS.episodesPerClient,
    )
    .option('--end-with-stdin', 'end when stdin ends, for a parent process that holds the other end of a pipe', false)
    .action(serve)
}

async function serve(options: EnvOptions): Promise<void> {
  const { endWithStdin } = options
  try {
    await serveUntil(endWithStdin ? AbortSignal.any([interruption(), stdinEnded()]) : interruption(), options)
  } finally {
    // An open stdin would keep the process alive.
    if (endWithStdin) process.stdin.destroy()
  }
}

async function serveUntil(stopped: AbortSignal, options: EnvOptions): Promise<void> {
  const say = (line: string): void => void process.stderr.write(`prove-server: ${line}\n`)
  const unlessStopped = (error: unknown): null => {
    if (stopped.aborted) return null
    throw error
  }
  const environments = await loadEnvironments()
  const tasks = await readTasks(options.dataset, environments, stopped).catch(unlessStopped)
  const simulator = await userSimulatorFor(options, say, stopped).catch(unlessStopped)
  if (!tasks || simulator === null) return
  const { host, port, maxEpisodes, maxEpisodesPerClient: maxPerClient } = options
  const service = {
    tasks,
    episodes: createEpisodes(createTaskRuntime(environments), {
      ...{ maxEpisodes, maxPerClient },
      ...(simulator ? { simulator } : {}),
    }),
    defaults: { reward: options.reward, signal: options.rewardSignal, split: options.split },
  }
  const { allowHost: allowedHosts, allowOrigin: allowedOrigins } = options
  const served = await serveEpisodes(service, { host, port, allowedHosts, allowedOrigins }).catch((error: Error) => {
    throw new ListenError(host, port, error)
  })
  const counts = tasks.splits.map((name) => `${tasks.count(name)} ${name}`).join(', ')
  say(`${tasks.title}: tasks ${counts}; episodes at ${served.origin}`)
  if (!stopped.aborted) await once(stopped, 'abort')
  if (simulator) {
    await simulator.close()
    say(userSimulatorSummary(simulator, options.userSimulatorPrice))
  }
  await served.close()
}
