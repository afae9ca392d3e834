import type { Command } from 'commander'
import { publicEvent } from '../ledger/public-event.js'
import { interruptible } from './interruptible.js'
import { dataDirOf, type RunOptions, readEvents, withRunOptions } from './run-log.js'

export function addEventsCommand(program: Command): void {
  withRunOptions(
    program
      .command('events')
      .description('The log of a run as JSON lines, oldest first, without the secrets of its rounds'),
  )
    .option('--type <type...>', 'events of these types alone')
    .action(events)
}

async function events(options: RunOptions & { type?: string[] }): Promise<void> {
  const dataDir = dataDirOf('events', options)
  const wanted = options.type && new Set(options.type)
  await interruptible('the command', async (signal) => {
    for await (const event of readEvents(dataDir, signal))
      if (!wanted || wanted.has(event.type)) process.stdout.write(`${JSON.stringify(publicEvent(event))}\n`)
  })
}
