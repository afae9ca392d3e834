import type { Command } from 'commander'
import { z } from 'zod'
import { ControlError, reachControl } from '../../common/control/index.js'
import { type PublicEvent, publicEvent } from '../ledger/public-event.js'
import { LOG_END, NEW_EVENTS } from '../service/control-routes.js'
import { interruptible } from './interruptible.js'
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
      .description('The log of a run as JSON lines, oldest first, without the secrets of its rounds'),
  )
    .option('--type <type...>', 'events of these types alone')
    .option('--follow', 'go on with those that come, until Ctrl-C or the end of the coordinator', false)
    .option('--new', 'follow, and leave out those that there are already', false)
    .action(events)
}

async function events(options: EventsOptions): Promise<void> {
  const dataDir = dataDirOf('events', options)
  const wanted = options.type && new Set(options.type)
  const write = (event: PublicEvent, line: string): void => {
    if (!wanted || wanted.has(event.type)) process.stdout.write(`${line}\n`)
  }
  if (options.follow || options.new) return follow(dataDir, options.new, write)
  await interruptible('the command', async (signal) => {
    for await (const event of readEvents(dataDir, signal)) {
      const shown = publicEvent(event)
      write(shown, JSON.stringify(shown))
    }
  })
}

const end = z.object({ count: z.int().min(0) })

/** Ctrl-C is how this ends, and no failure. */
async function follow(
  dataDir: string,
  newOnly: boolean,
  write: (event: PublicEvent, line: string) => void,
): Promise<void> {
  const stopping = new AbortController()
  const stop = (): void => stopping.abort()
  const { signal } = stopping
  let isFollowing = false
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, stop)
  try {
    const control = await reachControl(dataDir, signal)
    if (!control)
      throw new ControlError('unreachable', `no coordinator is running on ${dataDir}: there is nothing to follow`)
    isFollowing = true
    const from = newOnly ? end.parse(await control.get(LOG_END)).count : 0
    // An empty line says that the coordinator is there.
    for await (const line of control.lines(`${NEW_EVENTS}?from=${from}`))
      if (line !== '') write(JSON.parse(line) as PublicEvent, line)
  } catch (why) {
    // A coordinator that ends closes its socket.
    const hasEnded = isFollowing && why instanceof ControlError && why.code === 'unreachable'
    if (!signal.aborted && !hasEnded) throw why
  } finally {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, stop)
  }
  if (!signal.aborted) process.stderr.write('the coordinator has ended\n')
}
