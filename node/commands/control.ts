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

/** Parses a duration such as `90m`, `1h30m` or `2d`. @returns ms */
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

/** Adds `prove-node status`: the current state of a node. */
export function addStatusCommand(program: Command): void {
  program
    .command('status')
    .description('Show what the running node does')
    .option('--data-dir <folder>', 'data folder of the program', dataFolder)
    .option('--json', 'print JSON on stdout', false)
    .action(async ({ dataDir, json }: StatusOptions) => {
      const view = nodeView.parse(await (await reachNode(dataDir)).get(STATUS))
      const columns = process.stdout.isTTY ? process.stdout.columns : COLUMNS_OF_FILE
      const text = json ? JSON.stringify(view) : screenLines(view, { nowMs: Date.now(), columns }).join('\n')
      process.stdout.write(`${text}\n`)
    })
}

/** Adds `prove-node pause`. */
export function addPauseCommand(program: Command): void {
  program
    .command('pause')
    .description('Pause the running node, and free the memory of its engine')
    .option('--for <time>', 'duration such as 90m or 2h; default: until `resume`', durationArgument)
    .option('--now', 'give back the groups in progress instead of finishing them', false)
    .option('--data-dir <folder>', 'data folder of the program', dataFolder)
    .action(async (options: { dataDir: string; for?: number; now: boolean }) => {
      const node = await reachNode(options.dataDir)
      const { phase } = nodeView.parse(await node.post(PAUSE, { forMs: options.for ?? null, atOnce: options.now }))
      process.stdout.write(
        phase === 'working' && !options.now
          ? 'the node pauses when the groups in progress are finished\n'
          : 'the node is paused\n',
      )
    })
}

/** Adds `prove-node resume`: the end of a pause. */
export function addResumeCommand(program: Command): void {
  program
    .command('resume')
    .description('End a pause; limits still apply')
    .option('--data-dir <folder>', 'data folder of the program', dataFolder)
    .action(async ({ dataDir }: { dataDir: string }) => {
      const node = await findNode(dataDir)
      if (node !== null) await node.post(RESUME, {})
      // A pause also applies to later starts of the node.
      else if ((await readPause(dataDir)) !== null) await keepPause(dataDir, null)
      else await reachNode(dataDir)
      process.stdout.write('the pause is over\n')
    })
}

/** Adds `prove-node finish`: an end without loss. */
export function addFinishCommand(program: Command): void {
  program
    .command('finish')
    .description('Finish and deliver the groups in progress, then end the node')
    .option('--data-dir <folder>', 'data folder of the program', dataFolder)
    .action(async ({ dataDir }: { dataDir: string }) => {
      await (await reachNode(dataDir)).post(FINISH, {})
      process.stdout.write('the node ends when the groups in progress have their verdicts, or after two minutes\n')
    })
}
