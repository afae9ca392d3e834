import { type Command, InvalidArgumentError } from 'commander'
import { screenLines } from '../screen/screen-lines.js'
import { keepPause, readPause } from '../session/kept-pause.js'
import { FINISH, PAUSE, RESUME, STATUS } from '../session/routes.js'
import { nodeView } from '../session/view.js'
import { dataFolder } from './defaults.js'
import { findNode, reachNode } from './running-node.js'

const COLUMNS_OF_FILE = 100

const UNITS_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const LONGEST_MS = 90 * 86_400_000

/** `90m`, `1h30m`, `2d` as ms. */
export function durationArgument(text: string): number {
  const parts = [...text.matchAll(/(\d+)([smhd])/g)]
  const ms = parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNITS_MS[unit!]!, 0)
  if (parts.map(([part]) => part).join('') !== text || !(ms > 0 && ms <= LONGEST_MS))
    throw new InvalidArgumentError('Give a time such as 90m, 2h, 1h30m or 2d, at most 90 days.')
  return ms
}

interface StatusOptions {
  readonly dataDir: string
  readonly json: boolean
}

/** `prove-node status`: what a running node is doing. */
export function addStatusCommand(program: Command): void {
  program
    .command('status')
    .description('What the node that is running here is doing')
    .option('--data-dir <folder>', 'data directory of the node', dataFolder)
    .option('--json', 'one JSON object on stdout', false)
    .action(async ({ dataDir, json }: StatusOptions) => {
      const view = nodeView.parse(await (await reachNode(dataDir)).get(STATUS))
      const columns = process.stdout.isTTY ? process.stdout.columns : COLUMNS_OF_FILE
      const text = json ? JSON.stringify(view) : screenLines(view, { nowMs: Date.now(), columns }).join('\n')
      process.stdout.write(`${text}\n`)
    })
}

/** `prove-node pause`: a rest by the owner's wish. */
export function addPauseCommand(program: Command): void {
  program
    .command('pause')
    .description('Let the running node rest, and give back the memory of its engine')
    .option('--for <time>', 'such as 90m or 2h; otherwise until `resume`', durationArgument)
    .option('--now', 'give the group in hand back instead of finishing it', false)
    .option('--data-dir <folder>', 'data directory of the node', dataFolder)
    .action(async (options: { dataDir: string; for?: number; now: boolean }) => {
      const node = await reachNode(options.dataDir)
      const { phase } = nodeView.parse(await node.post(PAUSE, { forMs: options.for ?? null, atOnce: options.now }))
      process.stdout.write(
        phase === 'working' && !options.now ? 'it rests when the group in hand is finished\n' : 'it rests\n',
      )
    })
}

/** `prove-node resume`: the end of a pause. */
export function addResumeCommand(program: Command): void {
  program
    .command('resume')
    .description('End a pause; limits go on to hold')
    .option('--data-dir <folder>', 'data directory of the node', dataFolder)
    .action(async ({ dataDir }: { dataDir: string }) => {
      const node = await findNode(dataDir)
      if (node !== null) await node.post(RESUME, {})
      // A pause outlasts the node that it was told to.
      else if ((await readPause(dataDir)) !== null) await keepPause(dataDir, null)
      else await reachNode(dataDir)
      process.stdout.write('the pause is over\n')
    })
}

/** `prove-node finish`: a stop without loss. */
export function addFinishCommand(program: Command): void {
  program
    .command('finish')
    .description('Let the running node finish the group in hand, deliver it, and end')
    .option('--data-dir <folder>', 'data directory of the node', dataFolder)
    .action(async ({ dataDir }: { dataDir: string }) => {
      await (await reachNode(dataDir)).post(FINISH, {})
      process.stdout.write('it ends when the group in hand has its verdict, or after two minutes\n')
    })
}
