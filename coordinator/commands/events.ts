import type { Command } from 'commander'
import { z } from 'zod'
import { interruptible, stopSignal } from '../../common/cli/index.js'
import { ControlError, reachControl } from '../../common/control/index.js'
import { type PublicEvent, publicEvent } from '../ledger/public-event.js'
import { LOG_END, NEW_EVENTS } from '../service/control-routes.js'
import { dataDirOf, type RunOptions, readEvents, withRunOptions } from './run-log.js'

interface EventsOptions extends RunOptions {
  readonly type?: readonly string[]
  readonly follow: boolean
  readonly new: boolean
}

export function addEventsCommand(program: Command): void {
  withRunOptions(
    program
      .command('events')
      .description('Print the log of a run as JSON lines, oldest first, without the secrets of its rounds'),
  )
    .option('--type <type...>', 'only events of these types')
    .option('--follow', 'print new events as they happen, until Ctrl-C or until the coordinator ends', false)
    .option('--new', 'follow, and omit the events that exist already', false)
    .action(events)
}

async function events(options: EventsOptions): Promise<void> {
  const dataDir = dataDirOf(options)
  const wanted = options.type && new Set(options.type)
  const write = (event: PublicEvent, line: string): void => {
    if (!wanted || wanted.has(event.type)) process.stdout.write(`${line}\n`)
  }
  if (options.follow || options.new) return follow(dataDir, options.new, write)
  await interruptible('', async (signal) => {
    for await (const event of readEvents(dataDir, signal)) {
      const shown = publicEvent(event)
      write(shown, JSON.stringify(shown))
    }
  })
}

const end = z.object({ count: z.int().min(0) })

/** Prints events until Ctrl-C, which counts as success. */
async function follow(
  dataDir: string,
  newOnly: boolean,
  write: (event: PublicEvent, line: string) => void,
): Promise<void> {
  const { signal, release } = stopSignal()
  let isFollowing = false
  try {
    const control = await reachControl(dataDir, signal)
    if (!control)
      throw new ControlError(
        'unreachable',
        `no coordinator is running on ${dataDir}, so there is nothing to follow: start it, or omit --follow and --new`,
      )
    isFollowing = true
    const from = newOnly ? end.parse(await control.get(LOG_END)).count : 0
    // The coordinator sends empty lines to keep the connection alive.
    for await (const line of control.lines(`${NEW_EVENTS}?from=${from}`))
      if (line !== '') write(JSON.parse(line) as PublicEvent, line)
  } catch (why) {
    // A coordinator closes its socket when it ends.
    const hasEnded = isFollowing && why instanceof ControlError && why.code === 'unreachable'
    if (!signal.aborted && !hasEnded) throw why
  } finally {
    release()
  }
  if (!signal.aborted) process.stderr.write('the coordinator has ended\n')
}
