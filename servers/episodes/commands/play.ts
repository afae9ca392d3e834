import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Command } from 'commander'
import { UsageError } from '../../../common/errors/index.js'
import type { Task } from '../../../rollout/episode/index.js'
import type { RewardPreset } from '../../../rollout/reward/index.js'
import { SPLITS } from '../../../tasks/dataset/index.js'
import { environmentsNamed, loadEnvironments, namesEnvironment, outsideFolder } from '../../catalogue.js'
import { withEnvironmentFolders } from '../../environment-option.js'
import { createTaskRuntime } from '../episode-runtime.js'
import { EPISODE_SERVER_LIMITS } from '../limits.js'
import { servePlayground } from '../playground/serve-playground.js'
import { shippedTasks } from '../playground/shipped-tasks.js'
import { playInTerminal } from '../playground/terminal.js'
import { readTasks } from '../tasks.js'
import { type UserOptions, userSimulatorFor, userSimulatorSummary, withUserOptions } from '../user-simulator/options.js'
import { interruption, ListenError, portOption, rewardOption } from './options.js'

interface PlayOptions extends UserOptions {
  readonly dataset?: string
  readonly port?: number
  readonly host: string
  readonly reward: RewardPreset
}

export function addPlayCommand(program: Command): void {
  withUserOptions(withEnvironmentFolders(program.command('play')))
    .description('Play tasks yourself in the terminal or in a web page, with calls, state changes and rewards')
    .argument('[environments...]', 'only tasks with one of these environments; default: all tasks')
    .option('--dataset <folder>', 'data set, with the tasks; default: the tasks that come with the program')
    .option(
      '--port <number>',
      'port to listen on, for a web page in which the environments run; 0: any free port',
      portOption,
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .addOption(rewardOption())
    .action(play)
}

async function play(names: string[], options: PlayOptions): Promise<void> {
  const { dataset, port, host, reward, userSimulator, userSimulatorModel } = options
  if (port !== undefined && (userSimulator ?? userSimulatorModel) !== undefined)
    return refuse('the page has no user simulator: remove --port to play in the terminal, or remove --user-simulator…')
  const unknown = names.find((name) => !namesEnvironment(name))
  if (unknown !== undefined) return refuse(`no environment "${unknown}": run prove-server list for the names`)
  const environments = new Set((await environmentsNamed(names)).map(({ name }) => name))
  const stopped = interruption()
  const all = dataset === undefined ? await shippedTasks() : await tasksIn(dataset, stopped)
  const tasks = all.filter(
    (task) => environments.size === 0 || task.environments.some(({ environment }) => environments.has(environment)),
  )
  if (tasks.length === 0)
    return refuse(
      `no task has one of the environments ${[...environments].join(', ')}: make some with prove-lab synthesize, and name them with --dataset`,
    )
  if (port === undefined) {
    const say = (line: string): void => void process.stderr.write(`prove-server: ${line}\n`)
    const simulator = await userSimulatorFor(options, say, stopped).catch((error: unknown) => {
      if (stopped.aborted) return null
      throw error
    })
    if (simulator === null) return
    const runtime = createTaskRuntime(await loadEnvironments())
    // An interface drops the lines that arrive before somebody reads them, so nothing may wait between the two.
    const lines = createInterface({ input: process.stdin, signal: stopped })
    try {
      await playInTerminal({
        ...{ tasks, reward, lines, runtime, ...(simulator ? { simulator } : {}) },
        write: (text) => process.stdout.write(text),
      })
    } finally {
      lines.close()
      await simulator?.close()
    }
    if (simulator) say(userSimulatorSummary(simulator, options.userSimulatorPrice))
    return
  }
  const outside = tasks
    .flatMap(({ environments: of }) => of)
    .find(({ environment }) => outsideFolder(environment) !== undefined)
  if (outside)
    return refuse(
      `the environment ${outside.environment} is not part of the page: remove --port to play in the terminal`,
    )
  const { playgroundTasks: most } = EPISODE_SERVER_LIMITS
  const isShipped = dataset === undefined && tasks.length === all.length
  const served = await servePlayground({ host, port, reward, tasks: isShipped ? null : tasks.slice(0, most) }).catch(
    (error: Error) => {
      throw new ListenError(host, port, error)
    },
  )
  const shown = tasks.length > most ? `the first ${most} of ${tasks.length}` : `${tasks.length}`
  process.stderr.write(`prove-server: ${shown} tasks to play at ${served.origin}\n`)
  if (!stopped.aborted) await once(stopped, 'abort')
  await served.close()
}

async function tasksIn(folder: string, signal: AbortSignal): Promise<Task[]> {
  const tasks = await readTasks(folder, await loadEnvironments(), signal)
  return SPLITS.flatMap((split) => [...tasks.range(split, 0, tasks.count(split))])
}

function refuse(why: string): never {
  throw new UsageError('usage', why)
}
